package generate

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/stencildb/stencildb/table"
)

// Database is several tables of synthetic data that belong together.
type Database struct {
	Name, Doc string
	// Tables are its tables at a scale, each with its rows as DefaultRows.
	Tables func(scale float64) ([]Generator, error)
}

// Databases lists them.
func Databases() []Database {
	return []Database{{
		"ssb", "the Star Schema Benchmark: lineorder (6,000,000 rows at scale 1), customer, supplier, part and date", ssb,
	}, {
		"tpch", "TPC-H: lineitem (6,000,000 rows at scale 1), orders, partsupp, part, customer, supplier, nation and region", tpch,
	}, {
		"dbmbench", "DBmbench: t1 (16,000,000 rows at scale 1) and t2, whose a1 it refers to; records of 100 bytes", dbmbench,
	}}
}

// Streams of random bits of ssb: each table has a hundred.
const (
	ssbOrder = 100 * (1 + iota)
	ssbLine
	ssbCustomer
	ssbSupplier
	ssbPart
)

// ssb is the Star Schema Benchmark (O'Neil, O'Neil, Chen: "Star Schema Benchmark", revision 3, 2009) with its columns,
// ranges, words and numbers of rows. Its random numbers differ from dbgen's. Seven orders have 28 lines, one to seven
// each. As in TPC-H, on which it is built, orders are from 1992-01-01 to 1998-08-02, and their keys use 8 of each 32
// numbers. Customers whose key is a multiple of three order nothing. Prices are in cents.
func ssb(scale float64) ([]Generator, error) {
	if !(scale >= 0.001 && scale <= 1000) {
		return nil, fmt.Errorf("ssb: scale %v: want 0.001 to 1000", scale)
	}
	rows := func(n float64) int { return max(1, int(math.Round(n*scale))) }
	s := star{customers: rows(30_000), suppliers: rows(2_000), parts: rows(200_000)}
	if scale >= 1 {
		s.parts = 200_000 * int(1+math.Log2(scale))
	}
	days := ssbDays()
	return []Generator{
		{Name: "lineorder", Doc: "lines of orders", DefaultRows: rows(6_000_000), cols: s.lineorder(rows(6_000_000))},
		{Name: "customer", Doc: "customers", DefaultRows: s.customers, cols: append(party("c", "Customer", ssbCustomer, s.customers),
			words("c_mktsegment", segments, pick(ssbCustomer+20, len(segments))))},
		{Name: "supplier", Doc: "suppliers", DefaultRows: s.suppliers, cols: party("s", "Supplier", ssbSupplier, s.suppliers)},
		{Name: "part", Doc: "parts", DefaultRows: s.parts, cols: s.part()},
		{Name: "date", Doc: "days", DefaultRows: len(days), cols: calendar(days)},
	}, nil
}

// star is the sizes of the tables that a line names.
type star struct{ customers, suppliers, parts int }

// pick chooses one of n.
func pick(stream uint64, n int) func(row) int { return func(r row) int { return r.below(stream, n) } }

// below is a number from 0 to n-1.
func (r row) below(stream uint64, n int) int { return int(r.random(stream) >> 32 * uint64(n) >> 32) }

// line is a line's order, as a row of orders, its number within it, and the number of its lines.
func (r row) line() (order row, number, lines int) {
	block := row{key: r.key, n: r.n / 28}
	a, b := 1+block.below(ssbOrder, 6), block.below(ssbOrder+1, 7)
	at := int(r.n % 28)
	for i := range 7 {
		if lines = (a*i+b)%7 + 1; at < lines {
			return row{key: r.key, n: 7*block.n + uint64(i)}, at, lines
		}
		at -= lines
	}
	panic("unreachable: seven orders have 28 lines")
}

func (r row) order() row { o, _, _ := r.line(); return o }

