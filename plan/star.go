package plan

import "github.com/stencildb/stencildb/expr"

// Dimension is a table that the rows of a query's table are joined to, by one of their columns with
// the key of the other: no two of its rows that count have the same. What a row needs of it stands in
// arrays over the ordinals of the column.
type Dimension struct {
	Name string // of the table
	On   string // the condition of the join, and the table's own
	Col  int    // of the query's table
	Base uint64 // the ordinal of the first place
	Bits []uint32
	// Digits are by place one more than the number of what the keys read of the partner, 0 where there is
	// none; nil where they read nothing of it.
	Digits []uint32
	Size   int     // how many of these numbers there are
	Share  float64 // of the places that have a partner: the fewest are looked up first
}

// Places is how many ordinals there are from Base on.
func (d *Dimension) Places() int { return 32 * len(d.Bits) }

// Moved is the aggregation over other columns: see [expr.Moved].
func (a *Aggregate) Moved(at func(column int) int) *Aggregate {
	out := &Aggregate{}
	for _, k := range a.Keys {
		out.Keys = append(out.Keys, expr.Moved(k, at))
	}
	for _, g := range a.Aggs {
		out.Aggs = append(out.Aggs, g.Moved(at))
	}
	return out
}
