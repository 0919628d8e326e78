package generate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parameters are the values of a query's substitution parameters, by their names.
type Parameters map[string]string

// DrawTPCH draws the parameters of a query of TPC-H, q01 to q22, by its rules. (Transaction Processing Performance Council:
// "TPC Benchmark H", revision 3, clauses 2.4.1.3 to 2.4.22.3). The fraction of q11 is no matter of chance: it
// is 0.0001 over the scale.
func DrawTPCH(query string, r *rand.Rand) Parameters {
	d := draw{r}
	switch query {
	case "q01":
		return Parameters{"delta": d.between(60, 120)}
	case "q02":
		return Parameters{"size": d.between(1, 50), "type": lastWord(d.word(types)), "region": d.word(regions)}
	case "q03":
		return Parameters{"segment": d.word(segments), "date": fmt.Sprintf("1995-03-%02d", d.number(1, 31))}
	case "q04", "q15":
		return Parameters{"date": d.month(1993, time.January, 58)}
	case "q05":
		return Parameters{"region": d.word(regions), "date": d.year()}
	case "q06":
		return Parameters{"date": d.year(), "discount": fmt.Sprintf("0.%02d", d.number(2, 9)), "quantity": d.between(24, 25)}
	case "q07":
		two := d.several(2, len(nations))
		return Parameters{"nation1": nations[two[0]].name, "nation2": nations[two[1]].name}
	case "q08":
		n := nations[d.number(0, len(nations)-1)]
		return Parameters{"nation": n.name, "region": regions[n.region], "type": d.word(types)}
	case "q09":
		return Parameters{"color": d.word(colors)}
	case "q10":
		return Parameters{"date": d.month(1993, time.February, 24)}
	case "q11", "q21":
		return Parameters{"nation": d.nation()}
	case "q12":
		two := d.several(2, len(modes))
		return Parameters{"shipmode1": modes[two[0]], "shipmode2": modes[two[1]], "date": d.year()}
	case "q13":
		return Parameters{"word1": d.word([]string{"special", "pending", "unusual", "express"}), "word2": d.word([]string{"packages", "requests", "accounts", "deposits"})}
	case "q14":
		return Parameters{"date": d.month(1993, time.January, 60)}
	case "q16":
		t := d.word(types)
		p := Parameters{"brand": d.brand(), "type": t[:strings.LastIndexByte(t, ' ')]}
		for i, size := range d.several(8, 50) {
			p[fmt.Sprintf("size%d", i+1)] = strconv.Itoa(1 + size)
		}
		return p
	case "q17":
		return Parameters{"brand": d.brand(), "container": d.word(containers)}
	case "q18":
		return Parameters{"quantity": d.between(312, 315)}
	case "q19":
		return Parameters{"brand1": d.brand(), "brand2": d.brand(), "brand3": d.brand(),
			"quantity1": d.between(1, 10), "quantity2": d.between(10, 20), "quantity3": d.between(20, 30)}
	case "q20":
		return Parameters{"color": d.word(colors), "date": d.year(), "nation": d.nation()}
	case "q22":
		p := Parameters{}
		for i, nation := range d.several(7, len(nations)) {
			p[fmt.Sprintf("code%d", i+1)] = strconv.Itoa(10 + nation)
		}
		return p
	}
	panic("generate: TPC-H has no query " + query)
}

// Years of the Star Schema Benchmark's lines: all days of the first to the last of these, and seven months of the year after.
const ssbFirstYear, ssbLastYear = 1992, 1997

