package draw

import (
	"context"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// CountFirst puts COUNT(*) before the aggregates of a query.
func CountFirst(q *plan.Fragment) *plan.Fragment {
	out := *q
	out.Aggs = append([]expr.Aggregate{{Kind: expr.CountAll, Col: -1, P: -1}}, q.Aggs...)
	return &out
}

// Query draws a query; most of those that select all or nothing, or that fail, are drawn again.
func Query(t *rapid.T, tab *table.Table, k plantest.Knobs) *plan.Fragment {
	for try := 0; ; try++ {
		q := CountFirst(plantest.Query(t, tab, k))
		if try == 2 || rapid.IntRange(0, 3).Draw(t, "any") == 0 {
			return q
		}
		count := *q
		count.Aggs = q.Aggs[:1]
		v, err := cpu.Scalar(context.Background(), tab, &count)
		if err == nil && v[0].I > 0 && v[0].I < int64(tab.Rows()) {
			return q
		}
	}
}

// Table draws a table of these fields: mostly a few rows, else thousands that
// repeat their values with others in between. Half have several chunks.
func Table(t *rapid.T, name string, fields []table.Field, k plantest.Knobs, maxRows int) *table.Table {
	if rapid.Bool().Draw(t, "one chunk") {
		k.MaxChunk = 0
	}
	small := plantest.TableOf(t, name, fields, k)
	if small.Rows() == 0 || rapid.IntRange(0, 3).Draw(t, "large") > 0 {
		return small
	}
	chunk := 0
	if k.MaxChunk > 0 {
		chunk = rapid.IntRange(100, 1000).Draw(t, "chunk")
	}
	return enlarge(small, rapid.IntRange(25, maxRows).Draw(t, "rows"), chunk, rapid.Uint64().Draw(t, "seed"))
}

// enlarge makes a table of n rows whose columns repeat the values of a small one in any order. Integers may
// also be near to these values, or between them. In two of three tables some rows are deleted.
func enlarge(small *table.Table, n, chunk int, seed uint64) *table.Table {
	rnd := rand.New(rand.NewPCG(seed, 0))
	columns := make([][]table.Value, len(small.Fields))
	for _, c := range small.Compacted().Chunks {
		for i, s := range c.Segments {
			for row := range c.Rows {
				columns[i] = append(columns[i], s.Value(row))
			}
		}
	}
	b := table.NewBuilder(small.Name, small.Fields, chunk)
	for range n {
		for i, list := range columns {
			v := list[rnd.IntN(len(list))]
			other := list[rnd.IntN(len(list))]
			if v.Type.Kind == table.Integer || v.Type.Kind == table.BigInt {
				v = between(rnd, v, other)
			}
			b.Column(i).Value(v)
		}
		if err := b.EndRow(); err != nil {
			panic(err) // a value was appended to every column
		}
	}
	return thinned(rnd, b.Table(), rnd.IntN(3))
}

// thinned deletes about one row in ten of every chunk where tenths is 1, one in five
// where it is 2.
func thinned(rnd *rand.Rand, tab *table.Table, tenths int) *table.Table {
	var chunks []*table.Chunk
	for _, c := range tab.Chunks {
		var rows []int
		for row := range c.Rows {
			if rnd.IntN(10) < tenths {
				rows = append(rows, row)
			}
		}
		c, err := c.Delete(rows)
		if err != nil {
			panic(err) // the rows are the chunk's
		}
		chunks = append(chunks, c)
	}
	return tab.With(chunks...)
}

// between is v, or, half of the time, an integer between v and w.
func between(rnd *rand.Rand, v, w table.Value) table.Value {
	if v.Null || w.Null || rnd.IntN(2) == 0 {
		return v
	}
	if v.I > w.I {
		v, w = w, v
	}
	v.I += int64(rnd.Uint64N(uint64(w.I-v.I) | 1)) // the difference may exceed 63 bits: it wraps to the right sum
	return v
}

// EveryField is columns of all types, some of a type.
var EveryField = []table.Field{
	{Name: "flag", Type: table.Type{Kind: table.Boolean}},
	{Name: "i", Type: table.Type{Kind: table.Integer}},
	{Name: "j", Type: table.Type{Kind: table.BigInt}},
	{Name: "k", Type: table.Type{Kind: table.BigInt}},
	{Name: "c", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	{Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	{Name: "f", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 5}},
	{Name: "r", Type: table.Type{Kind: table.Real}},
	{Name: "q", Type: table.Type{Kind: table.Real}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
	{Name: "y", Type: table.Type{Kind: table.Double}},
	{Name: "day", Type: table.Type{Kind: table.Date}},
	{Name: "due", Type: table.Type{Kind: table.Date}},
	{Name: "stamp", Type: table.Type{Kind: table.Timestamp}},
	{Name: "until", Type: table.Type{Kind: table.Timestamp}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
}

// GroupFields are sqliteFields and DECIMALs.
var GroupFields = append(slices.Clone(SQLiteFields),
	table.Field{Name: "money", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	table.Field{Name: "rate", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 6}})

// SQLiteFields are two columns or more of each type that SQLite has, or can stand
// for with another.
var SQLiteFields = []table.Field{
	{Name: "flag", Type: table.Type{Kind: table.Boolean}},
	{Name: "s", Type: table.Type{Kind: table.SmallInt}},
	{Name: "i", Type: table.Type{Kind: table.Integer}},
	{Name: "j", Type: table.Type{Kind: table.BigInt}},
	{Name: "k", Type: table.Type{Kind: table.BigInt}},
	{Name: "r", Type: table.Type{Kind: table.Real}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
	{Name: "y", Type: table.Type{Kind: table.Double}},
	{Name: "day", Type: table.Type{Kind: table.Date}},
	{Name: "stamp", Type: table.Type{Kind: table.Timestamp}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
	{Name: "name", Type: table.Type{Kind: table.Varchar}},
}
