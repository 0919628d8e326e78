package debugger

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/trace"
)

// Options says what to show.
type Options struct {
	SQL       string
	MaxPasses int // that the statement may have; 0: [trace.DefaultMaxPasses]
	// Order, when set, says in words how the records of the table lie that the passes read; "" where that says nothing.
	Order   func(*table.Table) string
	Instead string // a backend that cannot do the statement, for which that of the DB stands in; "" for none
}

// Demo is a statement under the debugger. It belongs to one goroutine.
type Demo struct {
	*Model
	ctx     context.Context
	gl      *glctx.Context
	db      *engine.DB
	options Options

	view    *view
	scene   *scene
	stage   *engine.Stage
	at      moment // that the scene is of
	problem string // why there is no scene
	traced  bool   // the scene is a trace: the device's own pictures are those of backend classic
	found   *trace.Trace
	foundOf string // the statement whose findings they are

	axes map[int]*axis

	size  image.Point // of the frames
	scale float64     // pixels of the window to one of a frame
	mouse image.Point
	held  grip
	finds bool          // there is a place for what searches and sums find
	sweep int           // frames that a constant takes along its number line
	work  int           // records times passes from which on a statement is slow
	spent time.Duration // by the last frame
}

// grip is what the mouse holds.
type grip int

const (
	nothing grip = iota
	constantGrip
	fieldGrip
)

