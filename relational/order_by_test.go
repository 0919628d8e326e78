package relational

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// keysOf makes a table with keys of 3 bits and of 60, DOUBLEs, texts of two letters, and a column with one value. One row of eight is NULL in each but the last.
func keysOf(rows, chunks int) *table.Table {
	fields := []table.Field{{Name: "few", Type: table.Type{Kind: table.BigInt}}, {Name: "wide", Type: table.Type{Kind: table.BigInt}},
		{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}, {Name: "same", Type: table.Type{Kind: table.BigInt}}}
	b := table.NewBuilder("t", fields, (rows+chunks-1)/chunks)
	for i := range rows {
		r := uint64(i+1) * 0x9e3779b97f4a7c15
		values := []table.Value{table.Int(int64(r >> 61)), table.Int(int64(r >> 3)), table.Float(math.Sin(float64(r))), table.Str(string([]byte{'a' + byte(r>>20%26), 'a' + byte(r>>40%3)})), table.Int(4)}
		for col, v := range values {
			if v.Type = fields[col].Type; col < 4 && (r>>(8*col+7))%8 == 0 {
				v = table.Null(v.Type)
			}
			b.Column(col).Value(v)
		}
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// The order of each window is that of a stable sort of its rows by the keys. No more rows are returned than are wanted. Keys have
// one bit and more than a word, both directions, NULLs at both ends, texts, equal rows, and few rows of many.
func TestOrderIsThatOfAStableSort(t *testing.T) {
	tab := keysOf(9000, 2)
	key := func(col int, desc, nullsFirst bool) expr.SortKey {
		return expr.SortKey{E: &expr.Column{Index: col, Name: tab.Fields[col].Name, T: tab.Fields[col].Type}, Desc: desc, NullsFirst: nullsFirst}
	}
	some := &expr.Compare{Op: expr.GT, L: key(1, false, false).E, R: &expr.Const{V: table.Int(1 << 58)}}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for _, c := range []struct {
			where expr.Expr
			first int64
			keys  []expr.SortKey
		}{
			{nil, -1, []expr.SortKey{key(0, false, false), key(1, true, false)}},
			{some, -1, []expr.SortKey{key(3, true, true), key(0, true, false), key(2, false, true)}},
			{some, -1, []expr.SortKey{key(4, true, false)}},
			{nil, 20, []expr.SortKey{key(1, false, false)}},
			{some, 20, []expr.SortKey{key(2, true, false), key(0, false, true)}},
			{nil, 700, []expr.SortKey{key(1, true, true)}},  // fewer NULLs than that, and more values
			{nil, 7, []expr.SortKey{key(0, false, true)}},   // NULLs alone
			{some, 4, []expr.SortKey{key(3, false, false)}}, // many alike
			{nil, 0, []expr.SortKey{key(1, false, false)}},
		} {
			q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: c.where, Order: &plan.Sort{Keys: c.keys, Limit: c.first}})
			if err != nil {
				t.Fatal(err)
			}
			for kind, d := range compute.Variants(gl.Caps()) {
				runs, err := Order(g, d, q)
				g.End()
				if err != nil {
					t.Errorf("%s, %v: %v", kind, c.keys, err)
					continue
				}
				if diff := cmp.Diff(sortedBy(tab, c.where, c.first, c.keys), inOne(tab, runs, c.first, c.keys)); diff != "" {
					t.Errorf("%s, %v, first %d: %.1000s", kind, c.keys, c.first, diff)
				}
			}
		}
	})
}

// place is a row of a chunk.
type place struct{ chunk, row int }

// by compares places by keys.
func by(tab *table.Table, keys []expr.SortKey) func(a, b place) int {
	return func(a, b place) int {
		for _, k := range keys {
			col := k.E.(*expr.Column).Index
			if c := k.Compare(tab.Chunks[a.chunk].Segments[col].Value(a.row), tab.Chunks[b.chunk].Segments[col].Value(b.row)); c != 0 {
				return c
			}
		}
		return 0
	}
}

// sortedBy lists the first rows of a table by definition.
func sortedBy(tab *table.Table, where expr.Expr, first int64, keys []expr.SortKey) (out []string) {
	var list []place
	for i, c := range tab.Chunks {
		for row := range c.Rows {
			at := func(col int) table.Value { return c.Segments[col].Value(row) }
			if where != nil {
				if v, err := expr.Eval(where, &expr.Env{Column: at}); err != nil || v.Null || v.I == 0 {
					continue
				}
			}
			list = append(list, place{i, row})
		}
	}
	return cut(tab, list, first, keys)
}

// inOne lists the first rows of runs.
func inOne(tab *table.Table, runs []physical.SortedRun, first int64, keys []expr.SortKey) []string {
	var list []place
	for _, r := range runs {
		var run []place
		for _, row := range r.Rows {
			run = append(run, place{r.Chunk, int(row)})
		}
		if !slices.IsSortedFunc(run, by(tab, keys)) || first >= 0 && len(run) > int(first) {
			return []string{fmt.Sprintf("a run of %d rows in no order", len(run))}
		}
		list = append(list, run...)
	}
	return cut(tab, list, first, keys)
}

func cut(tab *table.Table, list []place, first int64, keys []expr.SortKey) (out []string) {
	slices.SortStableFunc(list, by(tab, keys))
	if first >= 0 && first < int64(len(list)) {
		list = list[:first]
	}
	for _, p := range list {
		out = append(out, fmt.Sprint(p))
	}
	return out
}
