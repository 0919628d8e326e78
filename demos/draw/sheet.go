package draw

import (
	"cmp"
	"image"
	"math"

	"golang.org/x/image/font"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/textures"
)

// Sheet is a picture of panels, row by row.
type Sheet struct {
	Title   string
	Text    int      // the height of its text in pixels; 0: 19
	About   []string // lines below the title
	Heads   []string // above each row of panels; nil for none
	Columns int
	Width   int // of a panel, in pixels
	Panels  []Panel
}

// Panel is one part of a sheet: a title, a drawing, words, the meaning of colours.
type Panel struct {
	Title  string
	Draw   Drawing
	Note   string
	Legend []Entry
}

// Entry says what a colour means.
type Entry struct {
	Index uint8
	Text  string
}

// Drawing draws within a rectangle of a width; Height says how high that is.
type Drawing interface {
	Height(width int) int
	Draw(c *Canvas, r image.Rectangle)
}

const (
	textSize = 19
	between  = 8 // the drawings of a Stack, in pixels
)

// The distances of a sheet whose text has textSize.
const (
	margin      = 24
	gap         = 36 // between panels
	headHeight  = 40 // of a row
	titleHeight = 34
	entryHeight = 26
	leading     = 23 // from line to line
)

// px is a distance in the sheet's pixels.
func (s *Sheet) px(distance int) int { return distance * cmp.Or(s.Text, textSize) / textSize }

// Image draws the sheet.
func (s *Sheet) Image() (image.Image, error) {
	text := float64(cmp.Or(s.Text, textSize))
	fonts, err := NewFonts(Sizes{Title: math.Round(1.63 * text), Body: text, Small: text, Mono: text + 1}, font.HintingNone)
	if err != nil {
		return nil, err
	}
	height := s.px(margin + 34 + leading*len(s.About))
	var tops []int // of each row of panels
	for i := 0; i < len(s.Panels); i += s.Columns {
		if s.Heads != nil {
			height += s.px(headHeight)
		}
		tops = append(tops, height)
		tallest := 0
		for _, p := range s.Panels[i:min(i+s.Columns, len(s.Panels))] {
			tallest = max(tallest, s.height(fonts, p))
		}
		height += tallest + s.px(gap)
	}
	columns := min(s.Columns, len(s.Panels))
	c := fonts.New(2*s.px(margin)+columns*s.Width+(columns-1)*s.px(gap), height+s.px(margin-gap))
	c.Fill(c.Rect, Colors[White])
	x := s.px(margin)
	c.Text(c.Title, x, s.px(margin+22), s.Title, Colors[Ink])
	for i, line := range s.About {
		c.Text(c.Body, x, s.px(margin+22+leading*(i+1)+8), line, Colors[Ink])
	}
	for i, head := range s.Heads {
		c.Text(c.Bold, x, tops[i]-s.px(14), head, Colors[Ink])
		c.Fill(image.Rect(x, tops[i]-s.px(8), c.Rect.Max.X-x, tops[i]-s.px(8)+2), Colors[Line])
	}
	for i, p := range s.Panels {
		s.panel(c, x+i%s.Columns*(s.Width+s.px(gap)), tops[i/s.Columns], p)
	}
	return c.Reduced(), nil
}

func (s *Sheet) height(f *Fonts, p Panel) int {
	return p.Draw.Height(s.Width) + s.px(titleHeight+len(f.Body.Wrap(p.Note, s.Width))*leading+len(p.Legend)*entryHeight+8)
}

func (s *Sheet) panel(c *Canvas, x, y int, p Panel) {
	c.Text(c.Bold, x, y+s.px(24), p.Title, Colors[Ink])
	y += s.px(titleHeight)
	h := p.Draw.Height(s.Width)
	p.Draw.Draw(c, image.Rect(x, y, x+s.Width, y+h))
	y += h + s.px(leading)
	for i, line := range c.Body.Wrap(p.Note, s.Width) {
		c.Text(c.Body, x, y+s.px(i*leading), line, Colors[Ink])
	}
	if n := len(c.Body.Wrap(p.Note, s.Width)); n > 0 {
		y += s.px((n-1)*leading + entryHeight)
	}
	for i, e := range p.Legend {
		at := y + s.px(i*entryHeight)
		c.Fill(image.Rect(x, at-s.px(15), x+s.px(18), at+s.px(3)), Colors[e.Index])
		c.Text(c.Body, x+s.px(28), at, e.Text, Colors[Ink])
	}
}