// DrawSSB draws constants for a query of the Star Schema Benchmark, q1.1 to q4.3, whose specification fixes them. The ranges
// are such that each condition keeps the share of rows that it selects: docs/bench.md lists them.
func DrawSSB(query string, r *rand.Rand) Parameters {
	d := draw{r}
	months := 12 * (ssbLastYear + 1 - ssbFirstYear)
	switch query {
	case "q1.1":
		return d.discounts(Parameters{"year": d.between(ssbFirstYear, ssbLastYear), "quantity": d.between(24, 26)})
	case "q1.2":
		return d.discounts(d.quantities(Parameters{"month": strings.ReplaceAll(d.month(ssbFirstYear, time.January, months)[:7], "-", "")}))
	case "q1.3":
		return d.discounts(d.quantities(Parameters{"week": d.between(1, 52), "year": d.between(ssbFirstYear, ssbLastYear)}))
	case "q2.1":
		return Parameters{"category": d.category(), "region": d.word(regions)}
	case "q2.2":
		// Eight neighbours in the order of text, among which no brand of one digit is.
		category, from := d.category(), 10*d.number(1, 3)+d.number(0, 2)
		return Parameters{"from": fmt.Sprint(category, from), "to": fmt.Sprint(category, from+7), "region": d.word(regions)}
	case "q2.3":
		return Parameters{"brand": d.category() + d.between(1, 40), "region": d.word(regions)}
	case "q3.1":
		return Parameters{"customers": d.word(regions), "suppliers": d.word(regions)}
	case "q3.2":
		return Parameters{"customers": d.nation(), "suppliers": d.nation()}
	case "q3.3", "q3.4":
		p := Parameters{}
		for _, whose := range []string{"customers", "suppliers"} {
			nation := d.nation()
			for i, n := range d.pair(10) {
				p[fmt.Sprint(whose, i+1)] = city(nation, n)
			}
		}
		if query == "q3.4" {
			day, _ := time.Parse(time.DateOnly, d.month(ssbFirstYear, time.January, months)) // it is one
			p["month"] = day.Format("Jan2006")
		}
		return p
	case "q4.1":
		return d.makers(Parameters{"customers": d.word(regions), "suppliers": d.word(regions)})
	case "q4.2":
		return d.makers(Parameters{"customers": d.word(regions), "suppliers": d.word(regions), "year": d.between(ssbFirstYear, ssbLastYear)})
	case "q4.3":
		return Parameters{"customers": d.word(regions), "suppliers": d.nation(), "year": d.between(ssbFirstYear, ssbLastYear), "category": d.category()}
	}
	panic("generate: the Star Schema Benchmark has no query " + query)
}

// draw is a source of parameters.
type draw struct{ *rand.Rand }

// number is one from lo to hi, and between its text.
func (d draw) number(lo, hi int) int     { return lo + d.IntN(hi-lo+1) }
func (d draw) between(lo, hi int) string { return strconv.Itoa(d.number(lo, hi)) }

func (d draw) word(list []string) string { return list[d.IntN(len(list))] }
func (d draw) nation() string            { return nations[d.IntN(len(nations))].name }
func (d draw) brand() string             { return "Brand#" + d.between(1, 5) + d.between(1, 5) }
func (d draw) category() string          { return "MFGR#" + d.between(1, 5) + d.between(1, 5) }

// several are n different numbers from 0 to below-1.
func (d draw) several(n, below int) []int { return d.Perm(below)[:n] }

// pair is two different numbers from 0 to below-1, the smaller first: what an OR of them says has one text.
func (d draw) pair(below int) []int { return slices.Sorted(slices.Values(d.several(2, below))) }

// month is the first day of one of n months, of which that is the first.
func (d draw) month(year int, first time.Month, n int) string {
	return time.Date(year, first+time.Month(d.IntN(n)), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// year is the first day of 1993 to 1997.
func (d draw) year() string { return d.month(1993+d.IntN(5), time.January, 1) }

// discounts adds three of the eleven discounts, quantities ten of the fifty, and makers two of the five.
func (d draw) discounts(p Parameters) Parameters {
	from := d.number(0, 8)
	p["discount1"], p["discount2"] = strconv.Itoa(from), strconv.Itoa(from+2)
	return p
}

func (d draw) quantities(p Parameters) Parameters {
	from := d.number(1, 41)
	p["quantity1"], p["quantity2"] = strconv.Itoa(from), strconv.Itoa(from+9)
	return p
}

func (d draw) makers(p Parameters) Parameters {
	two := d.pair(5)
	p["maker1"], p["maker2"] = fmt.Sprint("MFGR#", 1+two[0]), fmt.Sprint("MFGR#", 1+two[1])
	return p
}

// lastWord is the last syllable of a type.
func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }
