package cost

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// wideTable has a column i of some bits and one x of DOUBLE.
func wideTable(rows, bits int) *table.Table {
	t := &table.Table{Name: "t", Fields: []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}}}}
	t.Chunks = []*table.Chunk{{Rows: rows, Segments: []*table.Segment{
		{Type: t.Fields[0].Type, Base: table.OrdinalInt(0), Max: 1<<bits - 1, Bits: bits, Codes: table.Codes{U32: make([]uint32, rows)}},
		{Type: t.Fields[1].Type, Base: table.OrdinalFloat64(0), Max: table.OrdinalFloat64(1) - table.OrdinalFloat64(0), Bits: 62, Codes: table.Codes{U64: make([]uint64, rows)}},
	}}}
	return t
}

// profiles are a device and a host that know joins, groups and sorts, too.
func profiles() (gpu, cpu Backend) {
	gpu, cpu = device(), host()
	for _, c := range []Class{Groups, ManyGroups, Sort, TopRows, Join, Pairs, FloatSum, FloatSumOf, Products, ProductsOf} {
		gpu.Costs[c], cpu.Costs[c] = Curves{line(8, 30e-6, 20e-12), line(40, 30e-6, 90e-12)}, Curves{line(8, 1e-6, 3e-9), line(64, 1e-6, 5e-9)}
	}
	return gpu, cpu
}

// What rows are expected to take before a join has given them is what they take as a table.
func TestExpectedWorkIsThatOfTheRowsThatCome(t *testing.T) {
	gpu, cpu := profiles()
	rapid.Check(t, func(rt *rapid.T) {
		rows, bits := rapid.IntRange(1, 300_000).Draw(rt, "rows"), rapid.IntRange(1, 32).Draw(rt, "bits")
		text := rapid.SampledFrom([]string{
			"SELECT COUNT(*) FROM t WHERE i > 0", "SELECT SUM(i), MIN(x) FROM t WHERE x > 0.5 AND i <> 1", "SELECT SUM(x), MEDIAN(i) FROM t",
			"SELECT SUM(i * i) FROM t WHERE i > 0", "SELECT i, COUNT(*), SUM(i) FROM t GROUP BY i", "SELECT i FROM t ORDER BY i, x", "SELECT i FROM t ORDER BY i LIMIT 3",
		}).Draw(rt, "text")
		tab := wideTable(rows, bits)
		q, err := sql.Plan(tab, text)
		if err != nil {
			rt.Fatal(err)
		}
		there := Of(q)
		expected := OfRows(&plan.Fragment{Where: q.Where, Aggs: q.Aggs, Groups: q.Groups, Order: q.Order, Columns: q.Columns}, rows, func(col int) (*table.Table, int) { return tab, col })
		for name, b := range map[string]Backend{"the device": gpu, "the host": cpu} {
			if got, want := b.Run(expected), b.Run(there); math.Abs(got-want) > 1e-9*want {
				rt.Fatalf("%s: %v s expected on %s, %v when the rows are there", text, got, name, want)
			}
		}
	})
}

// A join is expected to take what it takes as it is asked for.
func TestExpectedJoinIsTheOneThatIsAsked(t *testing.T) {
	gpu, cpu := profiles()
	rapid.Check(t, func(rt *rapid.T) {
		bits := rapid.IntRange(1, 32).Draw(rt, "bits")
		q := &physical.JoinQuery{Cmp: expr.EQ, Limit: 1 << 40, Exists: rapid.Bool().Draw(rt, "exists")}
		var of [2]Side
		most := 0
		for i := range of {
			tab := wideTable(rapid.IntRange(1, 300_000).Draw(rt, "rows"), bits)
			var err error
			if q.Sides[i], err = physical.NewQuery(tab, &plan.Fragment{Table: "t"}); err != nil {
				rt.Fatal(err)
			}
			of[i] = Side{Rows: tab.Rows(), Table: tab, Keys: []int{0}}
			most = max(most, tab.Rows())
		}
		c := &expr.Column{Name: "i", T: table.Type{Kind: table.BigInt}, P: -1}
		q.Keys = []physical.JoinKey{{c, c}}
		if q.Exists {
			most = of[0].Rows
		}
		there, expected := OfPairs(q), OfJoin(of, most)
		for name, b := range map[string]Backend{"the device": gpu, "the host": cpu} {
			if got, want := b.Run(expected), b.Run(there); math.Abs(got-want) > 1e-9*want {
				rt.Fatalf("%v s expected on %s, %v when it is asked for", got, name, want)
			}
		}
		if len(there.Columns) != len(expected.Columns) {
			rt.Fatalf("%d columns expected, %d are read", len(expected.Columns), len(there.Columns))
		}
	})
}
