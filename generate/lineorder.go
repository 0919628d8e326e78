package generate

import (
	"sync"
	"time"

	"github.com/stencildb/stencildb/table"
)

// lineorder is nine INTEGER columns, for statements that use a part of a wide file. Each is uniform in the
// range that it has in the lineorder table of the Star Schema Benchmark (O'Neil and others, 2009) at scale
// 20. lo_orderdate is a day from 1992-01-01 to 1998-12-31, written as 19920101.
func lineorder() Generator {
	g := Generator{
		Name:        "lineorder",
		Doc:         "nine INTEGER columns, uniform in the ranges of SSB's lineorder at scale 20",
		DefaultRows: 1_000_000,
	}
	for i, c := range []struct {
		name   string
		lo, hi int64
	}{
		{"lo_orderdate", 19920101, 19981231}, {"lo_discount", 0, 10}, {"lo_quantity", 1, 50}, {"lo_extendedprice", 90_000, 10_494_950},
		{"lo_custkey", 1, 600_000}, {"lo_partkey", 1, 1_000_000}, {"lo_suppkey", 1, 40_000}, {"lo_revenue", 81_000, 10_494_950}, {"lo_supplycost", 54_000, 125_940},
	} {
		below := func(r row, n int64) int64 { return int64(r.random(uint64(i)) >> 32 * uint64(n) >> 32) }
		value := func(r row) int64 { return c.lo + below(r, c.hi-c.lo+1) }
		if i == 0 {
			value = func(r row) int64 { return orderDays()[below(r, int64(len(orderDays())))] }
		}
		g.cols = append(g.cols, integers(c.name, table.Integer, c.lo, c.hi, value))
	}
	return g
}

// orderDays are the days of orders.
var orderDays = sync.OnceValue(func() (list []int64) {
	for d := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 1999; d = d.AddDate(0, 0, 1) {
		list = append(list, int64(d.Year()*10_000+int(d.Month())*100+d.Day()))
	}
	return list
})
