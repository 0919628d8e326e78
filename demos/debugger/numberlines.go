package debugger

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/trace"
)

func (f *frame) lines() {
	for i, r := range f.layout.lines {
		i += f.demo.firstLine()
		c := f.demo.Constants[i]
		shade := faint
		if i == f.demo.Active {
			shade = highlight
		}
		x := f.Text(f.Body, r.Min.X, r.Min.Y+14, c.Text+" ", ink)
		x = f.Text(f.Bold, x, r.Min.Y+14, f.Bold.Clip(c.Value.String(), r.Max.X-x), shade)
		f.Right(f.Small, r.Max.X-2, r.Min.Y+14, f.Small.Clip(f.scaleName(), r.Max.X-2-x), faint)
		knob, holds := c.place(f.demo.Linear)
		b := bar(r)
		f.Fill(b, ground)
		if f.demo.Linear {
			f.histogram(b, c, holds)
		} else {
			f.shares(b, c, holds)
		}
		x = b.Min.X + int(math.Round(knob*float64(b.Dx())))
		f.Fill(image.Rect(x-1, b.Min.Y-4, x+2, b.Max.Y+4), shade)
		f.Fill(image.Rect(x-4, b.Min.Y-6, x+5, b.Min.Y-2), shade)
	}
}

// histogram draws the values of a constant's attribute in proportion.
func (f *frame) histogram(b image.Rectangle, c *Constant, holds [][2]float64) {
	for j, n := range c.axis.histogram {
		if n == 0 {
			continue
		}
		left, right := b.Min.X+j*b.Dx()/bars, b.Min.X+(j+1)*b.Dx()/bars
		h := max(1, int(math.Round(float64(b.Dy())*math.Sqrt(n))))
		shade := hair
		for _, part := range holds {
			if at := (float64(j) + 0.5) / bars; part[0] <= at && at <= part[1] {
				shade = selected
			}
		}
		f.Fill(image.Rect(left, b.Max.Y-h, max(right, left+1), b.Max.Y), shade)
	}
	f.Text(f.Small, b.Min.X, b.Max.Y+14, c.axis.at(0, true).String(), faint)
	f.Right(f.Small, b.Max.X, b.Max.Y+14, c.axis.at(1, true).String(), faint)
}

// shares draws the records by rank, as a band whose length is the number of records. It has the values at its
// ends and as many between as there is room for.
func (f *frame) shares(b image.Rectangle, c *Constant, holds [][2]float64) {
	at := func(place float64) int { return b.Min.X + int(math.Round(place*float64(b.Dx()))) }
	band := image.Rect(b.Min.X, b.Max.Y-b.Dy()/2, b.Max.X, b.Max.Y)
	f.Fill(band, hair)
	for _, part := range holds {
		f.Fill(image.Rect(at(part[0]), band.Min.Y, at(part[1]), band.Max.Y), selected)
	}
	var taken []image.Rectangle
	written := map[string]bool{} // a value that many records have is written once
	for _, share := range []float64{0, 1, 0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875} {
		text := c.axis.at(share, false).String()
		w := f.Small.Width(text)
		x := min(max(at(share)-w/2, b.Min.X), b.Max.X-w)
		place := image.Rect(x-8, 0, x+w+8, 1)
		if written[text] || slices.ContainsFunc(taken, place.Overlaps) {
			continue
		}
		taken, written[text] = append(taken, place), true
		f.Text(f.Small, x, b.Max.Y+14, text, faint)
		f.Fill(image.Rect(at(share), b.Max.Y, at(share)+1, b.Max.Y+3), faint)
	}
}

// found draws what a search for the k-th value, or a sum, has found up to this step.
func (f *frame) found() {
	d, r := f.demo, f.layout.found
	if r.Empty() || d.foundOf != d.SQL || f.scene == nil {
		return
	}
	last := min(d.Step, len(d.found.Passes))
	for i := last - 1; i >= 0; i-- {
		switch p := d.found.Passes[i]; {
		case p.Search >= 0:
			s := d.found.Searches[p.Search]
			f.search(r, s, &s.Steps[p.Step], s.Decision(p.Step), i == last-1 && !d.AtAnswer())
			return
		case p.Sum >= 0:
			f.sum(r, d.found.Sums[p.Sum], i)
			return
		}
	}
	switch n := d.found; {
	case len(n.Searches) > 0:
		f.search(r, n.Searches[0], nil, nil, false)
	case len(n.Sums) > 0:
		f.sum(r, n.Sums[0], -1)
	}
}

