package bench

import "github.com/stencildb/stencildb/testdata"

// tpchLines is the number of rows of lineitem at scale 1.
const tpchLines = 6_000_000

// tpchSource is the tables of TPC-H.
func tpchSource() Source {
	return databaseSource("tpch", tpchLines, "l_linenumber", "l_comment", "o_clerk", "ps_comment", "p_retailprice", "p_comment", "n_comment", "r_comment")
}

// tpchOperations are its 22 queries.
func tpchOperations() (list []Operation) {
	for i, q := range testdata.TPCH(1) {
		list = append(list, Operation{Name: q.Name, query: func(f *facts) Query {
			return Query{SQL: oneLine(testdata.TPCH(float64(f.rows) / tpchLines)[i].SQL)}
		}})
	}
	return list
}
