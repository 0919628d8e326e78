package generate

import (
	"fmt"
	"math"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Streams of random bits of DBmbench.
const (
	dbmFact = 10_000 + 10*iota
	dbmKeys
)

// dbmbench is DBmbench as He and others have it (2009, section 6.1, table IV). It is from Shao, Ailamaki, Falsafi: "DBmbench: Fast and
// accurate database workload representation on modern microarchitecture", 2005. a1, a2 and a3 are uniform from 1 to 150,000, 20,000 and 50;
// padding makes a record of 100 bytes. Their text gives no rows, and has T2.a1 refer to T1.a1. What is referred to is unique, and their
// times say that T1 is the large table. So T1 has 16,000,000 rows here, and T2 has each a1 once. At other scales a1 goes up to the number
// of rows of T2.
func dbmbench(scale float64) ([]Generator, error) {
	if !(scale >= 0.0001 && scale <= 100) {
		return nil, fmt.Errorf("dbmbench: scale %v: want 0.0001 to 100", scale)
	}
	rows := func(n float64) int { return max(1, int(math.Round(n*scale))) }
	keys := rows(150_000)
	columns := func(stream uint64, a1 func(row) int64) []genColumn {
		from1 := func(name string, stream uint64, most int) genColumn {
			return integers(name, table.Integer, 1, int64(most), func(r row) int64 { return 1 + int64(r.below(stream, most)) })
		}
		return []genColumn{
			integers("a1", table.Integer, 1, int64(keys), a1), from1("a2", stream+1, 20_000), from1("a3", stream+2, 50),
			words("padding", paddings, pick(stream+3, len(paddings))),
		}
	}
	return []Generator{
		{Name: "t1", Doc: "records whose a1 refers to t2", DefaultRows: rows(16_000_000), cols: columns(dbmFact, func(r row) int64 { return 1 + int64(r.below(dbmFact, keys)) })},
		{Name: "t2", Doc: "a record for each a1", DefaultRows: keys, cols: columns(dbmKeys, func(r row) int64 { return 1 + int64(r.permuted()) })},
	}, nil
}

// paddings are the values of padding: 88 bytes beside three integers of 4.
var paddings = func() (list []string) {
	for c := 'A'; c <= 'Z'; c++ {
		list = append(list, strings.Repeat(string(c), 88))
	}
	return list
}()