// Stack is drawings one below the other.
type Stack []Drawing

// Height implements Drawing.
func (s Stack) Height(width int) (h int) {
	h = xslices.Sum(s, func(d Drawing) int { return d.Height(width) + between })
	return max(0, h-between)
}

// Draw implements Drawing.
func (s Stack) Draw(c *Canvas, r image.Rectangle) {
	for _, d := range s {
		r.Max.Y = r.Min.Y + d.Height(r.Dx())
		d.Draw(c, r)
		r.Min.Y = r.Max.Y + between
	}
}

// Records is the Drawing of a texture: a palette index a record.
type Records struct {
	Shape  textures.Shape
	Colors []uint8
}

// Height implements Drawing.
func (t Records) Height(width int) int { return t.Shape.Height * width / t.Shape.Width }

// Draw implements Drawing.
func (t Records) Draw(c *Canvas, r image.Rectangle) {
	c.Texels(r.Min.X, r.Min.Y, r.Dx(), t.Shape, t.Colors)
}

// Plot is a chart of points and level lines: X grows to the right, Y upwards or,
// with Down set, downwards. Points outside are left out.
type Plot struct {
	X, Y   Axis
	Down   bool
	High   int // in pixels
	Points []Point
	Levels []Level
}

// Axis is a range of values with a name.
type Axis struct {
	Name   string
	Lo, Hi float64
}

// Point is a point; Bar draws a line to it from Y.Lo.
type Point struct {
	X, Y  float64
	Index uint8
	Bar   bool
}

// Level is a line across a plot, Y at the left and the right end, with a name.
type Level struct {
	Left, Right float64
	Text        string
}

// Height implements Drawing.
func (p Plot) Height(int) int { return p.High }

// Draw implements Drawing.
func (p Plot) Draw(c *Canvas, r image.Rectangle) {
	in := image.Rect(r.Min.X+66, r.Min.Y, r.Max.X, r.Max.Y-32)
	at := func(x, y float64) (int, int) {
		u := (x - p.X.Lo) / (p.X.Hi - p.X.Lo)
		v := (y - p.Y.Lo) / (p.Y.Hi - p.Y.Lo)
		if !p.Down {
			v = 1 - v
		}
		return in.Min.X + int(u*float64(in.Dx()-1)), in.Min.Y + int(v*float64(in.Dy()-1))
	}
	c.Frame(in, 2, Colors[Line])
	for _, q := range p.Points {
		y := q.Y
		if q.Bar {
			y = min(max(y, p.Y.Lo), p.Y.Hi)
		}
		if q.X < p.X.Lo || q.X > p.X.Hi || y < p.Y.Lo || y > p.Y.Hi {
			continue
		}
		u, v := at(q.X, y)
		base := v
		if q.Bar {
			_, base = at(q.X, p.Y.Lo)
		}
		c.Fill(image.Rect(u, min(v, base), u+1, max(v, base)+1), Colors[q.Index])
	}
	p.axes(c, in)
	for _, l := range p.Levels {
		l.draw(c, in, func(x float64) int {
			_, v := at(p.X.Lo, l.Left+x*(l.Right-l.Left))
			return v
		})
	}
}

// draw draws a level within in; at gives its y for 0..1 of the way.
func (l Level) draw(c *Canvas, in image.Rectangle, at func(x float64) int) {
	for u := in.Min.X; u < in.Max.X; u++ {
		v := at(float64(u-in.Min.X) / float64(in.Dx()-1))
		c.Fill(image.Rect(u, v-1, u+1, v+2).Intersect(in), Colors[Mark])
	}
	x, end := in.Min.X+14, 0.0
	if l.Left != l.Right { // at the higher end of a slope there is room above it
		x, end = in.Max.X-14-c.Bold.Width(l.Text), 1
	}
	v := min(max(at(end), in.Min.Y+28), in.Max.Y-4)
	c.Fill(image.Rect(x-6, v-26, x+6+c.Bold.Width(l.Text), v-4), Colors[White])
	c.Text(c.Bold, x, v-9, l.Text, Colors[Mark])
}

