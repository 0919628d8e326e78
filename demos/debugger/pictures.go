package debugger

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/trace"
)

// shown is a picture of a traced pass where the frame has it.
type shown struct {
	trace.Panel
	cells trace.Picture
	at    image.Rectangle // with title and scale
	r     image.Rectangle // the cells
}

// pictures are those of the pass at hand, in the room of the panes: bit planes below the others.
func (d *Demo) pictures(l layout) (list []shown) {
	if d.scene == nil || d.scene.trace == nil {
		return nil
	}
	p := d.scene.current(d.Model)
	var large, small []trace.Panel
	for _, panel := range p.Panels {
		if panel.Plane != "" {
			small = append(small, panel)
		} else if !panel.Same && !panel.Copied {
			large = append(large, panel)
		}
	}
	room := l.panes[attributePane].Union(l.panes[resultPane])
	below := image.Rectangle{}
	switch {
	case len(large) == 0:
		room, below = image.Rectangle{}, room
	case len(small) > 0:
		below, room = cutBottom(room, room.Dy()*2/5)
	}
	for i, panels := range [][]trace.Panel{large, small} {
		foot := []int{footHigh, 4}[i]
		places := tiles([]image.Rectangle{room, below}[i], len(panels), foot, d.scene.trace.Grids[p.Chunk].Cols, d.scene.trace.Grids[p.Chunk].Lines)
		for j, panel := range panels {
			s := shown{Panel: panel, cells: d.scene.trace.Picture(p, panel), at: places[j]}
			s.r = fitted(s.at, s.cells.Cols, s.cells.Lines, foot)
			list = append(list, s)
		}
	}
	return list
}

// tiles cuts a rectangle into n equal parts, in as many columns as make pictures of cols x lines
// cells the largest.
func tiles(room image.Rectangle, n, foot, cols, lines int) (list []image.Rectangle) {
	best, widest := 1, -1
	for columns := 1; columns <= n; columns++ {
		rows := (n + columns - 1) / columns
		cell := image.Rect(0, 0, (room.Dx()-(columns-1)*gap)/columns, (room.Dy()-(rows-1)*gap)/rows)
		if w := fitted(cell, cols, lines, foot).Dx(); w > widest {
			best, widest = columns, w
		}
	}
	rows := (n + best - 1) / best
	for i := range n {
		r := part(room, i%best, best)
		high := (room.Dy() - (rows-1)*gap) / rows
		r.Min.Y += i / best * (high + gap)
		r.Max.Y = r.Min.Y + high
		list = append(list, r)
	}
	return list
}

// traced draws the pictures of the pass at hand.
func (f *frame) traced() {
	list := f.demo.pictures(f.layout)
	for _, s := range list {
		f.picture(s)
	}
	if len(list) == 0 {
		f.undefined(f.layout.panes[attributePane].Union(f.layout.panes[resultPane]), "no pass has happened")
	}
}

func (f *frame) picture(s shown) {
	face, title := f.Bold, s.Title
	if s.Plane != "" {
		face = f.Small
		if face.Width(title) > s.at.Dx() {
			title = fmt.Sprintf("%d %s", s.Bit, s.Plane)
		}
	}
	f.Text(face, s.at.Min.X, s.at.Min.Y+14, face.Clip(title, s.at.Dx()), ink)
	f.Frame(s.r, 1, hair)
	if s.cells.Cells == nil {
		f.undefined(s.r, s.Note)
		return
	}
	for y := s.r.Min.Y; y < s.r.Max.Y; y++ {
		for x := s.r.Min.X; x < s.r.Max.X; x++ {
			if i := (y-s.r.Min.Y)*s.cells.Lines/s.r.Dy()*s.cells.Cols + (x-s.r.Min.X)*s.cells.Cols/s.r.Dx(); i < len(s.cells.Cells) {
				f.SetRGBA(x, y, s.colour(s.cells.Cells[i]))
			}
		}
	}
	if s.Plane != "" {
		return
	}
	f.legend(s)
	below := s.cells.Reduced(s.Kind)
	if below == "" {
		below = s.Note
	}
	f.Text(f.Small, s.r.Min.X, s.r.Max.Y+33, f.Small.Clip(below, s.at.Max.X-s.r.Min.X), faint)
}

