package bench

import (
	"math/rand/v2"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/testdata"
)

// tpchLines is the number of rows of lineitem at scale 1.
const tpchLines = 6_000_000

// tpchSource is the tables of TPC-H.
func tpchSource() Source {
	return databaseSource("tpch", tpchLines, "l_linenumber", "l_comment", "o_clerk", "ps_comment", "p_retailprice", "p_comment", "n_comment", "r_comment")
}

// tpchOperations are its 22 queries, with the parameters of its validation, and with those that its rules draw.
func tpchOperations() (list []Operation) {
	scale := func(f *facts) float64 { return float64(f.rows) / tpchLines }
	for i, q := range testdata.TPCH(1) {
		valid := func(f *facts) string { return oneLine(testdata.TPCH(scale(f))[i].SQL) }
		list = append(list, Operation{Name: q.Name, query: func(f *facts) Query { return Query{SQL: valid(f)} },
			draws: func(f *facts, n int) []string {
				return draws(q.Name, valid(f), n, func(r *rand.Rand) string {
					return oneLine(testdata.TPCHWith(q.Name, scale(f), generate.DrawTPCH(q.Name, r)))
				})
			}})
	}
	return list
}
