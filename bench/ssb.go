package bench

// ssbLines is the number of rows of lineorder at scale 1.
const ssbLines = 6_000_000

// ssbSource is the tables of the benchmark.
func ssbSource() Source {
	return databaseSource("ssb", ssbLines, "lo_orderkey", "lo_linenumber", "lo_orderpriority", "lo_shippriority", "lo_ordtotalprice", "lo_tax", "lo_commitdate", "lo_shipmode")
}

// ssbOperations are the thirteen queries of the benchmark (O'Neil, O'Neil, Chen: "Star Schema
// Benchmark", revision 3, 2009, section 3).
func ssbOperations() (list []Operation) {
	for _, q := range []struct{ name, sql string }{
		{"q1.1", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25`},
		{"q1.2", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35`},
		{"q1.3", `SELECT SUM(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date
			WHERE lo_orderdate = d_datekey AND d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35`},
		{"q2.1", ssbBrands + `AND p_category = 'MFGR#12' AND s_region = 'AMERICA'` + byBrand},
		{"q2.2", ssbBrands + `AND p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'` + byBrand},
		{"q2.3", ssbBrands + `AND p_brand1 = 'MFGR#2239' AND s_region = 'EUROPE'` + byBrand},
		{"q3.1", ssbTrade("nation") + `AND c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997` + byTrade("nation")},
		{"q3.2", ssbTrade("city") + `AND c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year >= 1992 AND d_year <= 1997` + byTrade("city")},
		{"q3.3", ssbTrade("city") + twoCities + `AND d_year >= 1992 AND d_year <= 1997` + byTrade("city")},
		{"q3.4", ssbTrade("city") + twoCities + `AND d_yearmonth = 'Dec1997'` + byTrade("city")},
		{"q4.1", ssbProfit("d_year, c_nation") + `AND c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')` + by("d_year, c_nation")},
		{"q4.2", ssbProfit("d_year, s_nation, p_category") + `AND c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998)
			AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')` + by("d_year, s_nation, p_category")},
		{"q4.3", ssbProfit("d_year, s_city, p_brand1") + `AND c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998)
			AND p_category = 'MFGR#14'` + by("d_year, s_city, p_brand1")},
	} {
		list = append(list, Operation{Name: q.name, query: func(*facts) Query { return Query{SQL: oneLine(q.sql)} }})
	}
	return list
}

const (
	ssbBrands = `SELECT SUM(lo_revenue) AS lo_revenue, d_year, p_brand1 FROM lineorder, date, part, supplier
		WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey `
	byBrand   = ` GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1`
	twoCities = `AND (c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5') `
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
