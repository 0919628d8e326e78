package debugger

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/trace"
)

// lines draws a number line for every constant.
func (f *frame) lines() error {
	for i, r := range f.layout.lines {
		c := f.demo.Constants[i]
		shade := faint
		if i == f.demo.Active {
			shade = highlight
		}
		x := f.text(regular, r.Min.X, r.Min.Y+14, c.Text+" ", ink)
		f.text(bold, x, r.Min.Y+14, f.clip(bold, c.Value.String(), r.Max.X-x), shade)
		b := bar(r)
		f.fill(b, ground)
		knob := c.axis.place(c.Value)
		list := f.demo.histograms[c.Col]
		for j, n := range list {
			if n == 0 {
				continue
			}
			left, right := b.Min.X+j*b.Dx()/len(list), b.Min.X+(j+1)*b.Dx()/len(list)
			h := max(1, int(math.Round(float64(b.Dy())*math.Sqrt(float64(n)))))
			ink := hair
			if c.holds((float64(j)+0.5)/float64(len(list)), knob) {
				ink = selected
			}
			f.fill(image.Rect(left, b.Max.Y-h, max(right, left+1), b.Max.Y), ink)
		}
		x = b.Min.X + int(math.Round(knob*float64(b.Dx())))
		f.fill(image.Rect(x-1, b.Min.Y-4, x+2, b.Max.Y+4), shade)
		f.fill(image.Rect(x-4, b.Min.Y-6, x+5, b.Min.Y-2), shade)
		f.text(small, b.Min.X, r.Max.Y-2, c.axis.at(0).String(), faint)
		f.right(small, b.Max.X, r.Max.Y-2, c.axis.at(1).String(), faint)
	}
	return nil
}

// found draws what a search for the k-th value, or a sum, has found up to this step.
func (f *frame) found() error {
	d, r := f.demo, f.layout.found
	if r.Empty() || d.foundOf != d.SQL || f.scene == nil {
		return nil
	}
	last := min(d.Step, len(d.found.Passes))
	for i := last - 1; i >= 0; i-- {
		switch p := d.found.Passes[i]; {
		case p.Search >= 0:
			s := d.found.Searches[p.Search]
			f.search(r, s, s.Steps[p.Step], i == last-1 && !d.AtAnswer())
			return nil
		case p.Sum >= 0:
			f.sum(r, d.found.Sums[p.Sum], i)
			return nil
		}
	}
	if n := d.found; len(n.Searches) > 0 {
		s := n.Searches[0]
		f.search(r, s, trace.Step{Ends: s.Ends, At: [2]float64{0, 1}}, false)
	} else {
		f.sum(r, n.Sums[0], -1)
	}
	return nil
}

// search draws the number line of a search: where the value can be, given the bits
// that are known, and while a bit is being decided the value that is tried.
func (f *frame) search(r image.Rectangle, s *trace.Search, step trace.Step, tries bool) {
	known := f.clip(mono, step.Known+strings.Repeat("·", max(0, s.Bits-len(step.Known))), r.Dx()*2/3)
	f.right(mono, r.Max.X-2, r.Min.Y+14, known, selected)
	f.text(regular, r.Min.X, r.Min.Y+14, f.clip(regular, s.Aggregate, r.Dx()-f.width(mono, known)-10), ink)
	b := bar(r)
	f.fill(b, ground)
	at := func(place float64) int { return b.Min.X + int(math.Round(place*float64(b.Dx()))) }
	left := at(step.At[0])
	f.fill(image.Rect(left, b.Min.Y, max(at(step.At[1]), left+2), b.Max.Y), selected)
	if tries {
		for _, m := range step.Tried {
			f.fill(image.Rect(at(m.At)-1, b.Min.Y-4, at(m.At)+1, b.Max.Y+4), highlight)
		}
	}
	between := step.Ends[0] + " to " + step.Ends[1]
	if step.Ends[0] == step.Ends[1] {
		between = "= " + step.Ends[0]
	}
	f.text(small, r.Min.X, r.Max.Y-2, s.Ends[0], faint)
	f.right(small, b.Max.X, r.Max.Y-2, s.Ends[1], faint)
	f.text(bold, (b.Min.X+b.Max.X-f.width(bold, between))/2, r.Max.Y-2, between, selected)
}

// sum draws what each bit of a sum adds, as far as pass i has counted it.
func (f *frame) sum(r image.Rectangle, s *trace.Sum, i int) {
	b := bar(r)
	f.fill(b, ground)
	share, now := 0.0, ""
	x := float64(b.Min.X)
	for _, bit := range s.Bits {
		if bit.Pass > i {
			break
		}
		w := bit.Share * float64(b.Dx())
		shade := selected
		if bit.Pass == i {
			shade = highlight
			now = fmt.Sprintf("bit %d: %s x 2^%d = %s", bit.Bit, numbers.Grouped(bit.Records), bit.Bit, numbers.GroupedText(bit.Adds))
		}
		f.fill(image.Rect(int(x), b.Min.Y, max(int(x+w)-1, int(x)+1), b.Max.Y), shade)
		x += w
		share += bit.Share
	}
	now = f.clip(bold, now, r.Dx()*3/4)
	f.right(bold, r.Max.X-2, r.Min.Y+14, now, highlight)
	f.text(regular, r.Min.X, r.Min.Y+14, f.clip(regular, "SUM of codes: "+s.Column, r.Dx()-f.width(bold, now)-10), ink)
	f.text(small, r.Min.X, r.Max.Y-2, fmt.Sprintf("%.1f %%", 100*share), faint)
	f.right(small, b.Max.X, r.Max.Y-2, numbers.GroupedText(s.Codes), faint)
}

// holds reports whether the comparison holds at a place of the number line.
func (c *Constant) holds(place, knob float64) bool {
	switch c.Text[strings.LastIndexByte(c.Text, ' ')+1:] {
	case "<", "<=":
		return place <= knob
	case ">", ">=":
		return place >= knob
	case "<>":
		return math.Abs(place-knob) > 0.5/bars
	}
	return math.Abs(place-knob) <= 0.5/bars
}