func (p Plot) axes(c *Canvas, in image.Rectangle) {
	first, last := p.Y.Hi, p.Y.Lo // from the top
	if p.Down {
		first, last = last, first
	}
	c.Right(c.Body, in.Min.X-8, in.Min.Y+16, numbers.Grouped(int64(first)), Colors[Ink])
	c.Right(c.Body, in.Min.X-8, in.Max.Y, numbers.Grouped(int64(last)), Colors[Ink])
	c.Upwards(c.Body, in.Min.X-20, in.Min.Y+in.Dy()/2, p.Y.Name, Colors[Ink])
	c.Text(c.Body, in.Min.X, in.Max.Y+24, numbers.Grouped(int64(p.X.Lo)), Colors[Ink])
	c.Right(c.Body, in.Max.X, in.Max.Y+24, numbers.Grouped(int64(p.X.Hi)), Colors[Ink])
	c.Text(c.Body, in.Min.X+in.Dx()/2-c.Body.Width(p.X.Name)/2, in.Max.Y+24, p.X.Name, Colors[Ink])
}

// Bars is a chart of intervals from 0 to the largest end, one a row, a label before and a text
// behind each.
type Bars []Bar

// Bar is the interval [From, To), with a mark at At unless that is 0.
type Bar struct {
	Label        string
	From, To, At float64
	Text         string
}

const barHeight = 28

// Height implements Drawing.
func (b Bars) Height(int) int { return len(b) * barHeight }

// within returns where between labels and texts the bars are, and the largest end.
func (b Bars) within(c *Canvas, r image.Rectangle) (in image.Rectangle, hi float64) {
	label, text, hi := 0, 0, 1e-9
	for _, x := range b {
		label, text = max(label, c.Body.Width(x.Label)), max(text, c.Body.Width(x.Text))
		hi = max(hi, x.To)
	}
	return image.Rect(r.Min.X+label+12, r.Min.Y, r.Max.X-text-12, r.Max.Y), hi
}

// Draw implements Drawing.
func (b Bars) Draw(c *Canvas, r image.Rectangle) {
	in, hi := b.within(c, r)
	at := func(v float64) int { return in.Min.X + int(v/hi*float64(in.Dx())) }
	for i, x := range b {
		y := r.Min.Y + i*barHeight
		c.Right(c.Body, in.Min.X-12, y+20, x.Label, Colors[Ink])
		c.Fill(image.Rect(in.Min.X, y+12, in.Max.X, y+14), Colors[Line])
		c.Fill(image.Rect(at(x.From), y+4, max(at(x.To), at(x.From)+2), y+22), Colors[Stencil+2])
		if x.At != 0 {
			c.Fill(image.Rect(at(x.At)-1, y, at(x.At)+2, y+26), Colors[Mark])
		}
		c.Right(c.Body, r.Max.X, y+20, x.Text, Colors[Ink])
	}
}

// Scaled is Bars above an axis, whose ends belong to 0 and to the largest end of a bar.
type Scaled struct {
	Bars Bars
	Axis Axis
}

const axisHeight = 58

// Height implements Drawing.
func (s Scaled) Height(width int) int { return s.Bars.Height(width) + axisHeight }

// Draw implements Drawing.
func (s Scaled) Draw(c *Canvas, r image.Rectangle) {
	s.Bars.Draw(c, r)
	in, _ := s.Bars.within(c, r)
	y := r.Min.Y + s.Bars.Height(r.Dx()) + 4
	c.Fill(image.Rect(in.Min.X, y, in.Max.X, y+2), Colors[Ink])
	const ticks = 4
	for i := range ticks + 1 {
		x := in.Min.X + i*(in.Dx()-2)/ticks
		c.Fill(image.Rect(x, y, x+2, y+8), Colors[Ink])
		text := numbers.Grouped(int64(s.Axis.Lo + (s.Axis.Hi-s.Axis.Lo)*float64(i)/ticks))
		c.Text(c.Body, x-c.Body.Width(text)/2, y+26, text, Colors[Ink])
	}
	c.Text(c.Body, in.Min.X+in.Dx()/2-c.Body.Width(s.Axis.Name)/2, y+48, s.Axis.Name, Colors[Ink])
}
