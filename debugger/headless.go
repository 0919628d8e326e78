package debugger

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stencildb/stencildb/textures"
)

// Report is what a run without a display did.
type Report struct {
	Frames        int
	Width, Height int
	// Median and Slowest are of the frames: execution up to the step, panes and text,
	// waited for; not reading back and not writing files.
	Median, Slowest time.Duration
}

func (r *Report) String() string {
	return fmt.Sprintf("%d frames of %d x %d: median %.1f ms, slowest %.1f ms a frame", r.Frames, r.Width, r.Height,
		float64(r.Median.Microseconds())/1000, float64(r.Slowest.Microseconds())/1000)
}

// Headless draws the frames of a run into a folder: every step from before the first
// pass to the answer, then the first constant on its way along its number line, at the
// pass that compares it and at the answer. They are frame-000.png, frame-001.png, ..., and all of them run.gif.
func Headless(ctx context.Context, d *Demo, dir string) (*Report, error) {
	r := &recording{demo: d, dir: dir, reducer: reducer{colors: animationColors()}}
	if err := r.clear(); err != nil {
		return nil, err
	}
	d.point()
	for step := range d.Last() + 1 {
		d.Go(step)
		if err := r.frame(ctx); err != nil {
			return nil, err
		}
	}
	if len(d.Constants) > 0 {
		for _, step := range []int{d.comparing(), d.Last()} {
			if err := r.sweep(ctx, step); err != nil {
				return nil, err
			}
		}
	}
	return r.report(), r.animate()
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
	if d.scene.chunk != nil {
		sh := textures.ShapeOf(d.scene.chunk.Rows)
		r := picture(d.layout().panes[depthPane], sh.Width, sh.Height)
		d.mouse = image.Pt(r.Min.X+r.Dx()/4, r.Min.Y+r.Dy()*9/10)
	}
}

// comparing is the step after the pass that compares the first constant's attribute.
func (d *Demo) comparing() int {
	for i, s := range d.scene.seen {
		if s.Column == d.Constants[0].Col && comparesDepth(s.Pass) {
			return i + 1
		}
	}
	return d.Last()
}

// sweep moves the first constant, at a step.
func (r *recording) sweep(ctx context.Context, step int) error {
	d := r.demo
	d.Go(step)
	d.Choose(0)
	c := d.Constants[0]
	d.held = constantGrip
	defer func() { d.held = nothing }()
	for _, place := range sweepPlaces(c.axis.place(c.Value), d.histograms[c.Col], d.sweep) {
		if !d.Set(place) {
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

// sweepPlaces are the places of a constant on its way: from where it is down to the
// value below which a tenth of the records lie, up to that below which nine tenths
// lie, and back, in n steps of about as many records.
func sweepPlaces(from float64, histogram []float32, n int) []float64 {
	var below []float64 // the share of records before each bar
	all := 0.0
	for _, count := range histogram {
		below = append(below, all)
		all += float64(count)
	}
	at := func(share float64) float64 {
		i, _ := slices.BinarySearch(below, share*all)
		i = max(i-1, 0)
		within := (share*all - below[i]) / max(float64(histogram[i]), 1e-9)
		return (float64(i) + min(within, 1)) / float64(len(below)-1)
	}
	start := min(int(from*float64(len(below)-1)), len(below)-1)
	share := min(max(below[start]/max(all, 1), 0.1), 0.9)
	var list []float64
	for i := range n - 1 {
		way := float64(i+1) / float64(n) * 1.6 // down, up and back
		if down := share - 0.1; way <= down {
			way = share - way
		} else if up := down + 0.8; way <= up {
			way = 0.1 + way - down
		} else {
			way = 0.9 - (way - up)
		}
		list = append(list, at(way))
	}
	return append(list, from)
}

// recording is a run on its way into files.
type recording struct {
	demo *Demo
	dir  string
	reducer
	gif   gif.GIF
	spent []time.Duration
}

// frame draws a frame and writes it.
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
	img, err := r.demo.Image()
	if err != nil {
		return err
	}
	r.spent = append(r.spent, r.demo.Spent())
	path := filepath.Join(r.dir, fmt.Sprintf("frame-%03d.png", len(r.gif.Image)))
	delay := 150 // hundredths of a second
	if r.demo.held == constantGrip {
		delay = 12
	}
	r.gif.Image, r.gif.Delay = append(r.gif.Image, r.reduce(img)), append(r.gif.Delay, delay)
	return write(path, func(f *os.File) error { return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, img) })
}

// write makes a file; one that could not be written whole is removed.
func write(path string, content func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err = errors.Join(content(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func (r *recording) report() *Report {
	sorted := slices.Sorted(slices.Values(r.spent))
	size := r.demo.size
	return &Report{Frames: len(sorted), Width: size.X, Height: size.Y, Median: sorted[len(sorted)/2], Slowest: sorted[len(sorted)-1]}
}

// animate writes the frames as one animation: steps for a second and a half, the
// sweep as fast as a film.
func (r *recording) animate() error {
	return write(filepath.Join(r.dir, "run.gif"), func(f *os.File) error { return gif.EncodeAll(f, &r.gif) })
}

// animationColors are the colours of frames as near as 256 come: the ramps of the
// palette, the shares of the result, and those of text with what lies between them and
// the paper.
func animationColors() color.Palette {
	var p color.Palette
	texels := palette()
	for line, n := range map[int]int{codeLine: 64, depthLine: 48, passLine: 48} {
		for i := range n {
			at := 4 * (256*line + i*255/(n-1))
			p = append(p, color.RGBA{texels[at], texels[at+1], texels[at+2], 255})
		}
	}
	between := func(a, b color.RGBA, n int) {
		for i := range n {
			mix := func(x, y uint8) uint8 { return uint8(int(x) + (int(y)-int(x))*i/(n-1)) }
			p = append(p, color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255})
		}
	}
	between(unchosen, selected, 20)
	between(paper, highlight, 12)
	between(paper, selected, 6)
	for _, c := range append(stencilColors, ink, faint, hair, ground, marked) {
		p = append(p, c)
	}
	// The quad before the height field.
	between(color.RGBA{0x6a, 0x38, 0x13, 255}, color.RGBA{0xe8, 0xb0, 0x83, 255}, 12)
	between(color.RGBA{0x60, 0x60, 0x30, 255}, color.RGBA{0x98, 0xa8, 0x60, 255}, 12)
	return p
}

// reducer draws frames in a palette. near keeps which colour is nearest, for colours of
// six bits a channel; one more than its place, 0 where that is not known yet.
type reducer struct {
	colors color.Palette
	near   [1 << 18]uint16
}

func (r *reducer) reduce(img *image.RGBA) *image.Paletted {
	out := image.NewPaletted(img.Rect, r.colors)
	for i := range out.Pix {
		p := img.Pix[4*i : 4*i+3 : 4*i+3]
		key := int(p[0]>>2)<<12 | int(p[1]>>2)<<6 | int(p[2]>>2)
		if r.near[key] == 0 {
			r.near[key] = uint16(r.colors.Index(color.RGBA{p[0], p[1], p[2], 255})) + 1
		}
		out.Pix[i] = uint8(r.near[key] - 1)
	}
	return out
}
