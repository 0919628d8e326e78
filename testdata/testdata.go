// Package testdata embeds the real data set of the tour and the tests, and the queries of TPC-H. README.md
// beside it says where the data come from and under which licence.
package testdata

import (
	"embed"
	"fmt"
	"strings"
)

// Flights200k is a Parquet file of 200,000 flights within the United States: delay
// (minutes, SMALLINT), distance (miles, SMALLINT) and time (hour of the day of
// departure, REAL). No value is NULL.
//
//go:embed flights-200k.parquet
var Flights200k []byte

//go:embed tpch/*.sql
var tpch embed.FS

// Query is a statement with a name.
type Query struct{ Name, SQL string }

// TPCH are the 22 queries of TPC-H over tables of a scale, q01 to q22: with the parameters with which the specification
// validates them (section 2.4), q15 by WITH (variant A).
func TPCH(scale float64) (list []Query) {
	for n := 1; n <= 22; n++ {
		name := fmt.Sprintf("q%02d", n)
		text, err := tpch.ReadFile("tpch/" + name + ".sql")
		if err != nil {
			panic(err) // it is embedded
		}
		sql := strings.ReplaceAll(strings.TrimSpace(string(text)), "{fraction}", fmt.Sprintf("%.10f", 0.0001/scale))
		list = append(list, Query{name, sql})
	}
	return list
}