// search draws the number line of a search. It shows where the value can be after a step, by the bits that
// are known; step is nil for none. While a bit is being decided it shows the value that is tried.
func (f *frame) search(r image.Rectangle, s *trace.Search, step *trace.Step, decision *trace.Decision, tries bool) {
	line, linear := f.demo.axis(s.Attribute()), f.demo.Linear
	place := [2]float64{0, 1}
	if step == nil {
		step = &trace.Step{Ends: s.Ends}
	} else {
		first, last := s.Between(*step)
		place[0], _ = line.span(first, linear)
		_, place[1] = line.span(last, linear)
	}
	known := f.Mono.Clip(step.Known+strings.Repeat("·", max(0, s.Bits-len(step.Known))), r.Dx()*2/3)
	f.Right(f.Mono, r.Max.X-2, r.Min.Y+14, known, selected)
	what, face := s.Aggregate, f.Body
	if decision != nil {
		what, face = decision.Short, f.Small
	}
	f.Text(face, r.Min.X, r.Min.Y+14, face.Clip(what, r.Dx()-f.Mono.Width(known)-10), ink)
	b := bar(r)
	f.Fill(b, ground)
	at := func(place float64) int { return b.Min.X + int(math.Round(place*float64(b.Dx()))) }
	left := min(at(place[0]), b.Max.X-2)
	f.Fill(image.Rect(left, b.Min.Y, max(at(place[1]), left+2), b.Max.Y), selected)
	if tries {
		for _, m := range step.Tried {
			x, _ := line.span(s.Value(m), linear)
			f.Fill(image.Rect(at(x)-1, b.Min.Y-4, at(x)+1, b.Max.Y+4), highlight)
		}
	}
	between := step.Ends[0] + " to " + step.Ends[1]
	if step.Ends[0] == step.Ends[1] {
		between = "= " + step.Ends[0]
	}
	between = f.Bold.Clip(between, r.Dx())
	middle := f.Bold.Width(between)
	if side := (r.Dx()-middle)/2 - 10; max(f.Small.Width(s.Ends[0]), f.Small.Width(s.Ends[1])) <= side {
		f.Text(f.Small, r.Min.X, r.Max.Y-2, s.Ends[0], faint)
		f.Right(f.Small, b.Max.X, r.Max.Y-2, s.Ends[1], faint)
	}
	f.Text(f.Bold, (b.Min.X+b.Max.X-middle)/2, r.Max.Y-2, between, selected)
}

// sum draws what each bit of a sum adds, as far as pass i has counted it.
func (f *frame) sum(r image.Rectangle, s *trace.Sum, i int) {
	b := bar(r)
	f.Fill(b, ground)
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
			now = fmt.Sprintf("bit %d: %s x 2^%d; with %s x %s the sum so far is %s", bit.Bit, numbers.Grouped(bit.Records), bit.Bit,
				numbers.Grouped(s.Values), s.Base, numbers.GroupedText(bit.SoFar))
		}
		f.Fill(image.Rect(int(x), b.Min.Y, max(int(x+w)-1, int(x)+1), b.Max.Y), shade)
		x += w
		share += bit.Share
	}
	now = f.Bold.Clip(now, r.Dx()*3/4)
	f.Right(f.Bold, r.Max.X-2, r.Min.Y+14, now, highlight)
	f.Text(f.Body, r.Min.X, r.Min.Y+14, f.Body.Clip("SUM of codes: "+s.Column, r.Dx()-f.Bold.Width(now)-10), ink)
	f.Text(f.Small, r.Min.X, r.Max.Y-2, percent(share), faint)
	f.Right(f.Small, b.Max.X, r.Max.Y-2, numbers.GroupedText(s.Codes), faint)
}
