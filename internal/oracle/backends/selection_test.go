package backends

import (
	"errors"
	"math/rand/v2"
	"slices"
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
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// holding lists the rows of a chunk that satisfy a predicate.
func holding(t interface{ Fatalf(string, ...any) }, c *table.Chunk, p *predicate.Pred) []uint32 {
	holds, err := cpu.Selected(p, c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var rows []uint32
	for r := range c.Rows {
		if holds.Get(r) {
			rows = append(rows, uint32(r))
		}
	}
	return rows
}

// listed lists the rows that a device has marked in a chunk.
func listed(marked []physical.SelectedRows, n int) []uint32 {
	var rows []uint32
	for _, m := range marked {
		if m.All {
			for r := range m.N {
				rows = append(rows, uint32(m.First+r))
			}
		}
		for part := range m.Parts(8192) {
			for list := range part.Lists(n) {
				rows = append(rows, list...)
			}
		}
	}
	return rows
}

// The rows of a selection are those of the predicate, in order, on every backend that has passes.
// Tables and conditions are random, with deleted rows.
func TestRowsOfASelection(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		draws, computes := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps())
		windows := computes
		windows.WindowRows = 8192 // several windows in larger chunks
		backends := map[string]func(q *physical.Query, chunk int) ([]physical.SelectedRows, error){
			"classic": func(q *physical.Query, i int) ([]physical.SelectedRows, error) {
				return aggregates.Rows(g, draws, q, i)
			},
			"fused": func(q *physical.Query, i int) ([]physical.SelectedRows, error) { return fused.Rows(g, draws, q, i) },
			"compute": func(q *physical.Query, i int) ([]physical.SelectedRows, error) {
				return compute.Rows(g, computes, q, i)
			},
			"compute in windows": func(q *physical.Query, i int) ([]physical.SelectedRows, error) { return compute.Rows(g, windows, q, i) },
		}
		check := func(t interface{ Fatalf(string, ...any) }, q *physical.Query, n int) int {
			compared := 0
			for i, c := range q.Chunks {
				want := holding(t, q.Table.Chunks[i], c.Pred)
				for name, rows := range backends {
					marked, err := rows(q, i)
					g.End()
					if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
						continue
					}
					if err != nil {
						t.Fatalf("%s: %v: %v", name, c.Pred, err)
					}
					if got := listed(marked, n); !slices.Equal(got, want) {
						t.Fatalf("%s: %v: %d rows, want %d: %v and %v", name, c.Pred, len(got), len(want), got, want)
					}
					compared++
				}
			}
			return compared
		}
		compared := 0
		rapid.Check(t, func(t *rapid.T) {
			knobs := plantest.Exact()
			tab := plantest.Table(t, knobs)
			query := plantest.Query(t, tab, knobs)
			query.Aggs = nil
			q, err := physical.NewQuery(tab, query)
			if err != nil || slices.ContainsFunc(q.Chunks, func(c physical.ChunkPlan) bool { return len(c.Checks) > 0 }) {
				return // what a record means that raises an error is not said
			}
			compared += check(t, q, rapid.IntRange(32, 100).Draw(t, "n"))
		})
		if compared == 0 {
			t.Error("nothing was compared")
		}
		for _, rows := range []int{1, 3, 127, 128, 129, 8191, 8193, 70_001} {
			tab := integers(t, rows)
			for _, where := range []string{"a < 1", "a < 500000", "a >= 0", "a IS NULL", "a < 900000 AND b > 100000 OR a = b"} {
				if check(t, bound(t, tab, where), 1000) == 0 {
					t.Errorf("%d rows, %s: nothing was compared", rows, where)
				}
			}
		}
	})
}

// The values that are gathered on a device are those of the rows, in order, without deleted rows. Codes
// have any width up to 32 bits, have bits that no code has, or are all the same.
func TestValuesAreGathered(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		whole := compute.ProfileOf(ctx.Caps())
		whole.Software, whole.Fuse, whole.Multiprocessors = false, true, 1
		windows := whole
		windows.WindowRows = 8192
		rng := rand.New(rand.NewPCG(5, 6))
		kinds := []table.Kind{table.BigInt, table.Integer, table.Date, table.BigInt, table.Timestamp}
		for _, rows := range []int{1, 129, 8193, 70_000} {
			var fields []table.Field
			for i, k := range kinds {
				fields = append(fields, table.Field{Name: string(rune('a' + i)), Type: table.Type{Kind: k}})
			}
			b := table.NewBuilder("t", fields, 0)
			for range rows {
				for i, v := range []int64{rng.Int64N(1000), rng.Int64N(1<<32) - 1<<31, rng.Int64N(256) * 48, 7, rng.Int64N(1<<20) - 1<<19} {
					b.Column(i).Int(v)
				}
				if err := b.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			tab := b.Table()
			for _, where := range []string{"a < 17", "a < 500 AND b > 3", "a >= 0 AND b <> 7", "a > 2000"} {
				q := bound(t, tab, where)
				q.ValuesOnly, q.Columns = true, []int{0, 1, 2, 3, 4}
				want := holding(t, tab.Chunks[0], q.Chunks[0].Pred)
				for _, d := range []compute.Profile{whole, windows} {
					marked, err := compute.Rows(g, d, q, 0)
					if g.End(); err != nil {
						t.Fatal(err)
					}
					at := 0
					for _, m := range marked {
						if m.All {
							at += m.N
						}
						for _, c := range m.Values {
							for i := range c.Rows {
								for col, seg := range tab.Chunks[0].Segments {
									if got, row := c.Segments[col].Value(i), int(want[at]); got != seg.Value(row) {
										t.Fatalf("%d rows, %s: column %d of row %d is %v, want %v", rows, where, col, row, got, seg.Value(row))
									}
								}
								at++
							}
						}
					}
					if at != len(want) {
						t.Errorf("%d rows, %s: %d rows are gathered, want %d", rows, where, at, len(want))
					}
				}
			}
		}
	})
}

// integers is a table of two columns below a million, of which the first has NULLs.
func integers(t *testing.T, rows int) *table.Table {
	t.Helper()
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Type: table.Type{Kind: table.BigInt}}}, 0)
	for r := range rows {
		a, c := int64(r)*7919%1_000_003, int64(r)*104_729%1_000_003
		if r%11 == 10 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(a)
		}
		b.Column(1).Int(c)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// bound is the plan of a condition's rows.
func bound(t *testing.T, tab *table.Table, where string) *physical.Query {
	t.Helper()
	q, err := sql.Plan(tab, "SELECT 1 FROM t WHERE "+where)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
