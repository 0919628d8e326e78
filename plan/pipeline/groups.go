package pipeline

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Groups leaves a row for each group, rows that are equal in all keys (NULL equals NULL): the keys and the aggregates.
type Groups struct {
	Keys []expr.Expr
	Aggs []expr.Aggregate
	// Sets, when set, are grouping sets, each some of the keys by their places: the groups of one set after those of the other. A column
	// behind the keys then has bit i set where key i is not in the set.
	Sets [][]int
}

// Fields, Exprs and String implement [Sink].
func (g *Groups) Fields([]table.Field) []table.Field {
	list := xslices.Map(g.Keys, func(k expr.Expr) table.Field { return table.Field{Name: k.String(), Type: k.Type()} })
	if g.Sets != nil {
		list = append(list, table.Field{Name: "grouping", Type: table.Type{Kind: table.BigInt}})
	}
	return aggregateFields(list, g.Aggs)
}

func (g *Groups) Exprs() []expr.Expr { return slices.Concat(g.Keys, aggregateExprs(g.Aggs)) }

func (g *Groups) String() string {
	by := texts(g.Keys, expr.Expr.String)
	if g.Sets != nil {
		by = texts(g.Sets, func(set []int) string {
			return "(" + texts(set, func(k int) string { return g.Keys[k].String() }) + ")"
		})
	}
	return "Groups(" + strings.TrimSpace(texts(g.Aggs, expr.Aggregate.String)+" BY "+by) + ")"
}
