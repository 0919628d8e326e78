package lesson

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Stage is what a lesson's program runs on. After the first error its methods do
// nothing; see the package's caveats.
type Stage struct {
	Runner  *pass.GL
	Context *glctx.Context
	Table   *table.Table       // the flights, in the order of [Flights]
	Target  textures.TargetRef // a depth-stencil buffer over their texels

	lesson  *Lesson
	options Options
	err     error
}

// Fail makes the lesson fail with an error; nil is none.
func (s *Stage) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// try does something that may fail, unless something has failed before.
func (s *Stage) try(f func() error) {
	if s.err == nil {
		s.err = f()
	}
}

// attempt is try for what gives a value, which is the zero value after a failure.
func attempt[T any](s *Stage, f func() (T, error)) (v T) {
	s.try(func() (err error) {
		v, err = f()
		return err
	})
	return v
}

// Device names the OpenGL device.
func (s *Stage) Device() string { return s.Context.Caps().Renderer }

const lineWidth = 92

// Say writes a paragraph, after an empty line.
func (s *Stage) Say(format string, args ...any) {
	s.write("\n" + wrapped(fmt.Sprintf(format, args...)) + "\n")
}

func wrapped(text string) string {
	return strings.Join(draw.Wrap(text, func(line string) bool { return len(line) <= lineWidth }), "\n")
}

// Row writes one line as it is, indented.
func (s *Stage) Row(format string, args ...any) { s.write("  " + fmt.Sprintf(format, args...) + "\n") }

func (s *Stage) write(text string) {
	if s.options.Out != nil {
		s.try(func() error {
			_, err := s.options.Out.Write([]byte(text))
			return err
		})
	}
}

// Start runs a pass and returns its count while the device may still be at work.
func (s *Stage) Start(p *pass.Pass) pass.Count {
	if c := attempt(s, func() (pass.Count, error) { return s.Runner.Run(p) }); c != nil {
		return c
	}
	return pass.Known(0)
}

// Wait returns a count, when it is there.
func (s *Stage) Wait(c pass.Count) uint64 { return attempt(s, c.Wait) }

// Run runs a pass and returns how many samples it counted, 0 if it does not count.
func (s *Stage) Run(p *pass.Pass) uint64 { return s.Wait(s.Start(p)) }

// Show is Run that writes what the pass is.
func (s *Stage) Show(p *pass.Pass) uint64 {
	n := s.Run(p)
	s.Describe(p)
	if p.Count {
		s.Row("      = %s", numbers.Grouped(n))
	}
	return n
}

// Describe writes what a pass is, a line for each piece of state.
func (s *Stage) Describe(p *pass.Pass) {
	s.Row("pass  %v", p)
	for _, state := range p.State() {
		s.Row("      %s", state)
	}
}

// CopyToDepth copies an attribute of one limb to the depth buffer (lesson 2).
func (s *Stage) CopyToDepth(c Column) {
	e := predicates.New(s.Runner, s.device(), s.Table, 0, s.Target.Format, s.Target.Slot, predicates.NewSlots())
	s.try(func() error {
		e.CopyToDepth(c.Index, 0, textures.NullLimb)
		return e.Err()
	})
}

// Compare is the pass of `column op value` over the column in the depth buffer (lesson 3): a
// quad at the value's depth, which counts.
func (s *Stage) Compare(c Column, op string, value int64) *pass.Pass {
	f := map[string]pass.Func{"<": pass.Greater, "<=": pass.GEqual, ">=": pass.LEqual, ">": pass.Less}[op]
	return &pass.Pass{Op: pass.Compare{Text: fmt.Sprintf("%s %s %d", c.Name, op, value)}, Target: s.Target,
		Quad: c.Depth(value), Depth: pass.Depth{Test: true, Func: f}, Count: true}
}

// Mark copies an attribute to depth and sets the stencil value 1 where `column op value`, 0
// elsewhere (lesson 6). It returns how many records are marked.
func (s *Stage) Mark(c Column, op string, value int64) uint64 {
	s.CopyToDepth(c)
	p := s.Compare(c, op, value)
	p.Clear = &pass.Clear{Mask: 0xff}
	p.Stencil = pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}
	return s.Run(p)
}

// Marked is the stencil test that marked records pass.
var Marked = pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff}

func (s *Stage) device() predicates.Limits { return predicates.LimitsOf(s.Context.Caps()) }

// Depth reads the depth buffer back: a depth, 0..1, for each record.
func (s *Stage) Depth() []float32 {
	if t := s.target(); t != nil {
		return t.Depth()
	}
	return make([]float32, s.Table.Rows())
}

// Stencil reads the stencil buffer back: a value for each record.
func (s *Stage) Stencil() []uint8 {
	if t := s.target(); t != nil {
		return t.Stencil()
	}
	return make([]uint8, s.Table.Rows())
}

func (s *Stage) target() *textures.Target {
	return attempt(s, func() (*textures.Target, error) { return s.Runner.Store().Target(s.Target) })
}

// Texels reads a texture back: its channels, record by record.
func (s *Stage) Texels(ref textures.Ref) []float32 {
	if v := attempt(s, func() ([]float32, error) { return s.Runner.Store().Read(ref) }); v != nil {
		return v
	}
	return make([]float32, 4*s.Table.Rows())
}

