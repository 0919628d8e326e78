package debugger

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// Report is what a run without a display did.
type Report struct {
	Frames        int
	Width, Height int
	// Median and Slowest are of the frames: execution up to the step, panes and text;
	// not writing files.
	Median, Slowest time.Duration
}

func (r *Report) String() string {
	return fmt.Sprintf("%d frames of %d x %d: median %.1f ms, slowest %.1f ms a frame", r.Frames, r.Width, r.Height,
		float64(r.Median.Microseconds())/1000, float64(r.Slowest.Microseconds())/1000)
}

// Headless draws the frames of a run into a folder. It draws every step from before the first pass to the
// answer. Then it moves the first constant along its number line, at the pass that compares it and at the
// answer. They are frame-000.png, frame-001.png, ..., and all of them run.gif.
func Headless(ctx context.Context, d *Demo, dir string) (*Report, error) {
	r := &recording{demo: d, dir: dir, palette: frameColors()}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.writing, ctx = errgroup.WithContext(ctx)
	r.writing.SetLimit(runtime.GOMAXPROCS(0))
	err := r.run(ctx)
	if e := r.writing.Wait(); e != nil {
		err = e // for which ctx may have ended
	}
	if err != nil {
		return nil, err
	}
	animation := filepath.Join(dir, "run.gif") // of steps for a second and a half, and of the sweep as fast as a film
	return r.report(), files.Write(animation, func(w io.Writer) error { return gif.EncodeAll(w, &r.gif) })
}

func (r *recording) run(ctx context.Context) error {
	d := r.demo
	d.point()
	for step := range d.Last() + 1 {
		d.Go(step)
		if err := r.frame(ctx); err != nil {
			return err
		}
	}
	if len(d.Constants) == 0 {
		return nil
	}
	if d.traced {
		d.work = math.MaxInt // a trace that takes longer than a frame is waited for
	} else if err := r.sweep(ctx, d.comparing()); err != nil {
		return err
	}
	return r.sweep(ctx, d.Last())
}

// clear removes the frames of a run before.
func (r *recording) clear() error {
	old, err := filepath.Glob(filepath.Join(r.dir, "frame-[0-9][0-9][0-9]*.png"))
	for _, path := range append(old, filepath.Join(r.dir, "run.gif")) {
		if e := os.Remove(path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// point puts the mouse on a record, whose values the frames then show.
func (d *Demo) point() {
	if d.traced { // the first of its pictures that there is room for is in the middle
		d.mouse = d.layout().panes[attributePane].Min.Add(image.Pt(60, 90))
		return
	}
	if d.scene.chunk != nil {
		sh := textures.ViewOf(d.scene.chunk.Rows)
		r := picture(d.layout().panes[depthPane], sh.Width, sh.Height)
		y := (sh.Rows - 1) * 9 / 10 / sh.Width
		x := min(sh.Width/4, sh.Rows-1-y*sh.Width)
		d.mouse = image.Pt(r.Min.X+(2*x+1)*r.Dx()/(2*sh.Width), r.Min.Y+(2*y+1)*r.Dy()/(2*sh.Height))
	}
}

// comparing is the step after the pass that compares the first constant's attribute.
func (d *Demo) comparing() int {
	at := slices.IndexFunc(d.scene.passes, func(p pass.Profile) bool {
		col := -1
		switch op := p.Pass.Op.(type) {
		case pass.Compare:
			col = op.Col
		case pass.Range:
			col = op.Col
		}
		return col == d.Constants[0].Col
	})
	if at < 0 {
		return d.Last()
	}
	return at + 1
}

// sweep moves the first constant, at a step.
func (r *recording) sweep(ctx context.Context, step int) error {
	d := r.demo
	d.Go(step)
	d.Choose(0)
	c := d.Constants[0]
	d.held = constantGrip
	defer func() { d.held = nothing }()
	from, _ := c.axis.span(c.Value, false)
	begin := c.Value
	for i, place := range sweepPlaces(from, d.sweep) {
		v := c.axis.at(place, false)
		if i == d.sweep-1 {
			v = begin
		}
		if !d.put(v) {
			continue
		}
		if err := r.frame(ctx); err != nil {
			return err
		}
	}
	if d.AtAnswer() && d.Answer == "" { // it waits until the constant is let go
		d.held = nothing
		return r.frame(ctx)
	}
	return nil
}

// sweepPlaces are the places of a constant on its way, by rank, in n steps. It moves from where it is down to
// the value below which a tenth of the records lie. Then it moves up to that below which nine tenths lie, and
// back.
func sweepPlaces(from float64, n int) []float64 {
	from = min(max(from, 0.1), 0.9)
	var list []float64
	for i := range n {
		way := float64(i+1) / float64(n) * 1.6 // down, up and back
		if down := from - 0.1; way <= down {
			way = from - way
		} else if up := down + 0.8; way <= up {
			way = 0.1 + way - down
		} else {
			way = 0.9 - (way - up)
		}
		list = append(list, way)
	}
	return list
}

// recording is a run on its way into files.
type recording struct {
	demo    *Demo
	dir     string
	gif     gif.GIF
	spent   []time.Duration
	palette color.Palette // of the animation
	writing *errgroup.Group
}

func (r *recording) frame(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.demo.Frame(); err != nil {
		return err
	}
	if r.demo.problem != "" {
		return errors.New(r.demo.problem)
	}
	r.spent = append(r.spent, r.demo.spent)
	path := filepath.Join(r.dir, fmt.Sprintf("frame-%03d.png", len(r.gif.Image)))
	delay := 150 // hundredths of a second
	if r.demo.held == constantGrip {
		delay = 12
	}
	shown := r.demo.view.shown
	reduced := image.NewPaletted(shown.Rect, r.palette)
	r.gif.Image, r.gif.Delay = append(r.gif.Image, reduced), append(r.gif.Delay, delay)
	save := func() error {
		shown.Reduce(reduced)
		return files.Write(path, func(w io.Writer) error { return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, shown.RGBA) })
	}
	if r.demo.gl.Caps().Software { // which draws with the cores that would write
		return save()
	}
	r.writing.Go(save)
	return nil
}

func (r *recording) report() *Report {
	sorted := slices.Sorted(slices.Values(r.spent))
	size := r.demo.size
	return &Report{Frames: len(sorted), Width: size.X, Height: size.Y, Median: sorted[len(sorted)/2], Slowest: sorted[len(sorted)-1]}
}