func (s star) lineorder(rows int) []genColumn {
	days := ssbDays()[:2406]
	partkey := func(r row) int64 { return 1 + int64(r.below(ssbLine, s.parts)) }
	quantity := func(r row) int64 { return 1 + int64(r.below(ssbLine+1, 50)) }
	discount := func(r row) int64 { return int64(r.below(ssbLine+2, 11)) }
	tax := func(r row) int64 { return int64(r.below(ssbLine+3, 9)) }
	price := func(r row) int64 { p := partkey(r); return 90_000 + p/10%20_001 + 100*(p%1000) }
	extended := func(r row) int64 { return quantity(r) * price(r) }
	revenue := func(r row) int64 { return extended(r) * (100 - discount(r)) / 100 }
	day := func(r row) int { return r.order().below(ssbOrder+2, len(days)) }
	total := func(r row) (sum int64) {
		_, number, lines := r.line()
		for first, i := r.n-uint64(number), 0; i < lines; i++ {
			l := row{r.key, first + uint64(i), r.rows}
			sum += revenue(l) * (100 + tax(l)) / 100
		}
		return sum
	}
	return []genColumn{
		integers("lo_orderkey", table.BigInt, 1, max(int64(rows)+64, math.MaxUint32), func(r row) int64 { n := int64(r.order().n) + 1; return n>>3<<5 | n&7 }),
		integers("lo_linenumber", table.Integer, 1, 7, func(r row) int64 { _, n, _ := r.line(); return int64(n) + 1 }),
		integers("lo_custkey", table.Integer, 1, int64(s.customers), func(r row) int64 {
			k := int64(r.order().below(ssbOrder+3, max(1, s.customers-s.customers/3)))
			return k/2*3 + k%2 + 1 // 1, 2, 4, 5, 7, ...
		}),
		integers("lo_partkey", table.Integer, 1, int64(s.parts), partkey),
		integers("lo_suppkey", table.Integer, 1, int64(s.suppliers), func(r row) int64 { return 1 + int64(r.below(ssbLine+4, s.suppliers)) }),
		integers("lo_orderdate", table.Integer, days[0].key(), days[len(days)-1].key(), func(r row) int64 { return days[day(r)].key() }),
		words("lo_orderpriority", priorities, func(r row) int { return r.order().below(ssbOrder+4, len(priorities)) }),
		words("lo_shippriority", []string{"0"}, func(row) int { return 0 }),
		integers("lo_quantity", table.Integer, 1, 50, quantity),
		integers("lo_extendedprice", table.Integer, 90_000, 50*209_900, extended),
		integers("lo_ordtotalprice", table.Integer, 81_000, 7*50*209_900*108/100, total),
		integers("lo_discount", table.Integer, 0, 10, discount),
		integers("lo_revenue", table.Integer, 81_000, 50*209_900, revenue),
		integers("lo_supplycost", table.Integer, 54_000, 125_940, func(r row) int64 { return 6 * price(r) / 10 }),
		integers("lo_tax", table.Integer, 0, 8, tax),
		integers("lo_commitdate", table.Integer, days[0].key(), 19981231, func(r row) int64 { return ssbDays()[day(r)+30+r.below(ssbLine+5, 61)].key() }),
		words("lo_shipmode", modes, pick(ssbLine+6, len(modes))),
	}
}

// party is the columns of a customer or a supplier.
func party(prefix, name string, stream uint64, rows int) []genColumn {
	nation := pick(stream, len(nations))
	var cities, names []string
	for _, n := range nations {
		names = append(names, n.name)
		for i := range 10 {
			cities = append(cities, city(n.name, i))
		}
	}
	key := "custkey"
	if prefix == "s" {
		key = "suppkey"
	}
	return []genColumn{
		integers(prefix+"_"+key, table.Integer, 1, int64(rows), func(r row) int64 { return int64(r.n) + 1 }),
		texts(prefix+"_name", func(r row) string { return fmt.Sprintf("%s#%09d", name, r.n+1) }),
		texts(prefix+"_address", func(r row) string { return address(r, stream+1, 10, 25) }),
		words(prefix+"_city", cities, func(r row) int { return 10*nation(r) + r.below(stream+2, 10) }),
		words(prefix+"_nation", names, nation),
		words(prefix+"_region", regions, func(r row) int { return nations[nation(r)].region }),
		texts(prefix+"_phone", func(r row) string { return phone(r, nation(r), stream+3) }),
	}
}

// city is one of the ten of a nation.
func city(nation string, i int) string { return fmt.Sprintf("%-9.9s%d", nation, i) }

// phone is a number in a nation.
func phone(r row, nation int, stream uint64) string {
	return fmt.Sprintf("%d-%d-%d-%d", 10+nation, 100+r.below(stream, 900), 100+r.below(stream+1, 900), 1000+r.below(stream+2, 9000))
}

// address is lo to hi characters.
func address(r row, stream uint64, lo, hi int) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, "
	text := make([]byte, lo+r.below(stream, hi-lo+1))
	for i := range text {
		text[i] = letters[mix(r.random(stream+10)+uint64(i))%uint64(len(letters))]
	}
	return string(text)
}

func (s star) part() []genColumn {
	var makers, categories, brands []string
	for m := 1; m <= 5; m++ {
		makers = append(makers, fmt.Sprintf("MFGR#%d", m))
		for c := 1; c <= 5; c++ {
			categories = append(categories, fmt.Sprintf("MFGR#%d%d", m, c))
			for b := 1; b <= 40; b++ {
				brands = append(brands, fmt.Sprintf("MFGR#%d%d%d", m, c, b))
			}
		}
	}
	brand, color := pick(ssbPart, len(brands)), pick(ssbPart+1, len(colors))
	return []genColumn{
		integers("p_partkey", table.Integer, 1, int64(s.parts), func(r row) int64 { return int64(r.n) + 1 }),
		texts("p_name", func(r row) string { return colors[r.below(ssbPart+2, len(colors))] + " " + colors[color(r)] }),
		words("p_mfgr", makers, func(r row) int { return brand(r) / 200 }),
		words("p_category", categories, func(r row) int { return brand(r) / 40 }),
		words("p_brand1", brands, brand),
		words("p_color", colors, color),
		words("p_type", types, pick(ssbPart+3, len(types))),
		integers("p_size", table.Integer, 1, 50, func(r row) int64 { return 1 + int64(r.below(ssbPart+4, 50)) }),
		words("p_container", containers, pick(ssbPart+5, len(containers))),
	}
}

