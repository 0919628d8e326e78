package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/demos/debugger"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/trace"
)

// demoSQL is what the demo shows unless it is given a statement.
const demoSQL = "SELECT COUNT(*) FROM flights WHERE delay > 15 AND (distance < 700 OR delay > 120)"

// demoFlags are those of the demo beside the common ones.
type demoFlags struct {
	common
	headless bool
	out      string
	size     string
	most     int
}

func newDemo() *cobra.Command {
	o := demoFlags{common: common{text: sqlText{fallback: demoSQL}}}
	c := &cobra.Command{
		Use:   "demo [flags] ['SQL']",
		Short: "Step through a statement in a window: textures, depth, stencil and result",
		Long: `Opens a window that steps through a statement. On backend classic there are panes for the
attribute texture, the depth buffer, the stencil buffer and the records that pass;
the list of passes, the pipeline state of the one at hand, and what has been counted
so far; the depth buffer as a height field with the quad cutting through it. Pointing
at a texel shows its record. Dragging a number line changes a constant of the
statement, and the selection with it; on the line a value has as much room as there
are records that have it (key l: as its size says). A table of several chunks has the
passes of each; page up and page down go to the same pass of another chunk.

The backend is classic unless another one is named or classic cannot do the statement:
then it is fused or compute, and a note says which. Of these two, and of auto, the panes
are the pictures of stencildb trace: what a pass reads and leaves, bit planes, bitmaps,
the records that pass, with what it counts and decides. Over a large table they follow
a constant once it is let go.

With --headless the same frames are written to a folder, as frame-000.png, ..., and
as an animation, run.gif: every step, then the first constant on its way along its
number line. Files of these names that are in the folder, from a run before, are
removed. What a frame took is said on standard error.

A window needs a build with windows: go build -tags egl,window.` + commonHelp,
		Example: `  stencildb demo
  stencildb demo 'SELECT MEDIAN(delay) FROM flights WHERE distance > 1000'
  stencildb demo --headless --out frames --size 1600x1000`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("%d arguments: give one statement, in quotes", len(args))
			case len(args) == 1 && strings.TrimSpace(args[0]) == "":
				return errors.New("no SQL: give a statement in quotes, a lesson, or neither for the demo's own statement")
			case len(args) == 1 && !strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n"):
				return notALesson(c, args[0])
			}
			return nil
		},
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		w, h, err := o.check()
		if err != nil {
			return err
		}
		text, err := o.text.read(c, args)
		if err != nil {
			return err
		}
		if len(args) == 0 && o.text.file == "" {
			if err := o.checkFlights(); err != nil {
				return err
			}
		}
		if c.Flags().Changed("backend") {
			return o.run(c, text, w, h, "")
		}
		return o.first(c, text, w, h)
	})
	o.register(c, "classic")
	f := c.Flags()
	f.BoolVar(&o.headless, "headless", false, "write the frames to the folder of --out instead of opening a window")
	f.StringVar(&o.out, "out", "", "`FOLDER` for the frames of --headless; it is made where it is missing")
	f.StringVar(&o.size, "size", fmt.Sprintf("%dx%d", debugger.DefaultWidth, debugger.DefaultHeight), "size of the window or the frames in pixels, `WxH`")
	f.IntVar(&o.most, "max-passes", trace.DefaultMaxPasses, "the most passes that the statement may have")
	c.SetFlagErrorFunc(demoFlagError)
	for _, l := range lessons.All() {
		c.AddCommand(newLesson(l))
	}
	return c
}

func (o *demoFlags) check() (w, h int, err error) {
	var rest string
	n, _ := fmt.Sscanf(o.size, "%dx%d%s", &w, &h, &rest)
	const most = 4096
	switch {
	case n != 2:
		return 0, 0, usagef("--size %s: give width and height in pixels, such as %dx%d", o.size, debugger.DefaultWidth, debugger.DefaultHeight)
	case w < debugger.MinWidth || h < debugger.MinHeight:
		return 0, 0, usagef("--size %s is too small for the panes: give %dx%d or more", o.size, debugger.MinWidth, debugger.MinHeight)
	case w > most || h > most:
		return 0, 0, usagef("--size %s: give at most %dx%d", o.size, most, most)
	case o.most < 1:
		return 0, 0, usagef("--max-passes %d: a statement has 1 pass or more", o.most)
	case o.options.Backend == "cpu":
		return 0, 0, usagef("--backend cpu: it runs no passes to look at: take classic, fused or compute")
	case o.headless && o.out == "":
		return 0, 0, usagef("--headless: give the folder for the frames with --out FOLDER")
	case !o.headless && o.out != "":
		return 0, 0, usagef("--out %s: frames are written with --headless", o.out)
	}
	return w, h, nil
}

// checkFlights reports that the tables of --load lack the flights of demoSQL.
func (o *demoFlags) checkFlights() error {
	sources, err := o.sources()
	if err != nil || len(sources) == 0 {
		return err
	}
	for _, s := range sources {
		if strings.EqualFold(s.name, flights.name) {
			return nil
		}
	}
	return usagef("--load without SQL: the demo's own statement is about flights; give one about the table, such as 'SELECT COUNT(*) FROM %s WHERE COLUMN > 10'", expr.Ident(sources[0].name))
}

// first runs on the first backend that can do the statement, and says so where it is not classic.
func (o *demoFlags) first(c *cobra.Command, text string, w, h int) error {
	declined := o.run(c, text, w, h, "")
	for _, o.options.Backend = range []string{"fused", "compute"} {
		if !errors.Is(declined, engine.ErrUnsupported) {
			return declined
		}
		err := o.run(c, text, w, h, "classic")
		if err == nil || !errors.Is(err, engine.ErrUnsupported) {
			return err
		}
	}
	return declined
}

// run shows a statement in a window, or draws its frames into a folder. instead is the backend
// that cannot do it, "" where none was tried.
func (o *demoFlags) run(c *cobra.Command, text string, w, h int, instead string) (err error) {
	tidy, err := outFolder("--out", o.out)
	if err != nil {
		return err
	}
	defer tidy()
	if o.headless {
		unlock, err := lockFolder(o.out)
		if err != nil {
			return err
		}
		defer unlock()
	}
	gpu, err := o.openContext(w, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	return o.withOrdered(c, func(ctx context.Context, db *engine.DB, order func(*table.Table) string) (err error) {
		d, err := debugger.Open(ctx, gpu, db, debugger.Options{SQL: text, MaxPasses: o.most, Order: order, Instead: instead})
		if err != nil {
			return err
		}
		if instead != "" {
			note(c.ErrOrStderr(), fmt.Sprintf("backend %s cannot do this statement: these are the passes of %s", instead, db.Backend()))
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		d.Resize(w, h)
		if !o.headless {
			d.Toggle()
			return debugger.Window(ctx, d)
		}
		r, err := debugger.Headless(ctx, d, o.out)
		if err == nil {
			fmt.Fprintf(c.ErrOrStderr(), "%v on %s, in %s\n", r, gpu.Caps().Renderer, o.out)
		}
		return err
	})
}

// openContext opens a context with a window, or without a display.
func (o *demoFlags) openContext(w, h int) (*glctx.Context, error) {
	if o.headless {
		return glctx.Open(o.context())
	}
	gpu, err := glctx.OpenWindow(glctx.WindowOptions{Options: o.context(), Title: "stencildb demo", Width: w, Height: h, VSync: true})
	if err != nil {
		return nil, fmt.Errorf("%w, or write the frames without a display: stencildb demo --headless --out FOLDER", err)
	}
	return gpu, nil
}