// Open puts a statement under the debugger. db has not run any yet:
// from now on it computes on the context gl. A statement without passes, or of more than there may be, is an error.
func Open(ctx context.Context, gl *glctx.Context, db *engine.DB, o Options) (*Demo, error) {
	if o.MaxPasses == 0 {
		o.MaxPasses = trace.DefaultMaxPasses
	}
	d := &Demo{Model: newModel(o.SQL), ctx: ctx, gl: gl, db: db, options: o, axes: map[int]*axis{}, traced: db.Backend() != "classic",
		sweep: 20, work: slowWork, size: image.Pt(DefaultWidth, DefaultHeight), scale: 1, mouse: image.Pt(-1, -1)}
	if d.traced {
		d.work = traceWork
	}
	engine.Inspect(db).RunOn(gl)
	if err := d.survey(); err != nil {
		return nil, err
	}
	if len(d.Passes) == 0 {
		return nil, errors.New("debugger: the statement is answered without a pass, so that there is nothing to see: compare an attribute with a constant that some of its values reach and others do not")
	}
	err := gl.Do(context.Background(), func() (err error) {
		return d.stage.Runner.Lend(func() (err error) {
			if d.view, err = newView(gl); err != nil {
				return err
			}
			if d.traced {
				return nil
			}
			return d.view.prepare(d.scene, d.stage.Runner.Programs())
		})
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close gives back what the debugger has on the device.
func (d *Demo) Close() error {
	return d.gl.Do(context.Background(), func() error {
		if d.view != nil {
			d.view.close()
			d.view = nil
		}
		return nil
	})
}

// survey executes the whole statement, to know its passes.
func (d *Demo) survey() error {
	return d.execute(moment{text: d.SQL, step: len(d.Passes), end: true, most: d.options.MaxPasses})
}

// execute takes the statement to a moment and shows it.
func (d *Demo) execute(m moment) error {
	take := observe
	if d.traced {
		take = traced
	}
	s, stage, err := take(d.ctx, d.db, m)
	if err == nil {
		d.take(m, s, stage)
	}
	return err
}

func (d *Demo) take(m moment, s *scene, stage *engine.Stage) {
	m.after = nil
	if m.end && s.selection { // which does not depend on how many passes were expected
		m.step = len(s.passes)
	}
	d.at, d.scene, d.stage, d.problem = m, s, stage, ""
	ahead := s.ahead
	if d.foundOf == d.SQL { // more is known of them: what they were
		ahead = nil
	}
	d.update(s.passes, ahead, s.ended)
	switch {
	case s.answer == nil:
	case len(s.answer.Rows) != 1:
		d.Answer = numbers.Count(len(s.answer.Rows), "row", "rows")
	default:
		var list []string
		for i, c := range s.answer.Columns {
			list = append(list, c.Name+" = "+s.answer.Rows[0][i].String())
		}
		d.Answer = strings.Join(list, ", ")
	}
	d.Constants = constants(d.SQL, s.plan, d.axis)
	d.Active = min(d.Active, max(len(d.Constants)-1, 0))
	// The share of each bit in a sum takes a look at every record on the host.
	dragged := !d.traced && d.found != nil && len(d.found.Sums) > 0 && d.held == constantGrip
	if s.answer != nil && d.foundOf != d.SQL && !dragged {
		d.found, d.foundOf = s.found(), d.SQL
		for _, found := range d.found.Searches {
			d.axis(found.Attribute()) // which takes longer than a frame
		}
	}
}

func (d *Demo) axis(col int) *axis {
	a, ok := d.axes[col]
	if !ok {
		a = newAxis(d.scene.plan.Table, col)
		d.axes[col] = a
	}
	return a
}

// observe takes the statement to the model's step, where it is not there already.
func (d *Demo) observe() error {
	if d.traced {
		if d.scene == nil || d.Answer == "" && !(d.held == constantGrip && d.slow()) {
			if err := d.survey(); err != nil {
				return err
			}
		}
		d.turn()
		return nil
	}
	if d.foundOf != d.SQL && d.held != constantGrip {
		if err := d.survey(); err != nil {
			return err
		}
	}
	m := moment{text: d.SQL, step: d.Step, end: d.AtAnswer(), most: d.options.MaxPasses}
	if m.end {
		m.step = len(d.Passes)
	}
	if n := d.selecting(); m.end && d.held == constantGrip && n > 0 && d.slow() {
		m.step, m.end = n, false
	}
	if d.scene != nil && d.at == m {
		return nil
	}
	if d.at.text == m.text && !d.at.end {
		m.after = d.scene
	}
	return d.execute(m)
}

// slowWork is how many records times passes software executes within half of a frame
// of 66 ms.
const slowWork = 12 << 20

// traceWork is that of a trace, whose pictures the host makes whatever the device.
const traceWork = 2 << 20

// slow reports whether the whole statement takes too long to follow the mouse. Then the answer, and all of a
// trace, waits until the constant is let go.
func (d *Demo) slow() bool {
	return (d.traced || d.gl.Caps().Software) && d.scene != nil && d.scene.plan.Table.Rows()*len(d.Passes) > d.work
}

// selecting returns how many passes select the records, up to the one that counts them. Passes that search a
// value or add up follow. It is 0 where there are none.
func (d *Demo) selecting() int {
	if d.found == nil {
		return 0
	}
	for i, p := range d.found.Passes {
		if p.Search < 0 && p.Sum < 0 {
			continue
		}
		for i = min(i, len(d.Passes)); i > 0 && !d.Passes[i-1].Pass.Count; i-- {
		}
		return i
	}
	return 0
}

// Resize sets the size of the frames that follow, in pixels.
func (d *Demo) Resize(w, h int) { d.size, d.scale = image.Pt(w, h), 1 }

// ResizeTo sets the size of the frames that follow, for a window of so many pixels. On a desktop whose text
// is scale times as large as usual a frame has fewer pixels, where it still fits.
func (d *Demo) ResizeTo(w, h int, scale float64) {
	scale = max(1, min(scale, float64(w)/MinWidth, float64(h)/MinHeight))
	d.Resize(int(float64(w)/scale), int(float64(h)/scale))
	d.scale = scale
}

// Frame takes the statement to where the model is, draws it, and waits for the device.
// What the statement itself does wrong is written in the frame.
func (d *Demo) Frame() error {
	start := time.Now()
	if fits(d.size.X, d.size.Y) {
		if err := d.observe(); err != nil {
			if d.ctx.Err() != nil || errors.Is(err, glctx.ErrFault) {
				return err
			}
			d.problem, d.scene, d.Running = err.Error(), nil, false
		}
	}
	err := d.gl.Do(context.Background(), func() error {
		defer d.gl.Finish()
		return d.stage.Runner.Lend(func() error { return d.view.draw(d) })
	})
	d.spent = time.Since(start)
	return err
}

func (d *Demo) layout() layout {
	if d.held != constantGrip { // which would slip away under the mouse
		d.finds = len(d.found.Searches)+len(d.found.Sums) > 0
	}
	return newLayout(d.size.X, d.size.Y, len(d.Constants), d.finds)
}

// Handle changes the model as a person wants, and reports whether that is to leave.
func (d *Demo) Handle(e glctx.Event) (leave bool) {
	at := image.Pt(int(e.X/d.scale), int(e.Y/d.scale))
	switch e.Kind {
	case glctx.KeyPressed:
		return d.key(e)
	case glctx.MousePressed:
		d.mouse = at
		if e.Button == 0 {
			d.press(at)
		}
	case glctx.MouseReleased:
		if e.Button == 0 {
			d.held = nothing
		}
	case glctx.MouseMoved:
		d.drag(at)
	case glctx.MouseScrolled:
		d.scroll(e.Y)
	}
	return false
}

func (d *Demo) key(e glctx.Event) (leave bool) {
	steps := 1.0
	if e.Shift {
		steps = 10
	}
	switch e.Key {
	case "escape", "q":
		return true
	case "space":
		d.Toggle()
	case "right", "enter":
		d.halt(d.Step + 1)
	case "left", "backspace":
		d.halt(d.Step - 1)
	case "home", "r":
		d.halt(0)
	case "end":
		d.halt(d.Last())
	case "pagedown":
		d.page(1)
	case "pageup":
		d.page(-1)
	case "+", "=":
		d.Faster(2)
	case "-":
		d.Faster(0.5)
	case "up":
		d.Nudge(steps)
	case "down":
		d.Nudge(-steps)
	case "tab":
		by := 1
		if e.Shift {
			by = -1
		}
		d.Choose(d.Active + by)
	case "l":
		d.Linear = !d.Linear
	case "a":
		d.nextAttribute()
	}
	return false
}

// nextAttribute shows the next of the statement's attributes, then again that of the
// pass.
func (d *Demo) nextAttribute() {
	if d.scene == nil {
		return
	}
	used := d.scene.plan.Reads()
	next := slices.Index(used, d.Attribute) + 1
	d.Attribute = -1
	if next < len(used) {
		d.Attribute = used[next]
	}
}

func (d *Demo) press(at image.Point) {
	l := d.layout()
	for i, r := range l.lines {
		if at.In(r) {
			d.Choose(d.firstLine() + i)
			d.held = constantGrip
			d.slide(at)
			return
		}
	}
	switch {
	case at.In(l.field):
		d.held = fieldGrip
	case at.In(l.list):
		if step, ok := d.stepAt(l.list, at); ok {
			d.halt(step)
		}
	}
}

func (d *Demo) drag(at image.Point) {
	by := at.Sub(d.mouse)
	d.mouse = at
	switch d.held {
	case constantGrip:
		d.slide(at)
	case fieldGrip:
		d.view.camera.turn(float64(by.X), float64(by.Y))
	}
}

func (d *Demo) slide(at image.Point) {
	if lines, i := d.layout().lines, d.Active-d.firstLine(); i < len(lines) {
		b := bar(lines[i])
		d.Set(float64(at.X-b.Min.X) / float64(max(b.Dx(), 1)))
	}
}

func (d *Demo) scroll(steps float64) {
	l := d.layout()
	for i, r := range l.lines {
		if d.mouse.In(r) {
			d.Choose(d.firstLine() + i)
			d.Nudge(steps)
		}
	}
	if d.mouse.In(l.field) {
		d.view.camera.zoom(steps)
	}
}
