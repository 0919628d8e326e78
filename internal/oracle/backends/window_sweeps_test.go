package backends

import (
	"context"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// visited is a query over windows of so many rows, some to a visit.
func visited(q *physical.Query, rows int, perVisit func() int) (visits []partial.Visit) {
	t := *q.Table
	t.Chunks = nil
	var of []int
	for i, c := range q.Table.Chunks {
		for _, w := range c.Windows(rows) {
			t.Chunks, of = append(t.Chunks, w), append(of, i)
		}
	}
	whole := q.Windowed(&t, of)
	for at := 0; at < len(of); {
		var list []int
		for range perVisit() {
			if at < len(of) {
				list = append(list, at)
				at++
			}
		}
		visits = append(visits, partial.NewVisit(whole.Part(list)))
	}
	return visits
}

// Windows are visited one after the other, each with a selection of its own. They give the answer of the whole
// table, or the same error. Order statistics of 64 bits take four sweeps on compute and on cpu.
func TestVisitsGiveTheAnswerOfTheWhole(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		draws, scans, goroutines := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps()), cpu.New(2)
		hardware := scans // as which a program goes over several chunks
		hardware.Software, hardware.Fuse, hardware.Multiprocessors, hardware.Together = false, true, 1, 4
		type backend struct {
			name string
			open func(q *physical.Query) (partial.Selection, error)
			rows func(q *physical.Query, chunk int) ([]physical.SelectedRows, error)
			find func(in, above *physical.Query, chunk int) (partial.BracketRows, error)
		}
		backends := []backend{
			{"cpu", func(q *physical.Query) (partial.Selection, error) { return goroutines.Select(context.Background(), q) }, nil, nil},
			{"compute", func(q *physical.Query) (partial.Selection, error) { return compute.Select(g, scans, q) },
				func(q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return compute.Rows(g, scans, q, chunk)
				}, nil},
			{"compute as on hardware", func(q *physical.Query) (partial.Selection, error) { return compute.Select(g, hardware, q) },
				func(q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return compute.Rows(g, hardware, q, chunk)
				}, nil},
			{"fused", func(q *physical.Query) (partial.Selection, error) { return fused.Select(g, draws, q) },
				func(q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return fused.Rows(g, draws, q, chunk)
				},
				func(in, above *physical.Query, chunk int) (partial.BracketRows, error) {
					return fused.Find(g, draws, in, above, chunk)
				}},
			{"classic", func(q *physical.Query) (partial.Selection, error) { return aggregates.Select(g, draws, q) },
				func(q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return aggregates.Rows(g, draws, q, chunk)
				}, nil},
		}
		finish := func(q *physical.Query, visits []partial.Visit, b backend, near map[int]predicate.Span) (values []table.Value, opened int, err error) {
			v := partial.Visiting{Visits: visits, Brackets: near,
				Visit: func(_ *physical.Query, do func() error) error {
					opened++
					return do()
				},
				Select: func(q *physical.Query, do func(partial.Selection) error) error {
					return g.Apart(q.Table, func() error {
						s, err := b.open(q)
						if err == nil {
							err = do(s)
						}
						return err
					})
				},
				Rows: func(q *physical.Query, chunk int) (list []physical.SelectedRows, err error) {
					err = g.Apart(q.Table, func() error {
						list, err = b.rows(q, chunk)
						return err
					})
					return list, err
				}}
			if b.find != nil {
				v.Find = func(in, above *physical.Query, chunk int) (found partial.BracketRows, err error) {
					err = g.Apart(in.Table, func() error {
						found, err = b.find(in, above, chunk)
						return err
					})
					return found, err
				}
			}
			values, err = partial.Finish(partial.Stream(q, v), q)
			g.End()
			return values, opened, err
		}
		for width, list := range map[int][]int{64: {0, 1, 2}, 13: {1, 2, 3, 4}} {
			q := ranked(t, rand.New(rand.NewPCG(3, uint64(width))), width)
			want, err := goroutines.Execute(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				visits := visited(q, 4096, func() int { return 2 })
				got, opened, err := finish(q, visits, backends[b], nil)
				if err != nil {
					t.Fatalf("%s: %v", backends[b].name, err)
				}
				sweeps := 4
				if backends[b].name == "classic" { // two bits each
					sweeps = (width + 1) / 2
				}
				if opened > sweeps*len(visits) {
					t.Errorf("%s, %d bits: %d visits of %d windows", backends[b].name, width, opened, len(visits))
				}
				check := func(got []table.Value) {
					for i, v := range want {
						if got[i].String() != v.String() {
							t.Errorf("%s, %d bits: %v is %v, want %v", backends[b].name, width, q.Aggs[i], got[i], v)
						}
					}
				}
				check(got)
				if backends[b].rows == nil {
					continue
				}
				for _, off := range []struct{ below, above uint64 }{{0, 0}, {3, 0}, {0, 1 << 9}, {1 << 10, 1 << 9}} { // near it one sweep does
					near := map[int]predicate.Span{}
					for i, a := range q.Aggs {
						space := physical.NewCodeSpace(q.Table, a.Col)
						code := space.AtLeast(func(v table.Value) int { return table.Compare(v, want[i]) })
						near[i] = predicate.Span{Lo: code - min(code, off.below), Hi: code + min(space.Max()-code, off.above)}
					}
					if got, opened, err = finish(q, visits, backends[b], near); err != nil || opened != len(visits) {
						t.Fatalf("%s, %d bits: %d visits of %d windows, %v", backends[b].name, width, opened, len(visits), err)
					}
					check(got)
				}
				for _, above := range []bool{false, true} { // close to it, its digits are decided
					near := map[int]predicate.Span{}
					for i, a := range q.Aggs {
						space := physical.NewCodeSpace(q.Table, a.Col)
						code := space.AtLeast(func(v table.Value) int { return table.Compare(v, want[i]) })
						near[i] = predicate.Span{Lo: code - 1<<9, Hi: code - 1}
						if above {
							near[i] = predicate.Span{Lo: code + 1, Hi: min(space.Max(), code+1<<9)}
						}
					}
					if got, opened, err = finish(q, visits, backends[b], near); err != nil || opened == len(visits) {
						t.Fatalf("%s, %d bits: %d visits of %d windows, %v", backends[b].name, width, opened, len(visits), err)
					}
					check(got)
				}
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			tab := plantest.Table(t, plantest.Default())
			q, err := physical.NewQuery(tab, plantest.Query(t, tab, plantest.Default()))
			if err != nil {
				return
			}
			b := backends[rapid.IntRange(0, len(backends)-1).Draw(t, "backend")]
			visits := visited(q, 64*rapid.IntRange(1, 4).Draw(t, "rows"), func() int { return rapid.IntRange(1, 3).Draw(t, "windows") })
			want, wantErr := goroutines.Execute(context.Background(), q)
			if len(visits) == 0 {
				return
			}
			near := map[int]predicate.Span{} // right and wrong
			for i, a := range q.Aggs {
				if partial.NeedsSearch(a) && b.rows != nil && rapid.IntRange(0, 2).Draw(t, "near") > 0 {
					max := physical.NewCodeSpace(tab, a.Col).Max()
					lo := rapid.Uint64Range(0, max).Draw(t, "lo")
					near[i] = predicate.Span{Lo: lo, Hi: rapid.Uint64Range(lo, max).Draw(t, "hi")}
				}
			}
			got, _, err := finish(q, visits, b, near)
			if plan.IsDeclined(err) {
				return
			}
			if err != nil || wantErr != nil {
				if err == nil || wantErr == nil || err.Error() != wantErr.Error() {
					t.Fatalf("%s: %v: error %v, the whole has %v", b.name, q.Aggs, err, wantErr)
				}
				return
			}
			for i, v := range want {
				if got[i].String() != v.String() {
					t.Fatalf("%s: %v is %v, the whole's is %v", b.name, q.Aggs[i], got[i], v)
				}
			}
		})
	})
}
