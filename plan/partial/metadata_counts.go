package partial

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// MetadataCounts returns what Finish would, for counts of chunks of which all records are selected, or none. It looks at
// no record.
func MetadataCounts(q *physical.Query) (values []table.Value, ok bool) {
	for _, a := range q.Aggs {
		all := a.Kind == expr.CountAll || a.Kind == expr.Selectivity
		if a.X != nil || a.Distinct || a.Filter != nil || !all && a.Kind != expr.Count {
			return nil, false
		}
		var n uint64
		for i, c := range q.Chunks {
			chunk := q.Table.Chunks[i]
			switch {
			case len(c.Checks) > 0 || c.Pred.Op != predicate.True && c.Pred.Op != predicate.False:
				return nil, false
			case c.Pred.Op == predicate.False:
			case all:
				n += uint64(chunk.Rows)
			default:
				n += uint64(chunk.Segments[a.Col].NonNull())
			}
		}
		if a.Kind == expr.Selectivity {
			values = append(values, SelectivityOf(n, uint64(q.Table.Rows())))
		} else {
			values = append(values, table.Int(int64(n)))
		}
	}
	return values, len(q.Aggs) > 0
}