// colour is that of a cell, as pages of traces have it.
func (s *shown) colour(c trace.Cell) color.RGBA {
	switch {
	case s.Kind == "stencil":
		return draw.Light.Stencil(uint8(c.Number))
	case s.Kind == "share":
		return draw.Light.Share(c.Place, s.fate())
	case c.Null:
		return ofNull
	case c.Passes:
		return draw.Light.Passing(c.Place)
	}
	return draw.Value(min(max(c.Place, 0), 1))
}

func (s *shown) fate() color.RGBA {
	if s.Fate == "dropped" {
		return dropped
	}
	return selected
}

// legend says below a picture what its colours are.
func (f *frame) legend(s shown) {
	x, y := s.r.Min.X, s.r.Max.Y+7
	switch s.Kind {
	case "stencil":
		for _, l := range s.Legend {
			f.Fill(image.Rect(x, y, x+12, y+12), draw.Light.Stencil(l.Value))
			x = f.Text(f.Small, x+16, y+11, fmt.Sprint(l.Value), ink) + 12
		}
	case "share":
		rows := f.scene.chunk.Rows
		f.Fill(image.Rect(x, y, x+12, y+12), s.fate())
		f.part(image.Pt(x+18, y+11), s.at.Max.X, uint64(s.Total), rows, s.fate())
	default:
		name := "in proportion"
		if len(s.Stops) > 2 {
			name = "by rank"
		}
		nulls := slices.ContainsFunc(s.cells.Cells, func(c trace.Cell) bool { return c.Null })
		f.scaleBar(image.Rectangle{image.Pt(x, s.at.Min.Y), s.at.Max}, s.r, s.Ends[0], s.Ends[1], nulls, name)
	}
}

// number writes what a cell of a picture holds.
func (s *shown) number(c trace.Cell) string {
	switch {
	case c.Null:
		return "NULL"
	case s.Kind == "share" && s.cells.Reduced(s.Kind) == "":
		return map[bool]string{true: "yes", false: "no"}[c.Number > 0]
	case s.Kind == "share":
		return fmt.Sprintf("%.0f %% of the cell", 100*c.Place)
	case s.Kind == "codes":
		return fmt.Sprintf("code %.0f", c.Number-1)
	case s.Kind == "depth":
		return fmt.Sprintf("%.0f", math.Round(c.Number*float64(s.Unit)))
	}
	return fmt.Sprintf("%.0f", c.Number)
}

// pointed finds the record that a pixel of a picture shows; of several the first.
func (d *Demo) pointed(at image.Point) (row int, ok bool) {
	for _, s := range d.pictures(d.layout()) {
		if at.In(s.r) {
			return s.cells.Row((at.X-s.r.Min.X)*s.cells.Cols/s.r.Dx(), (at.Y-s.r.Min.Y)*s.cells.Lines/s.r.Dy())
		}
	}
	return 0, false
}

