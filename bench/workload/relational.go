package workload

import (
	"context"
	"math/bits"
	"math/rand/v2"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/table"
)

// RelationalSource is tables for sorts, groups and joins, of as many rows each. f has a key of 31 bits, a group
// of 1,000 values and one of five eighths as many values as rows. It has foreign keys, dense and sparse. u has
// these keys once each, in no order. d has keys that three quarters as many rows would have, so that some are
// there several times.
func RelationalSource() Source {
	const seed = 1
	integer := func(name string) table.Field {
		return table.Field{Name: name, Type: table.Type{Kind: table.BigInt}}
	}
	return Source{
		Data: report.Data{Name: "relational", Seed: seed}, RowBytes: 8 * 9,
		Table: func(ctx context.Context, rows int) (*table.Table, error) {
			n := int64(rows)
			return built(ctx, "f", rows, seed, []table.Field{integer("k"), integer("few"), integer("many"), integer("key"), integer("sparse"), integer("v")}, func(r *rand.Rand, _ int, out []int64) {
				key := r.Int64N(n)
				out[0], out[1], out[2], out[3], out[4], out[5] = r.Int64N(1<<31), r.Int64N(1000), r.Int64N(max(1, n*5/8)), key, scattered(key), r.Int64N(1<<19)
			})
		},
		Beside: func(ctx context.Context, rows int) ([]*table.Table, error) {
			n := int64(rows)
			order := rand.New(rand.NewPCG(seed, 2)).Perm(rows)
			u, err := built(ctx, "u", rows, seed+1, []table.Field{integer("key"), integer("sparse"), integer("w")}, func(r *rand.Rand, i int, out []int64) {
				key := int64(order[i])
				out[0], out[1], out[2] = key, scattered(key), r.Int64N(100)
			})
			if err != nil {
				return nil, err
			}
			d, err := built(ctx, "d", rows, seed+2, []table.Field{integer("key"), integer("w")}, func(r *rand.Rand, _ int, out []int64) {
				out[0], out[1] = r.Int64N(max(1, n*3/4)), r.Int64N(100)
			})
			return []*table.Table{u, d}, err
		},
	}
}

// scattered is a number of 62 bits for each of 31 bits, another one for each.
func scattered(key int64) int64 {
	return int64(bits.Reverse32(uint32(key))>>1)<<31 | (key*2654435761)&(1<<31-1)
}

// built makes a table of integers.
func built(ctx context.Context, name string, rows int, seed uint64, fields []table.Field, row func(r *rand.Rand, i int, out []int64)) (*table.Table, error) {
	b, r, values := table.NewBuilder(name, fields, 0), rand.New(rand.NewPCG(seed, 1)), make([]int64, len(fields))
	for i := range rows {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row(r, i, values)
		for c, v := range values {
			b.Column(c).Int(v)
		}
		if err := b.EndRow(); err != nil {
			return nil, err
		}
	}
	return b.Table(), nil
}

// RelationalOperations are the operators of analytical queries.
func RelationalOperations() (list []Operation) {
	for _, q := range []struct{ name, sql string }{
		{"order", "SELECT k, v FROM f ORDER BY k, v OFFSET " + LastRow},
		{"top_100", "SELECT k, v FROM f ORDER BY k, v LIMIT 100"},
		{"distinct", "SELECT COUNT(DISTINCT many) FROM f"},
		{"group_1000", "SELECT few, SUM(v) FROM f GROUP BY few"},
		{"group_many", "SELECT many, MAX(v) FROM f GROUP BY many ORDER BY many LIMIT 10"},
		{"rollup", "SELECT few, key % 2, COUNT(*) FROM f GROUP BY ROLLUP (few, key % 2) ORDER BY 1, 2, 3 LIMIT 10"},
		{"join_dense", "SELECT COUNT(*) FROM f JOIN u ON f.key = u.key"},
		{"join_sparse", "SELECT COUNT(*) FROM f JOIN u ON f.sparse = u.sparse"},
		{"join_values", "SELECT SUM(v), SUM(w) FROM f JOIN u ON f.key = u.key"},
		{"join_group", "SELECT w, COUNT(*), SUM(v) FROM f JOIN u ON f.key = u.key GROUP BY w"},
		{"join_duplicates", "SELECT COUNT(*), SUM(w) FROM f JOIN d ON f.key = d.key"},
		{"join_left", "SELECT COUNT(*), SUM(w) FROM f LEFT JOIN d ON f.key = d.key AND w < 50"},
	} {
		list = append(list, Operation{Name: q.name, Query: func(*TableProfile) meter.Query { return meter.Query{SQL: q.sql} }})
	}
	return list
}
