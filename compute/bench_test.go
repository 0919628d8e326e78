package compute_test

import (
	"os"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of whole queries on prepared plans, in turns; it reports the median
// wall time of each on the GL thread:
//
//	go test -tags egl -run - -bench Query ./compute
//
// STENCILDB_BENCH_ROWS=268435456 picks other sizes (a comma-separated list).
func BenchmarkQuery(b *testing.B) { gltest.EachSize(b, benchmarkRows) }

type benchQuery struct {
	name  string
	query *physical.Query
}

func benchQueries(t *table.Table) []*benchQuery {
	all := &predicate.Pred{Op: predicate.True}
	const sixty, eighty = 314573, 419430
	agg := func(k expr.AggKind) expr.Aggregate {
		return expr.Aggregate{Kind: k, Col: 0, Name: "a", Arg: table.Type{Kind: table.BigInt}, F: 0.5}
	}
	count := expr.Aggregate{Kind: expr.CountAll, Col: -1}
	and := &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{plantest.LessThan(0, sixty), plantest.LessThan(1, sixty), plantest.LessThan(2, sixty), plantest.LessThan(3, sixty)}}
	between := plantest.LeafOf(&predicate.Range{Col: 0, Lo: 104858, Hi: eighty, Text: "a BETWEEN 104858 AND 419430"})
	var list []*benchQuery
	add := func(name string, p *predicate.Pred, aggs ...expr.Aggregate) {
		list = append(list, &benchQuery{name: name, query: &physical.Query{Table: t, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: aggs}})
	}
	add("COUNT", plantest.LessThan(0, sixty), count)
	add("BETWEEN", between, count)
	add("AND4", and, count)
	if os.Getenv("STENCILDB_BENCH_SEMILINEAR") != "" {
		add("semilinear", plantest.Semilinear(), count)
	}
	add("SUM", all, agg(expr.Sum))
	add("SUM_WHERE", plantest.LessThan(1, eighty), agg(expr.Sum))
	add("MAX", all, agg(expr.Max))
	add("MEDIAN", all, agg(expr.Percentile))
	add("MEDIAN_WHERE", plantest.LessThan(1, eighty), agg(expr.Percentile))
	third := agg(expr.Percentile)
	third.F = 0.3
	add("two_quantiles", all, agg(expr.Percentile), third)
	return list
}

func benchmarkRows(b *testing.B, rows int) {
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		list := benchQueries(plantest.UniformCodes(rows))
		var runs []*gltest.Timed
		for _, x := range list {
			runs = append(runs, &gltest.Timed{Name: x.name, Do: func() error {
				_, err := answer(g, d, x.query)
				g.End()
				return err
			}})
		}
		gltest.InTurns(b, ctx, 5, runs)
	})
}