// cells marks a record in all pictures and returns what they hold there: bits of a column,
// the highest first, in one line.
func (f *frame) cells(row int) (held [][2]string) {
	bits := map[string]int{} // the lines of a column's
	for _, s := range f.demo.pictures(f.layout) {
		cell := s.cells.CellOf(row)
		if cell < 0 || cell >= len(s.cells.Cells) {
			continue
		}
		x, y := cell%s.cells.Cols, cell/s.cells.Cols
		f.mark(image.Rect(s.r.Min.X+x*s.r.Dx()/s.cells.Cols, s.r.Min.Y+y*s.r.Dy()/s.cells.Lines, s.r.Min.X+(x+1)*s.r.Dx()/s.cells.Cols, s.r.Min.Y+(y+1)*s.r.Dy()/s.cells.Lines))
		if s.Plane == "" {
			held = append(held, [2]string{"", s.Title + ": " + s.number(s.cells.Cells[cell])})
			continue
		}
		if s.cells.Reduced(s.Kind) != "" {
			continue
		}
		if _, ok := bits[s.Plane]; !ok {
			bits[s.Plane] = len(held)
			held = append(held, [2]string{"bits of " + s.Plane, ""})
		}
		held[bits[s.Plane]][1] += fmt.Sprintf("%.0f", s.cells.Cells[cell].Number)
	}
	return held
}

// concluded writes what a traced pass has counted and decided.
func (f *frame) concluded() {
	d, r := f.demo, f.layout.field
	w := &writer{f, r, r.Min.Y + 36}
	switch {
	case f.scene == nil:
		return
	case d.stale():
		w.write(f.Body, "The pictures are those of the constant before: let it go to have the passes anew.", highlight)
		return
	case d.Step == 0 || d.AtAnswer():
		return
	}
	begin := w.y
	defer func() {
		if w.y > begin {
			f.Text(f.Bold, r.Min.X, r.Min.Y+14, "What came of it", ink)
		}
	}()
	p := f.scene.current(d.Model)
	if text := p.Tally(); text != "" {
		w.write(f.Bold, text, selected)
	}
	for _, text := range p.Results {
		w.write(f.Body, text, ink)
	}
	if p.Sum >= 0 {
		for _, bit := range slices.Backward(f.scene.trace.Sums[p.Sum].Bits) {
			if bit.Pass == d.Step-1 {
				w.write(f.Body, bit.Words, ink) // of the highest bit
				break
			}
		}
	}
	if p.Search < 0 {
		return
	}
	s := f.scene.trace.Searches[p.Search]
	step := s.Steps[p.Step]
	if step.Decision != nil {
		w.write(f.Body, step.Decision.Words, ink)
	}
	if len(step.Digits) > 0 {
		w.write(f.Small, fmt.Sprintf("candidates by their bits %d..%d of %s", step.Counts[0], step.Counts[1], s.Column), faint)
		f.digits(image.Rect(r.Min.X, w.y-8, r.Max.X, r.Max.Y), step)
	}
}

// digits draws how many candidates have each value of some bits, that of the answer marked.
func (f *frame) digits(r image.Rectangle, step trace.Step) {
	most := uint64(1)
	for _, digit := range step.Digits {
		most = max(most, digit.Records)
	}
	high := max(1, min(16, r.Dy()/len(step.Digits)))
	for i, digit := range step.Digits {
		y, shade, x := r.Min.Y+i*high, hair, r.Min.X
		if digit.Bits == step.Taken {
			shade = highlight
		}
		end := r.Max.X
		if high >= 14 {
			f.Text(f.Mono, x, y+12, digit.Bits, ink)
			x += f.Mono.Width(digit.Bits) + 8
			count := numbers.Grouped(digit.Records)
			f.Right(f.Small, end, y+12, count, ink)
			end -= f.Small.Width(numbers.Grouped(most)) + 8
		}
		if width := int(float64(end-x) * float64(digit.Records) / float64(most)); width > 0 {
			f.Fill(image.Rect(x, y+1, x+max(1, width), y+max(2, high-1)), shade)
		}
	}
}

// writer writes lines into a rectangle, as far as there is room.
type writer struct {
	*frame
	r image.Rectangle
	y int // of the next line
}

func (w *writer) write(face *draw.Face, s string, shade color.RGBA) {
	for _, line := range face.Wrap(s, w.r.Dx()) {
		if w.y <= w.r.Max.Y {
			w.Text(face, w.r.Min.X, w.y, line, shade)
		}
		w.y += 18
	}
}
