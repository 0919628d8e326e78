package lesson

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/big"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Lesson is one lesson: a page, a program that shows its subject on real data, and
// exercises.
type Lesson struct {
	Number int
	Name   string // of the command `stencildb demo NAME`, the folder and the page
	Title  string
	// Run is the program.
	Run func(s *Stage)
	// Trace is that of the lesson's query.
	Trace Trace
	// Exercises are those on its page. The answer to the last one is a SELECT.
	Exercises []Exercise
	// Solve finds the answer to the last exercise with passes.
	Solve func(s *Stage) uint64
}

// Trace is a page with the passes of a statement, docs/traces/NAME.html.
type Trace struct{ Name, Backend, SQL string }

// Options says how a lesson is played.
type Options struct {
	Device string    // as glctx.Options.Device
	Out    io.Writer // gets what the lesson says; nil for nothing
	// Picture gets the lesson's pictures with their names, "predicate-test.png"; nil for
	// none.
	Picture func(name string, img image.Image) error
}

// Play runs the lesson's program.
func (l *Lesson) Play(o Options) error {
	return l.on(o, func(s *Stage) {
		s.Say("Lesson %d: %s", l.Number, l.Title)
		l.Run(s)
	})
}

// Solution solves the last exercise with passes.
func (l *Lesson) Solution(o Options) (n uint64, err error) {
	err = l.on(o, func(s *Stage) { n = l.Solve(s) })
	return n, err
}

// on opens a stage over every flight.
func (l *Lesson) on(o Options, f func(s *Stage)) error {
	t, err := all()
	if err != nil {
		return err
	}
	err = On(t, o, func(s *Stage) {
		s.lesson = l
		f(s)
	})
	if err != nil {
		return fmt.Errorf("lesson %s: %w", l.Name, err)
	}
	return nil
}

// On opens a stage over a table of one chunk for f.
func On(t *table.Table, o Options, f func(s *Stage)) error {
	d, err := devicepool.Open(glctx.Options{Device: o.Device})
	if err != nil {
		return err
	}
	err = d.Context.Do(context.Background(), func() error {
		defer d.GL.End()
		s := &Stage{Runner: d.GL, Context: d.Context, Table: t, options: o}
		s.Target = textures.TargetRef{Shape: textures.ShapeOf(t.Rows()), Format: textures.D24S8}
		f(s)
		return errors.Join(s.err, d.Context.Check("a lesson's passes"))
	})
	return errors.Join(err, d.Close())
}

// SQL returns the one whole number that a SELECT over the flights gives on backend
// cpu.
func SQL(ctx context.Context, text string) (n *big.Int, err error) {
	t, err := Load()
	if err != nil {
		return nil, err
	}
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Add(t); err != nil {
		return nil, err
	}
	r, err := engine.Collect(db.Query(ctx, text))
	if err != nil {
		return nil, err
	}
	if len(r.Rows) != 1 || len(r.Rows[0]) != 1 || r.Rows[0][0].Null || !r.Columns[0].Type.IsExact() {
		return nil, fmt.Errorf("lesson: %s gives no whole number", text)
	}
	return r.Rows[0][0].Unscaled(), nil
}
