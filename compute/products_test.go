package compute_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// drawn draws one of a list.
func drawn[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// factors makes a table of three columns, a and b of some widths, with bases of either sign,
// scales and, in some chunks, deleted rows.
func factors(t testing.TB, rng *rand.Rand, rows, chunks int, a, b int, nulls bool) *table.Table {
	tab := &table.Table{Name: "t"}
	for i, name := range []string{"a", "b", "c"} {
		f := table.Field{Name: name, Type: table.Type{Kind: table.BigInt}}
		if i > 0 && rng.IntN(3) == 0 {
			f.Type = table.Type{Kind: table.Decimal, Precision: 18, Scale: rng.IntN(4)}
		}
		tab.Fields = append(tab.Fields, f)
	}
	for range chunks {
		c := &table.Chunk{Rows: rows}
		for i, width := range []int{a, b, rng.IntN(9)} {
			seg := plantest.Column(rng, rows, width, rng.IntN(3) == 0, nulls && rng.IntN(4) > 0)
			seg.Type = tab.Fields[i].Type
			seg.Base = table.OrdinalInt(drawn(rng, 0, -1, 1, -(int64(1) << width), -(int64(1) << width >> 1), 77))
			c.Segments = append(c.Segments, seg)
		}
		var deleted []int
		for row := 0; row < rows && chunks > 1; row += 1 + rng.IntN(9) {
			deleted = append(deleted, row)
		}
		if rng.IntN(2) == 0 {
			var err error
			if c, err = c.Delete(deleted); err != nil {
				t.Fatal(err)
			}
		}
		tab.Chunks = append(tab.Chunks, c)
	}
	return tab
}

// fragmentOf is the fragment of a statement over a table.
func fragmentOf(t testing.TB, tab *table.Table, text string) *plan.Fragment {
	t.Helper()
	list, err := sql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := list[0].Bind(sql.One(tab))
	if err != nil {
		t.Fatal(err)
	}
	return plan.Fragments(rules.CutFragments(tree))[0]
}

// inParts answers a query by one selection a chunk.
func inParts(run pass.Runner, d compute.Profile, q *physical.Query) ([]table.Value, error) {
	var parts []partial.Selection
	for i := range q.Chunks {
		s, err := compute.Select(run, d, q.Part([]int{i}))
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	return partial.Finish(partial.Merge(q, len(parts), func(i int, do func(partial.Selection) error) func() error {
		err := do(parts[i])
		return func() error { return err }
	}), q)
}

// productForms are select lists of sums of products, for any columns that cannot overflow.
var productForms = []string{
	"SUM(a * b), COUNT(*)", "SUM(b * a), SUM(a), AVG(a * b)", "SUM(a * (1 - b)), SUM(a * b), COUNT(a * b)", "SUM(a * b + 3 * c), MAX(c)",
	"SUM(a * a - b), COUNT(c)", "AVG(2 * a - b * c), MEDIAN(b)", "SUM((a + 1) * (b - 2)), SUM(c * c), SUM(-a)", "COUNT(a + b), COUNT(*)", "SUM(a + b + c), SUM(b)",
}

// The sums are those of the definitions, over one device and over parts. There are factors of every
// width, NULLs in one or in both, deleted rows, several chunks and windows.
func TestProductsAgreeWithTheOracle(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(21, 22))
		summed := 0
		for _, width := range []int{0, 1, 5, 8, 12, 17, 18, 24, 31, 33, 40, 60} {
			d := compute.ProfileOf(ctx.Caps())
			d.Fuse = width%2 == 0
			if width%5 == 3 { // programs for hardware, regional ones among them
				d.Software, d.Multiprocessors, d.RegionRows, d.Together = false, 1+width%2, 1<<20*(width%2), 16
			}
			if width%3 == 0 {
				d.WindowRows = textures.GroupRows
			}
			rows, chunks := plantest.BoundaryRows[width%len(plantest.BoundaryRows)], 1+width%3
			other := drawn(rng, 1, 2, 4, 7, 8, 9, 12, max(1, min(width, 61-width)))
			if !d.Software && width > 16 && width < 32 { // packed codes there, too
				other = drawn(rng, 9, 12, width)
			}
			tab := factors(t, rng, rows, chunks, width, other, width%3 > 0)
			where := drawn(rng, "", " WHERE c > 1", " WHERE a <> 5 AND (b > 3 OR c IS NULL)", " WHERE a IS NULL OR b < 9", " WHERE a * 2 > b + c")
			text := "SELECT " + productForms[width%len(productForms)] + " FROM t" + where
			if agreesWithCPU(t, g, d, tab, text) {
				summed++
			}
		}
		if summed < 8 {
			t.Errorf("%d statements were summed", summed)
		}
	})
}