// Query runs a SELECT as backend classic does, and returns its passes with what each
// left behind, and the first value of the answer.
func (s *Stage) Query(text string) (steps []Step, first table.Value) {
	s.try(func() error {
		q, err := sql.Plan(s.Table, text)
		if err != nil {
			return err
		}
		run := &Steps{GL: s.Runner}
		values, err := aggregates.Run(run, s.device(), q)
		if err == nil {
			steps, first = run.List, values[0]
		}
		return err
	})
	return steps, first
}

// Agree compares a number with what a SELECT gives on backend cpu, and says so; two
// different numbers make the lesson fail.
func (s *Stage) Agree(n uint64, text string) {
	s.try(func() error {
		want, err := SQL(context.Background(), text)
		if err == nil && want.Cmp(new(big.Int).SetUint64(n)) != 0 {
			err = fmt.Errorf("the passes give %d, but %s is %v on backend cpu", n, text, want)
		}
		return err
	})
	s.Row("check %s = %s on backend cpu: the same", text, numbers.Grouped(n))
}

// Program writes the GLSL of a pass, its last file.
func (s *Stage) Program(p *pass.Pass) {
	text := p.Program.Text
	text = text[strings.LastIndex(text, "#line"):]
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		s.Row("| %s", line)
	}
}

// Backend runs SELECTs of one whole number each over the flights on a backend of
// package engine.
func (s *Stage) Backend(name string, texts ...string) []Answer {
	out := make([]Answer, len(texts))
	s.try(func() (err error) {
		db, err := engine.Open(engine.Options{Backend: name, Device: s.options.Device})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if err := db.Add(s.Table); err != nil {
			return err
		}
		for i, text := range texts {
			var list []time.Duration
			for range runs + 1 {
				r, err := engine.Collect(db.Query(context.Background(), text))
				if err != nil {
					return err
				}
				out[i].N, out[i].Passes = r.Rows[0][0].Unscaled().Uint64(), r.Passes
				list = append(list, r.Elapsed)
			}
			out[i].Took = median(list[1:])
		}
		return nil
	})
	return out
}

// Answer is what a backend says to a SELECT of one number that is not negative.
type Answer struct {
	N      uint64
	Passes int
	Took   time.Duration // median
}

// runs is how often something is run to measure it.
const runs = 5

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// Timing is the wall time of a few runs.
type Timing struct{ Median, Least, Most time.Duration }

func (t Timing) String() string {
	return fmt.Sprintf("%s (%s to %s)", Milliseconds(t.Median), Milliseconds(t.Least), Milliseconds(t.Most))
}

// Times measures a few runs of each of some functions, in turns, so that other work of the machine affects
// all of them. Before that, each runs once to upload and compile.
func (s *Stage) Times(of ...func()) []Timing {
	lists := make([][]time.Duration, len(of))
	for run := range runs + 1 {
		for i, f := range of {
			start := time.Now()
			f()
			if run > 0 {
				lists[i] = append(lists[i], time.Since(start))
			}
		}
	}
	out := make([]Timing, len(of))
	for i, list := range lists {
		out[i] = Timing{median(list), slices.Min(list), slices.Max(list)}
	}
	return out
}

// Milliseconds writes a duration.
func Milliseconds(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }

// Picture makes a picture NAME-word.png, where pictures are wanted.
func (s *Stage) Picture(word string, sheet *draw.Sheet) {
	if s.options.Picture == nil {
		return
	}
	s.try(func() error {
		img, err := sheet.Image()
		if err != nil {
			return err
		}
		return s.options.Picture(s.lesson.Name+"-"+word+".png", img)
	})
}

// Column is an attribute of the flights.
type Column struct {
	Name    string
	Index   int
	Texture textures.Ref // its codes, a channel a limb
	Segment *table.Segment
}

// Column returns the attribute of a name.
func (s *Stage) Column(name string) Column {
	i := slices.IndexFunc(s.Table.Fields, func(f table.Field) bool { return f.Name == name })
	if i < 0 {
		s.Fail(fmt.Errorf("flights have no column %s", name))
		i = 0
	}
	c := s.Table.Chunks[0]
	return Column{name, i, textures.Attribute(c, i), c.Segments[i]}
}

// Min returns the smallest value of an integer attribute, whose code is 0.
func (c Column) Min() int64 { return table.IntFromOrdinal(c.Segment.Base) }

// Code returns the code of a value, value - Min.
func (c Column) Code(value int64) uint64 { return uint64(value - c.Min()) }

// Depth returns the depth of a value, code / 2^24.
func (c Column) Depth(value int64) float32 { return DepthOf(c.Code(value)) }

// DepthOf returns the depth of a code.
func DepthOf(code uint64) float32 { return float32(code) / (1 << textures.LimbBits) }

// CodeOf returns the code of a depth. A depth buffer of 24 bits has steps of 1 / (2^24 - 1). So a depth that
// is read back is the step next to the one written.
func CodeOf(depth float32) uint64 {
	return uint64(math.Round(float64(depth) * (1 << textures.LimbBits)))
}

// Codes returns the codes of all records.
func (c Column) Codes() []uint64 {
	v := make([]uint64, c.Segment.Rows())
	for i := range v {
		v[i] = c.Segment.Codes.At(i)
	}
	return v
}
