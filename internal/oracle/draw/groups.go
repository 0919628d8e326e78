package draw

import (
	"strings"

	"pgregory.net/rapid"
)

// Aggregations draws statements with GROUP BY, HAVING and aggregates of expressions.
type Aggregations struct{ Texts }

func (g *Aggregations) key() string {
	return g.Pick("flag", "s", "i", "j", "r", "x", "day", "stamp", "word", "name", "money", "rate",
		"i % 3", "i + j", "-x", "x * 0", "upper(word)", "word || name", "left(name, 1)", "date_trunc('month', day)", "money * rate * rate * rate",
		"i > 1", "coalesce(word, 'none')", "CASE WHEN i > j THEN 'more' WHEN flag THEN word END", "NULL::text", "k - k", "abs(s)")
}

// number is an argument that is a number.
func (g *Aggregations) number() string {
	return g.Pick("s", "i", "j", "k", "x", "y", "r", "money", "rate", "i * 2 + 1", "money * (1 - rate)", "money * money * rate * rate", "x * y", "x / 2", "-rate",
		"abs(i)", "length(word)", "CASE WHEN flag THEN i END", "money + i", "1", "NULL", "j % 5", "k / i", "sqrt(abs(x))", "least(y, i)", "round(y)", "greatest(i, j)", "i & j", "nullif(k, 7)")
}

// aggregate is one of an expression.
func (g *Aggregations) aggregate() string {
	x := g.Pick(g.number(), g.number(), g.key())
	distinct := g.Pick("", "", "DISTINCT ")
	call := g.Pick("COUNT(*)", "COUNT("+distinct+x+")", "SUM("+distinct+g.number()+")", "AVG("+distinct+g.number()+")", "MIN("+g.number()+")", "MAX(word)", "MIN(upper(name))",
		"MAX("+distinct+"day)", "stddev("+distinct+g.number()+")", "var_pop("+g.number()+")", "variance("+g.number()+")", "stddev_pop("+g.number()+")",
		"bool_and("+g.Pick("flag", "i > 0", "word LIKE '%a%'")+")", "bool_or(flag)", "any_value("+x+")", "corr("+g.number()+", "+g.number()+")",
		"covar_pop("+g.number()+", y)", "covar_samp(x, "+g.number()+")", "regr_"+g.Pick("count", "avgx", "avgy", "sxx", "syy", "sxy", "slope", "intercept", "r2")+"("+g.number()+", "+g.number()+")",
		"bit_"+g.Pick("and", "or", "xor")+"("+distinct+g.Pick("s", "i", "k", "i & j")+")", "MEDIAN("+x+")", "percentile_cont(0.3) WITHIN GROUP (ORDER BY "+g.number()+g.Pick("", " DESC")+")",
		"percentile_disc(0.7) WITHIN GROUP (ORDER BY "+x+g.Pick("", " DESC")+")", "mode() WITHIN GROUP (ORDER BY "+x+g.Pick("", " DESC")+")",
		"string_agg("+g.Pick("", "DISTINCT ")+"word, ', ')", "string_agg("+g.Pick("word", "upper(name)", "left(word, s)", "day::text")+", "+g.Pick("', '", "''", "name")+
			g.Pick("", " ORDER BY word", " ORDER BY i DESC, name NULLS FIRST", " ORDER BY x + y DESC NULLS LAST")+")",
		"kth_largest("+x+", 1)", "kth_smallest("+x+", 2)", "selectivity()")
	if rapid.IntRange(0, 3).Draw(g.T, "filtered") == 0 {
		call += " FILTER (WHERE " + g.Pick("flag", "i > 2", "word IS NOT NULL", "x * y > 1", "NULL", "j / i = 1") + ")"
	}
	return call
}

// sums are aggregates of all rows that a backend may compute itself: of columns and of what + - * make
// of them.
func (g *Aggregations) sums() string {
	of := func() string {
		return g.Pick("i * j", "s * (1 - i)", "money * rate", "money * (1 - rate)", "i * i - s", "i + j", "s * 3 + money", "-(j - 4) * money", "k * k", "i * j * s", "i::bigint * money::numeric(12, 3)")
	}
	return g.Pick("SUM("+of()+")", "SUM("+of()+")", "AVG("+of()+")", "COUNT("+of()+")", "COUNT(*)", "SUM(j)", "MAX(s)", "MEDIAN(money)", "selectivity()")
}

// coded is an aggregate that compute keeps for each group.
func (g *Aggregations) coded() string {
	of := g.Pick("s", "i", "j", "k", "money", "rate")
	return g.Pick("COUNT(*)", "COUNT("+of+")", "SUM("+of+")", "AVG("+of+")", g.Pick("MIN(", "MAX(", "any_value(")+g.Pick(of, "day", "word", "r")+")", "bool_or(flag)", g.sums())
}

func (g *Aggregations) Statement() string {
	var keys, items []string
	aggregate := g.sums
	if rapid.IntRange(0, 3).Draw(g.T, "groups") > 0 {
		if aggregate = g.aggregate; rapid.Bool().Draw(g.T, "coded") {
			aggregate = g.coded
		}
		for range rapid.IntRange(0, 3).Draw(g.T, "keys") {
			keys = append(keys, g.key())
		}
	}
	for _, k := range keys {
		items = append(items, g.Pick(k, k, "("+k+") IS NULL"))
	}
	for range rapid.IntRange(Int(len(items) == 0), 3).Draw(g.T, "aggregates") {
		items = append(items, aggregate())
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + g.Tab.Name
	if rapid.Bool().Draw(g.T, "where") {
		text += " WHERE " + g.Pick("i > 0", "word < 'b'", "x IS NOT NULL AND flag", "j % 3 = 1", "i > 1000000")
	}
	for i, k := range keys {
		text += []string{" GROUP BY ", ", "}[Int(i > 0)] + k
	}
	if rapid.IntRange(0, 3).Draw(g.T, "having") == 0 {
		text += " HAVING " + g.Pick("COUNT(*) > 1", "MAX(i) IS NOT NULL", "SUM(j) > SUM(k)", "bool_or(flag) OR MIN(word) > 'a'", "1 / (COUNT(*) - 2) = 1",
			"COUNT(*) = 1", "COUNT(k) <= 1", "SUM(money) > 3.555", "SUM(i) <= -1.5 AND COUNT(*) < 9", "SUM(j) >= 99999999999999999999")
	}
	return text
}
