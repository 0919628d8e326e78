package workload

import (
	"math/rand/v2"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/testdata"
)

// SSBRows is the number of rows of lineorder at scale 1.
const SSBRows = 6_000_000

// SSBSource is the tables of the benchmark.
func SSBSource() Source {
	return databaseSource("ssb", SSBRows, "lo_orderkey", "lo_linenumber", "lo_orderpriority", "lo_shippriority", "lo_ordtotalprice", "lo_tax", "lo_commitdate", "lo_shipmode")
}

// SSBOperations are the thirteen queries of the benchmark (O'Neil, O'Neil, Chen: "Star Schema Benchmark",
// revision 3, 2009, section 3). Their constants are those that it fixes, or are drawn.
func SSBOperations() (list []Operation) {
	type p = generate.Parameters
	for _, q := range []struct {
		name, sql string
		fixed     p
	}{
		{"q1.1", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_year = {year} AND lo_discount BETWEEN {discount1} AND {discount2} AND lo_quantity < {quantity}`,
			p{"year": "1993", "discount1": "1", "discount2": "3", "quantity": "25"}},
		{"q1.2", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_yearmonthnum = {month} AND lo_discount BETWEEN {discount1} AND {discount2} AND lo_quantity BETWEEN {quantity1} AND {quantity2}`,
			p{"month": "199401", "discount1": "4", "discount2": "6", "quantity1": "26", "quantity2": "35"}},
		{"q1.3", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_weeknuminyear = {week} AND d_year = {year} AND lo_discount BETWEEN {discount1} AND {discount2} AND lo_quantity BETWEEN {quantity1} AND {quantity2}`,
			p{"week": "6", "year": "1994", "discount1": "5", "discount2": "7", "quantity1": "26", "quantity2": "35"}},
		{"q2.1", ssbBrands + `AND p_category = '{category}' AND s_region = '{region}'` + byBrand, p{"category": "MFGR#12", "region": "AMERICA"}},
		{"q2.2", ssbBrands + `AND p_brand1 BETWEEN '{from}' AND '{to}' AND s_region = '{region}'` + byBrand, p{"from": "MFGR#2221", "to": "MFGR#2228", "region": "ASIA"}},
		{"q2.3", ssbBrands + `AND p_brand1 = '{brand}' AND s_region = '{region}'` + byBrand, p{"brand": "MFGR#2239", "region": "EUROPE"}},
		{"q3.1", ssbTrade("nation") + `AND c_region = '{customers}' AND s_region = '{suppliers}' AND d_year >= 1992 AND d_year <= 1997` + byTrade("nation"),
			p{"customers": "ASIA", "suppliers": "ASIA"}},
		{"q3.2", ssbTrade("city") + `AND c_nation = '{customers}' AND s_nation = '{suppliers}' AND d_year >= 1992 AND d_year <= 1997` + byTrade("city"),
			p{"customers": "UNITED STATES", "suppliers": "UNITED STATES"}},
		{"q3.3", ssbTrade("city") + twoCities + `AND d_year >= 1992 AND d_year <= 1997` + byTrade("city"),
			p{"customers1": "UNITED KI1", "customers2": "UNITED KI5", "suppliers1": "UNITED KI1", "suppliers2": "UNITED KI5"}},
		{"q3.4", ssbTrade("city") + twoCities + `AND d_yearmonth = '{month}'` + byTrade("city"),
			p{"customers1": "UNITED KI1", "customers2": "UNITED KI5", "suppliers1": "UNITED KI1", "suppliers2": "UNITED KI5", "month": "Dec1997"}},
		{"q4.1", ssbProfit("d_year, c_nation") + `AND c_region = '{customers}' AND s_region = '{suppliers}' AND (p_mfgr = '{maker1}' OR p_mfgr = '{maker2}')` + by("d_year, c_nation"),
			p{"customers": "AMERICA", "suppliers": "AMERICA", "maker1": "MFGR#1", "maker2": "MFGR#2"}},
		{"q4.2", ssbProfit("d_year, s_nation, p_category") + `AND c_region = '{customers}' AND s_region = '{suppliers}' AND (d_year = {year} OR d_year = 1998)
			AND (p_mfgr = '{maker1}' OR p_mfgr = '{maker2}')` + by("d_year, s_nation, p_category"),
			p{"customers": "AMERICA", "suppliers": "AMERICA", "year": "1997", "maker1": "MFGR#1", "maker2": "MFGR#2"}},
		{"q4.3", ssbProfit("d_year, s_city, p_brand1") + `AND c_region = '{customers}' AND s_nation = '{suppliers}' AND (d_year = {year} OR d_year = 1998)
			AND p_category = '{category}'` + by("d_year, s_city, p_brand1"),
			p{"customers": "AMERICA", "suppliers": "UNITED STATES", "year": "1997", "category": "MFGR#14"}},
	} {
		with := func(values p) string { return testdata.Fill(report.OneLine(q.sql), values) }
		list = append(list, Operation{Name: q.name, Query: func(*TableProfile) meter.Query { return meter.Query{SQL: with(q.fixed)} },
			Draws: func(_ *TableProfile, n int) []string {
				return draws(q.name, with(q.fixed), n, func(r *rand.Rand) string { return with(generate.DrawSSB(q.name, r)) })
			}})
	}
	return list
}

const (
	ssbBrands = `SELECT SUM(lo_revenue) AS lo_revenue, d_year, p_brand1 FROM lineorder, date, part, supplier
		WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey `
	byBrand   = ` GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1`
	twoCities = `AND (c_city = '{customers1}' OR c_city = '{customers2}') AND (s_city = '{suppliers1}' OR s_city = '{suppliers2}') `
)

// ssbTrade is revenue by the places of customers and suppliers.
func ssbTrade(place string) string {
	return `SELECT c_` + place + `, s_` + place + `, d_year, SUM(lo_revenue) AS revenue FROM customer, lineorder, supplier, date
		WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey `
}

func byTrade(place string) string {
	return ` GROUP BY c_` + place + `, s_` + place + `, d_year ORDER BY d_year ASC, revenue DESC`
}

// ssbProfit is profit by those columns.
func ssbProfit(columns string) string {
	return `SELECT ` + columns + `, SUM(lo_revenue - lo_supplycost) AS profit FROM date, customer, supplier, part, lineorder
		WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey `
}

func by(columns string) string { return ` GROUP BY ` + columns + ` ORDER BY ` + columns }