// agreesWithCPU compares what a statement gives on one device and in parts with what cpu says. It is false where
// the device does not add up.
func agreesWithCPU(t *testing.T, g *pass.GL, d compute.Profile, tab *table.Table, text string) bool {
	t.Helper()
	f := fragmentOf(t, tab, text)
	q, err := physical.NewQuery(tab, f)
	if err == nil && len(q.Aggs) == 0 { // some record might leave 64 bits
		return false
	}
	want, wantErr := cpu.Scalar(context.Background(), tab.Compacted(), f)
	if err != nil || wantErr != nil {
		t.Fatalf("%s: %v, %v", text, err, wantErr)
	}
	for what, run := range map[string]func(pass.Runner, compute.Profile, *physical.Query) ([]table.Value, error){"whole": answer, "in parts": inParts} {
		got, err := run(g, d, q)
		g.End()
		if plan.IsDeclined(err) {
			return false
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%d chunks of %d rows, %s: %s\ngives %v, %v\nwant  %v", len(tab.Chunks), tab.Chunks[0].Rows, what, text, got, err, want)
		}
	}
	return true
}

// Products of three columns are those of cpu at every width that fits. They take one word, two and three; their
// offsets have either sign; any factor has NULLs.
func TestProductsOfThree(t *testing.T) {
	forms := []string{
		"SUM(a * b * c), COUNT(*)", "SUM(a * (100 - b) * (100 + c)), SUM(a * (100 - b)), SUM(a)", "AVG((a - 1) * (b + 2) * (3 - c)), SUM(a * b), MAX(c)",
		"SUM(a * b * b), SUM(b * b * b)", "SUM(a * b * c - a * a), COUNT(a * b * c)",
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(33, 34))
		summed := 0
		for i, widths := range [][2]int{{0, 5}, {7, 7}, {24, 4}, {16, 17}, {20, 20}, {30, 12}, {32, 14}, {31, 24}, {33, 4}, {5, 32}} {
			d := compute.ProfileOf(ctx.Caps())
			if i%2 == 1 { // programs for hardware
				d.Software, d.Multiprocessors, d.Together, d.Fuse = false, 2, 16, true
			}
			tab := factors(t, rng, plantest.BoundaryRows[i%len(plantest.BoundaryRows)], 1+i%3, widths[0], widths[1], i%4 > 1)
			where := drawn(rng, "", " WHERE c > 1", " WHERE a <> 5 AND (b > 3 OR c IS NULL)")
			if agreesWithCPU(t, g, d, tab, "SELECT "+forms[i%len(forms)]+" FROM t"+where) {
				summed++
			}
		}
		if summed < 6 {
			t.Errorf("%d statements were summed", summed)
		}
	})
}

// Planes multiply what is narrow or wider than 32 bits, and packed codes multiply the rest. A sum that
// has no counters left takes a sweep of its own.
func TestFormsOfProducts(t *testing.T) {
	for _, c := range []struct {
		a, b   int
		passes string
		packed bool
	}{
		{24, 4, "Accumulate(a, b, a * b)", false},
		{24, 24, "Accumulate(a, b, a * b)", true},
		{40, 20, "Accumulate(a, b); Accumulate(a * b)", false},
	} {
		tab := factors(t, rand.New(rand.NewPCG(1, 2)), 9000, 1, c.a, c.b, false)
		for i, width := range []int{c.a, c.b} {
			seg := tab.Chunks[0].Segments[i]
			*seg = *plantest.Column(rand.New(rand.NewPCG(3, 4)), 9000, width, false, false)
			tab.Fields[i].Type = seg.Type
		}
		q, err := physical.NewQuery(tab, fragmentOf(t, tab, "SELECT SUM(a * b) FROM t"))
		if err != nil {
			t.Fatal(err)
		}
		list := explained(t, hardware, q)
		text := list[len(list)-1].Program.Text
		if got := names(list); got != c.passes || strings.Contains(text, "low_product") != c.packed {
			t.Errorf("%d x %d bits: passes %s, want %s; packed codes: %t", c.a, c.b, got, c.passes, !c.packed)
		}
	}
}