// phrases are all of a word of each list.
func phrases(lists ...[]string) []string {
	all := lists[0]
	for _, words := range lists[1:] {
		var longer []string
		for _, begin := range all {
			for _, w := range words {
				longer = append(longer, begin+" "+w)
			}
		}
		all = longer
	}
	return all
}

// ssbDay is a day of the table date.
type ssbDay struct{ time.Time }

func (d ssbDay) key() int64 { return int64(d.Year()*10_000 + int(d.Month())*100 + d.Day()) }

// ssbDays are the 2,556 days of the table date.
var ssbDays = sync.OnceValue(func() (list []ssbDay) {
	for d := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC); len(list) < 2556; d = d.AddDate(0, 0, 1) {
		list = append(list, ssbDay{d})
	}
	return list
})

// season is the selling season of the day.
func (d ssbDay) season() string {
	switch d.Month() {
	case time.January, time.February, time.March:
		return "Winter"
	case time.April:
		return "Spring"
	case time.September, time.October:
		return "Fall"
	case time.November, time.December:
		return "Christmas"
	}
	return "Summer"
}

// holiday reports one of ten days of a year.
func (d ssbDay) holiday() bool {
	switch d.Month() {
	case time.January:
		return d.Day() == 1
	case time.December:
		return d.Day() == 24
	case time.March, time.June:
		return false
	}
	return d.Day() == 20
}

// calendar is the columns of the table date.
func calendar(days []ssbDay) []genColumn {
	number := func(name string, of func(d ssbDay) int) genColumn {
		lo, hi := int64(math.MaxInt64), int64(0)
		for _, d := range days {
			lo, hi = min(lo, int64(of(d))), max(hi, int64(of(d)))
		}
		return integers(name, table.Integer, lo, hi, func(r row) int64 { return int64(of(days[r.n])) })
	}
	text := func(name string, of func(d ssbDay) string) genColumn {
		return texts(name, func(r row) string { return of(days[r.n]) })
	}
	flag := func(name string, of func(d ssbDay) bool) genColumn {
		return integers(name, table.SmallInt, 0, 1, func(r row) int64 {
			if of(days[r.n]) {
				return 1
			}
			return 0
		})
	}
	return []genColumn{
		number("d_datekey", func(d ssbDay) int { return int(d.key()) }),
		text("d_date", func(d ssbDay) string { return d.Format("January 2, 2006") }),
		text("d_dayofweek", func(d ssbDay) string { return d.Weekday().String() }),
		text("d_month", func(d ssbDay) string { return d.Month().String() }),
		number("d_year", ssbDay.Year),
		number("d_yearmonthnum", func(d ssbDay) int { return int(d.key() / 100) }),
		text("d_yearmonth", func(d ssbDay) string { return d.Format("Jan2006") }),
		number("d_daynuminweek", func(d ssbDay) int { return int(d.Weekday()) + 1 }),
		number("d_daynuminmonth", ssbDay.Day),
		number("d_daynuminyear", ssbDay.YearDay),
		number("d_monthnuminyear", func(d ssbDay) int { return int(d.Month()) }),
		number("d_weeknuminyear", func(d ssbDay) int { return (d.YearDay()-1)/7 + 1 }),
		text("d_sellingseason", ssbDay.season),
		flag("d_lastdayinweekfl", func(d ssbDay) bool { return d.Weekday() == time.Saturday }),
		flag("d_lastdayinmonthfl", func(d ssbDay) bool { return d.AddDate(0, 0, 1).Day() == 1 }),
		flag("d_holidayfl", ssbDay.holiday),
		flag("d_weekdayfl", func(d ssbDay) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }),
	}
}

var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	modes      = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	regions    = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	types      = phrases([]string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"},
		[]string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}, []string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"})
	containers = phrases([]string{"SM", "LG", "MED", "JUMBO", "WRAP"}, []string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"})
	// nations are those of TPC-H, each with its region.
	nations = []struct {
		name   string
		region int
	}{
		{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2},
		{"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2},
		{"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
	}
	// colors are the words of TPC-H's names of parts.
	colors = []string{
		"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black", "blanched", "blue", "blush", "brown", "burlywood", "burnished",
		"chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk", "cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick",
		"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod", "green", "grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace",
		"lavender", "lawn", "lemon", "light", "lime", "linen", "magenta", "maroon", "medium", "metallic", "midnight", "mint", "misty", "moccasin",
		"navajo", "navy", "olive", "orange", "orchid", "pale", "papaya", "peach", "peru", "pink", "plum", "powder", "puff", "purple", "red", "rose",
		"rosy", "royal", "saddle", "salmon", "sandy", "seashell", "sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan", "thistle",
		"tomato", "turquoise", "violet", "wheat", "white", "yellow",
	}
)
