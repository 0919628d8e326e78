package trace

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// Point is a pass of each of two traces of a statement after which they know the same.
type Point struct {
	Passes [2]int `json:"passes"` // from 0
	What   string `json:"what"`
}

// Points returns where two traces of one statement over one table meet. These are each chunk's
// selection, the intervals of candidates that both searches for a k-th value come to, the
// sums of each chunk. They are in the order of the first trace's passes.
func Points(a, b *Trace) []Point {
	list := []Point{}
	for chunk := range a.Grids {
		selects := func(p *Pass) bool { return p.Chunk == chunk && p.Selection }
		i, j := slices.IndexFunc(a.Passes, selects), slices.IndexFunc(b.Passes, selects)
		if i >= 0 && j >= 0 {
			list = append(list, Point{[2]int{i, j}, "the same selection" + inChunk(a, chunk)})
		}
	}
	for _, s := range a.Searches {
		other := slices.IndexFunc(b.Searches, func(o *Search) bool { return o.Aggregate == s.Aggregate })
		if other < 0 {
			continue
		}
		var told [2]string
		for _, st := range s.Steps {
			n := slices.IndexFunc(b.Searches[other].Steps, func(o Step) bool { return o.Ends == st.Ends })
			if n < 0 || st.Ends == told {
				continue
			}
			told = st.Ends
			what := s.Aggregate + " lies in " + st.Ends[0] + " … " + st.Ends[1]
			if st.Ends[0] == st.Ends[1] {
				what = s.Aggregate + " is " + st.Ends[0]
			}
			list = append(list, Point{[2]int{st.Pass, b.Searches[other].Steps[n].Pass}, what})
		}
	}
	for _, s := range a.Sums {
		other := slices.IndexFunc(b.Sums, func(o *Sum) bool { return o.Column == s.Column && o.Chunk == s.Chunk })
		if other < 0 || len(s.Bits) == 0 || len(b.Sums[other].Bits) == 0 {
			continue
		}
		last := [2]int{s.Bits[len(s.Bits)-1].Pass, b.Sums[other].Bits[len(b.Sums[other].Bits)-1].Pass}
		list = append(list, Point{last, "the sum of " + s.Column + inChunk(a, s.Chunk) + " is " + s.Total})
	}
	slices.SortStableFunc(list, func(x, y Point) int { return x.Passes[0] - y.Passes[0] })
	return list
}

var against = template.Must(template.New("against.html").ParseFS(assets, "page/against.html"))

// WriteAgainst writes the pages of two traces of a statement side by side, with the points where
// they meet. They are one file that loads nothing from elsewhere.
func WriteAgainst(w io.Writer, a, b *Trace) error {
	var pages [2]strings.Builder
	for i, t := range []*Trace{a, b} {
		if err := t.WriteHTML(&pages[i]); err != nil {
			return err
		}
	}
	css, err := assets.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	return against.Execute(w, struct {
		SQL    string
		CSS    template.CSS
		Points []Point
		Traces [2]*Trace
		Pages  [2]string
	}{a.SQL, template.CSS(css), Points(a, b), [2]*Trace{a, b}, [2]string{pages[0].String(), pages[1].String()}})
}

func inChunk(t *Trace, chunk int) string {
	if len(t.Grids) == 1 {
		return ""
	}
	return fmt.Sprintf(" in chunk %d", chunk+1)
}
