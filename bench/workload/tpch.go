package workload

import (
	"math/rand/v2"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/testdata"
)

// TPCHRows is the number of rows of lineitem at scale 1.
const TPCHRows = 6_000_000

// TPCHSource is the tables of TPC-H.
func TPCHSource() Source {
	return databaseSource("tpch", TPCHRows, "l_linenumber", "l_comment", "o_clerk", "ps_comment", "p_retailprice", "p_comment", "n_comment", "r_comment")
}

// TPCHOperations are its 22 queries, with the parameters of its validation, and with those that its rules draw.
func TPCHOperations() (list []Operation) {
	scale := func(f *TableProfile) float64 { return float64(f.Rows) / TPCHRows }
	for i, q := range testdata.TPCH(1) {
		valid := func(f *TableProfile) string { return report.OneLine(testdata.TPCH(scale(f))[i].SQL) }
		list = append(list, Operation{Name: q.Name, Query: func(f *TableProfile) meter.Query { return meter.Query{SQL: valid(f)} },
			Draws: func(f *TableProfile, n int) []string {
				return draws(q.Name, valid(f), n, func(r *rand.Rand) string {
					return report.OneLine(testdata.TPCHWith(q.Name, scale(f), generate.DrawTPCH(q.Name, r)))
				})
			}})
	}
	return list
}
