// Package testdata embeds the real data set of the tour and the tests, the queries of TPC-H, and SQL with its answers. README.md
// beside it says where the data come from and under which licence.
package testdata

import (
	"embed"
	"fmt"
	"maps"
	"strings"
)

// Flights200k is a Parquet file of 200,000 flights within the United States. Its columns are delay (minutes,
// SMALLINT), distance (miles, SMALLINT) and time (hour of the day of departure, REAL). No value is NULL.
//
//go:embed flights-200k.parquet
var Flights200k []byte

//go:embed tpch/*.sql
var tpch embed.FS

// SLT has the sqllogictest files (*.slt) of package internal/slt, and the files of rows (*.csv) that they read.
//
//go:embed slt
var SLT embed.FS

// Query is a statement with a name.
type Query struct{ Name, SQL string }

// validation has the parameters with which the specification validates each query (clauses 2.4.1.4 to 2.4.22.4). The
// fraction of q11 follows from the scale instead.
var validation = map[string]map[string]string{
	"q01": {"delta": "90"},
	"q02": {"size": "15", "type": "BRASS", "region": "EUROPE"},
	"q03": {"segment": "BUILDING", "date": "1995-03-15"},
	"q04": {"date": "1993-07-01"},
	"q05": {"region": "ASIA", "date": "1994-01-01"},
	"q06": {"date": "1994-01-01", "discount": "0.06", "quantity": "24"},
	"q07": {"nation1": "FRANCE", "nation2": "GERMANY"},
	"q08": {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
	"q09": {"color": "green"},
	"q10": {"date": "1993-10-01"},
	"q11": {"nation": "GERMANY"},
	"q12": {"shipmode1": "MAIL", "shipmode2": "SHIP", "date": "1994-01-01"},
	"q13": {"word1": "special", "word2": "requests"},
	"q14": {"date": "1995-09-01"},
	"q15": {"date": "1996-01-01"},
	"q16": {"brand": "Brand#45", "type": "MEDIUM POLISHED", "size1": "49", "size2": "14", "size3": "23", "size4": "45", "size5": "19", "size6": "3", "size7": "36", "size8": "9"},
	"q17": {"brand": "Brand#23", "container": "MED BOX"},
	"q18": {"quantity": "300"},
	"q19": {"brand1": "Brand#12", "brand2": "Brand#23", "brand3": "Brand#34", "quantity1": "1", "quantity2": "10", "quantity3": "20"},
	"q20": {"color": "forest", "date": "1994-01-01", "nation": "CANADA"},
	"q21": {"nation": "SAUDI ARABIA"},
	"q22": {"code1": "13", "code2": "31", "code3": "23", "code4": "29", "code5": "30", "code6": "18", "code7": "17"},
}

// TPCH are the 22 queries of TPC-H over tables of a scale, q01 to q22. They have the parameters with which the
// specification validates them (section 2.4), and q15 uses WITH (variant A).
func TPCH(scale float64) (list []Query) {
	for n := 1; n <= 22; n++ {
		name := fmt.Sprintf("q%02d", n)
		list = append(list, Query{name, TPCHWith(name, scale, validation[name])})
	}
	return list
}

// TPCHWith is one of the queries with those parameters, by their names in its text.
func TPCHWith(name string, scale float64, parameters map[string]string) string {
	text, err := tpch.ReadFile("tpch/" + name + ".sql")
	if err != nil {
		panic(err) // it is embedded
	}
	all := maps.Clone(parameters)
	all["fraction"] = fmt.Sprintf("%.10f", 0.0001/scale)
	return Fill(strings.TrimSpace(string(text)), all)
}

// Fill puts values in the place of their names in braces.
func Fill(text string, values map[string]string) string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
