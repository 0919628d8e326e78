package debugger

import (
	"fmt"
	"image"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

func (f *frame) head() {
	d, r := f.demo, f.layout.head
	x := f.Text(f.Title, r.Min.X, r.Min.Y+20, "stencildb demo", ink)
	doing := "paused"
	if d.Running {
		doing = "running"
	}
	status := fmt.Sprintf("%s  ·  %s  ·  %g passes a second", d.Title(), doing, d.Speed)
	f.Text(f.Bold, x+24, r.Min.Y+20, status, highlight)
	about := strings.Split(f.view.ctx.Caps().Renderer, " (")[0]
	if f.scene != nil {
		n := f.scene.plan.Table.Rows()
		sorted := ""
		if f.order() != "" {
			sorted = "sorted "
		}
		if d.traced {
			about = "backend " + f.scene.trace.Backend + "  ·  " + about
		}
		about = fmt.Sprintf("%s of %s  ·  %s", numbers.Count(n, sorted+"record", sorted+"records"), f.scene.plan.Table.Name, about)
	}
	f.Right(f.Small, r.Max.X, r.Min.Y+20, f.Small.Clip(about, r.Max.X-x-48-f.Bold.Width(status)), faint)
	f.statement(image.Rect(r.Min.X, r.Min.Y+28, r.Max.X, r.Max.Y))
}

// statement writes the SQL with its constants marked, in two lines at most.
func (f *frame) statement(r image.Rectangle) {
	if f.demo.problem != "" {
		for i, line := range f.Body.Wrap(f.demo.problem, r.Dx()) {
			if i < 2 {
				f.Text(f.Body, r.Min.X, r.Min.Y+16+18*i, line, highlight)
			}
		}
		return
	}
	wide := f.Mono.Width("0")
	line := max(r.Dx()/wide, 1)
	for i, l := range f.demo.excerpt(2 * line) {
		at := image.Pt(r.Min.X+i%line*wide, r.Min.Y+16+i/line*18)
		shade := ink
		for j, c := range f.demo.Constants {
			if c.from <= l.at && l.at < c.to {
				shade = selected
				if j == f.demo.Active {
					shade = highlight
				}
				f.Fill(image.Rect(at.X, at.Y+3, at.X+wide, at.Y+5), shade)
			}
		}
		f.Text(f.Mono, at.X, at.Y, string(l.r), shade)
	}
}

// letter is one of the statement as it is shown, with its place in the text; -1 for none.
type letter struct {
	r  rune
	at int
}

// excerpt returns at most so many letters of the statement, the active constant among
// them. Dots stand for what is left out at the ends.
func (m *Model) excerpt(most int) []letter {
	all := oneLine(m.SQL)
	if len(all) <= most {
		return all
	}
	from := 0
	if len(m.Constants) > 0 {
		place := func(at int) int { // of a byte of the text
			return sort.Search(len(all), func(i int) bool { return all[i].at >= at })
		}
		c := m.Constants[m.Active]
		if start, end := place(c.from), place(c.to); end >= most {
			from = min(max(start-max(most-(end-start), 0)/2, 0), len(all)-most)
		}
	}
	list := slices.Clone(all[from : from+most])
	if from > 0 {
		list[0] = letter{'…', -1}
	}
	if from+most < len(all) {
		list[most-1] = letter{'…', -1}
	}
	return list
}

// oneLine returns the letters of a statement, without its comments and with one space
// where there is any, but within quotes as it is.
func oneLine(sql string) (list []letter) {
	end := 0
	for _, t := range tokens(sql) {
		if int(t.Start) > end && list != nil {
			list = append(list, letter{' ', end})
		}
		for i, r := range sql[t.Start:t.End] {
			list = append(list, letter{r, int(t.Start) + i})
		}
		end = int(t.End)
	}
	return list
}

// The list of passes.
const (
	rowHigh = 20
	lineGap = 17 // between the lines of a name
)

// listed is a step where the list of passes shows it.
type listed struct {
	image.Rectangle
	step  int
	lines []string
	count string // the samples that it counted; "" where they are not known
}

// listing lays out what the list shows in r: the current step about in the middle. Long names
// take several lines.
func (d *Demo) listing(r image.Rectangle) (list []listed) {
	y, high := r.Min.Y+rowHigh+4, r.Dy()-2*rowHigh-4
	left, used, below := d.Step, 0, d.rowOf(r, d.Step).Dy()
	for step := d.Step + 1; step <= d.Last() && below < high-high/2; step++ {
		below += d.rowOf(r, step).Dy()
	}
	for ; left > 0; left-- {
		if used += d.rowOf(r, left-1).Dy(); used+below > high {
			break
		}
	}
	for step := left; step <= d.Last(); step++ {
		row := d.rowOf(r, step)
		row.Rectangle = row.Add(image.Pt(r.Min.X, y))
		if row.Max.Y > r.Max.Y-rowHigh && step > d.Step {
			break
		}
		y = row.Max.Y
		list = append(list, row)
	}
	return list
}

// nameAt is where names begin in the list, behind the steps' numbers.
const nameAt = 30

// rowOf is what the list says of a step, in a rectangle at the origin.
func (d *Demo) rowOf(r image.Rectangle, step int) listed {
	row := listed{step: step, lines: []string{"start"}}
	if step == d.Last() {
		row.lines[0] = "answer"
	} else if step > 0 {
		body, width := d.view.fonts.Body, r.Dx()-nameAt
		if e := d.Passes[step-1]; e.Pass.Count && d.Happened(step) {
			row.count = numbers.Grouped(e.Samples)
			width -= body.Width(row.count) + 8
		}
		row.lines = body.Wrap(body.ClipMiddle(d.name(step), 3*width), width)
	}
	row.Rectangle = image.Rect(0, 0, r.Dx(), rowHigh+lineGap*(len(row.lines)-1))
	return row
}

// stepAt finds the step of the list that a point is on.
func (d *Demo) stepAt(r image.Rectangle, at image.Point) (int, bool) {
	for _, row := range d.listing(r) {
		if at.In(row.Rectangle) {
			return row.step, true
		}
	}
	return 0, false
}

// list writes the passes, the current one marked, and what has been counted so far.
func (f *frame) list() {
	d, r := f.demo, f.layout.list
	f.Text(f.Bold, r.Min.X, r.Min.Y+14, "Passes", ink)
	counts := slices.ContainsFunc(d.Passes, func(p pass.Profile) bool { return p.Pass.Count })
	if counts {
		f.Right(f.Small, r.Max.X, r.Min.Y+14, "samples that pass", faint)
	}
	for _, row := range d.listing(r) {
		f.listRow(row)
	}
	if !counts {
		return
	}
	f.Fill(image.Rect(r.Min.X, r.Max.Y-rowHigh, r.Max.X, r.Max.Y-rowHigh+1), hair)
	what, count := "nothing counted yet", ""
	if last := d.lastCount(); last > 0 {
		what, count = fmt.Sprintf("counted last, by pass %d", last), numbers.Grouped(d.Passes[last-1].Samples)
	}
	if samples, passes := d.Counted(); passes > 1 && f.scene != nil && addsUp(f.scene.plan) {
		what, count = fmt.Sprintf("counted so far, by %d passes", passes), numbers.Grouped(samples)
	}
	f.Text(f.Small, r.Min.X, r.Max.Y-5, what, faint)
	f.Right(f.Bold, r.Max.X, r.Max.Y-5, count, ink)
}

func (f *frame) listRow(row listed) {
	d, shade, face := f.demo, ink, f.Body
	if row.step == d.Step {
		f.Fill(row.Rectangle, marked)
		f.Fill(image.Rect(row.Min.X, row.Min.Y, row.Min.X+3, row.Max.Y), selected)
	}
	if !d.Happened(row.step) && row.step != d.Step {
		shade = faint
	}
	x, y := row.Min.X+8, row.Min.Y+rowHigh-6
	if row.step == d.Last() {
		face = f.Bold
	} else if row.step > 0 {
		f.Text(f.Small, x, y, fmt.Sprint(row.step), faint)
		x = row.Min.X + nameAt
	}
	f.Right(f.Body, row.Max.X, y, row.count, shade)
	for i, line := range row.lines {
		f.Text(face, x, y+i*lineGap, line, shade)
	}
}

func (f *frame) state() {
	d, r := f.demo, f.layout.state
	w := &writer{f, r, r.Min.Y + 14}
	write := w.write
	switch {
	case f.scene == nil:
		return
	case d.Step == 0:
		write(f.Bold, "Before the first pass", ink)
		if !d.traced {
			write(f.Body, "Attributes are textures, a record is a texel. Depth and stencil buffer hold nothing yet.", ink)
			return
		}
		write(f.Body, "The pictures show what each pass of backend "+f.scene.trace.Backend+" reads and leaves.", ink)
		if d.options.Instead != "" {
			write(f.Body, "Backend "+d.options.Instead+" cannot do this statement.", ink)
		}
		return
	case d.AtAnswer():
		write(f.Bold, "Answer", ink)
		w.y += 6
		if d.stale() {
			return
		}
		if d.Answer == "" {
			write(f.Body, "The selection follows the constant; let it go to have the answer.", ink)
			return
		}
		write(f.Title, d.Answer, selected)
		w.y += 4
		if d.traced {
			write(f.Body, numbers.Count(len(d.Passes), "pass", "passes")+" of backend "+f.scene.trace.Backend+".", ink)
			return
		}
		_, passes := d.Counted()
		write(f.Body, fmt.Sprintf("%s, of which %d counted.", numbers.Count(len(d.Passes), "pass", "passes"), passes), ink)
		return
	}
	e := d.Passes[d.Step-1]
	write(f.Bold, fmt.Sprintf("%d  %v", d.Step, e.Pass), ink)
	write(f.Body, "Counts "+e.Pass.Op.Counts()+".", ink)
	if d.traced {
		for _, fact := range f.scene.current(d.Model).State {
			write(f.Small, fact[0]+": "+fact[1], faint)
		}
		return
	}
	for _, s := range f.scene.pass.State() {
		write(f.Small, s, faint)
	}
	for _, limb := range f.scene.quads() {
		write(f.Small, fmt.Sprintf("quad at depth %.0f / 2^24: %s %s", limb, f.scene.depthName(), f.scene.depthValue(uint64(math.Round(limb)))), highlight)
	}
	if e.Pass.Count && w.y <= r.Max.Y {
		write(f.Bold, numbers.Count(e.Samples, "sample passes", "samples pass"), selected)
	}
}

func (f *frame) help() {
	r := f.layout.help
	s := "space run   ← → step   home   end   + − speed"
	if len(f.demo.Constants) > 0 {
		s += "   drag a line, or ↑ ↓: change a constant   tab next constant"
	}
	if f.demo.chunks() > 1 {
		s += "   page up, page down: the chunk before, the next"
	}
	s += "   l rank/proportion"
	if !f.demo.traced {
		s += "   a attribute"
	}
	s += "   q quit"
	f.Text(f.Small, r.Min.X, r.Max.Y-6, f.Small.Clip(s, r.Dx()), faint)
}
