package generate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stencildb/stencildb/table"
)

// Streams of random bits of tpch: each table has a hundred.
const (
	tpchOrder = 1000 + 100*iota
	tpchLine
	tpchCustomer
	tpchSupplier
	tpchPart
	tpchPartSupplier
	tpchNation
	tpchRegion
)

// Days of tpch: orders are from the first to the last of these, and the benchmark's today lies between.
var (
	tpchFirst = dayOf(1992, time.January, 1)
	tpchLast  = dayOf(1998, time.August, 2)
	tpchToday = dayOf(1995, time.June, 17)
)

func dayOf(year int, month time.Month, day int) int64 {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// wholesale is the sizes of the tables of TPC-H.
type wholesale struct {
	scale                               float64
	suppliers, parts, customers, orders int
}

// tpch is TPC-H with its columns, words, distributions and numbers of rows (Transaction Processing Performance
// Council: "TPC Benchmark H", revision 3, section 4.2). Its random numbers differ from dbgen's. Orders have
// one to seven lines, each number as often: seven orders 28, and the few behind the last seven four each.
func tpch(scale float64) ([]Generator, error) {
	if !(scale >= 0.001 && scale <= 1000) {
		return nil, fmt.Errorf("tpch: scale %v: want 0.001 to 1000", scale)
	}
	rows := func(n float64) int { return int(math.Round(n * scale)) }
	w := wholesale{scale: scale, suppliers: rows(10_000), parts: rows(200_000), customers: rows(150_000), orders: rows(1_500_000)}
	made := func(name, doc string, rows int, cols []genColumn) Generator {
		return Generator{Name: name, Doc: doc, DefaultRows: rows, cols: cols}
	}
	return []Generator{
		made("lineitem", "lines of orders", 4*w.orders, w.lineitem()),
		made("orders", "orders", w.orders, w.order()),
		made("partsupp", "what suppliers supply", 4*w.parts, w.partsupp()),
		made("part", "parts", w.parts, w.part()),
		made("customer", "customers", w.customers, w.customer()),
		made("supplier", "suppliers", w.suppliers, w.supplier()),
		made("nation", "nations", len(nations), nation()),
		made("region", "regions", len(regions), region()),
	}, nil
}

// keys describes a BIGINT column.
func keys(name string, hi int, value func(row) int64) genColumn {
	return integers(name, table.BigInt, 0, int64(hi), value)
}

// ascending is the keys of a table: 1, 2, 3, ...
func ascending(r row) int64 { return int64(r.n) + 1 }

// money describes a DECIMAL(15,2) column; value is in cents.
func money(name string, lo, hi int64, value func(row) int64) genColumn {
	c := integers(name, table.Decimal, lo, hi, value)
	c.typ = table.Type{Kind: table.Decimal, Precision: 15, Scale: 2}
	return c
}

// days describes a DATE column of the benchmark's years.
func days(name string, value func(row) int64) genColumn {
	return integers(name, table.Date, tpchFirst, tpchLast+151, value)
}

// between is a number from lo to hi.
func (r row) between(stream uint64, lo, hi int) int64 { return int64(lo + r.below(stream, hi-lo+1)) }

// lines are the numbers of lines of seven orders.
func (block row) lines() (list [7]int) {
	a, b := 1+block.below(tpchOrder, 6), block.below(tpchOrder+1, 7)
	for i := range list {
		list[i] = (a*i+b)%7 + 1
	}
	return list
}

// orderOf is the order of a line, and the line's number in it, from 0.
func (w wholesale) orderOf(l row) (order row, number int) {
	block, at := l.n/28, int(l.n%28)
	order = row{key: l.key, n: 7 * block}
	if int(7*block)+7 > w.orders {
		order.n += uint64(at / 4)
		return order, at % 4
	}
	for _, lines := range (row{key: l.key, n: block}).lines() {
		if at < lines {
			break
		}
		at -= lines
		order.n++
	}
	return order, at
}

// linesOf is the first line of an order, and how many there are.
func (w wholesale) linesOf(o row) (first row, lines int) {
	block, place := o.n/7, o.n%7
	first = row{key: o.key, n: 28 * block}
	if int(7*block)+7 > w.orders {
		first.n += 4 * place
		return first, 4
	}
	list := (row{key: o.key, n: block}).lines()
	for _, n := range list[:place] {
		first.n += uint64(n)
	}
	return first, list[place]
}

// orderkey uses the first eight of each 32 numbers.
func orderkey(o row) int64 { n := int64(o.n) + 1; return n>>3<<5 | n&7 }

func orderdate(o row) int64 { return tpchFirst + o.between(tpchOrder+2, 0, int(tpchLast-tpchFirst)) }

// retail is the price of a part in cents.
func retail(part int64) int64 { return 90_000 + part/10%20_001 + 100*(part%1000) }

// suppliedBy is the i-th of the four suppliers of a part.
func (w wholesale) suppliedBy(part int64, i int) int64 {
	s := int64(w.suppliers)
	return (part+int64(i)*(s/4+(part-1)/s))%s + 1
}

// Of a line, by its row.

func (w wholesale) partkey(l row) int64  { return l.between(tpchLine, 1, w.parts) }
func quantity(l row) int64               { return l.between(tpchLine+1, 1, 50) }
func (w wholesale) extended(l row) int64 { return quantity(l) * retail(w.partkey(l)) }
func discount(l row) int64               { return l.between(tpchLine+2, 0, 10) }
func tax(l row) int64                    { return l.between(tpchLine+3, 0, 8) }
func shipped(o, l row) int64             { return orderdate(o) + l.between(tpchLine+4, 1, 121) }
func received(o, l row) int64            { return shipped(o, l) + l.between(tpchLine+5, 1, 30) }

func (w wholesale) lineitem() []genColumn {
	order := func(l row) row { o, _ := w.orderOf(l); return o }
	return []genColumn{
		keys("l_orderkey", 4*w.orders+32, func(l row) int64 { return orderkey(order(l)) }),
		keys("l_partkey", w.parts, w.partkey),
		keys("l_suppkey", w.suppliers, func(l row) int64 { return w.suppliedBy(w.partkey(l), l.below(tpchLine+6, 4)) }),
		integers("l_linenumber", table.Integer, 1, 7, func(l row) int64 { _, n := w.orderOf(l); return int64(n) + 1 }),
		money("l_quantity", 100, 5000, func(l row) int64 { return 100 * quantity(l) }),
		money("l_extendedprice", 90_000, 50*209_900, w.extended),
		money("l_discount", 0, 10, discount),
		money("l_tax", 0, 8, tax),
		words("l_returnflag", []string{"R", "A", "N"}, func(l row) int {
			if received(order(l), l) > tpchToday {
				return 2
			}
			return l.below(tpchLine+7, 2)
		}),
		words("l_linestatus", []string{"F", "O"}, func(l row) int { return int(open(order(l), l)) }),
		days("l_shipdate", func(l row) int64 { return shipped(order(l), l) }),
		days("l_commitdate", func(l row) int64 { return orderdate(order(l)) + l.between(tpchLine+8, 30, 90) }),
		days("l_receiptdate", func(l row) int64 { return received(order(l), l) }),
		words("l_shipinstruct", instructions, pick(tpchLine+9, len(instructions))),
		words("l_shipmode", modes, pick(tpchLine+10, len(modes))),
		comment("l_comment", tpchLine+11, 10, 43),
	}
}

// open is 1 for a line that is not shipped yet, else 0.
func open(o, l row) uint64 {
	if shipped(o, l) > tpchToday {
		return 1
	}
	return 0
}

func (w wholesale) order() []genColumn {
	clerks := max(1, int(math.Round(1000*w.scale)))
	return []genColumn{
		keys("o_orderkey", 4*w.orders+32, orderkey),
		keys("o_custkey", w.customers, func(o row) int64 { // 1, 2, 4, 5, 7, ...: each third orders nothing
			k := o.between(tpchOrder+3, 0, w.customers-w.customers/3-1)
			return k/2*3 + k%2 + 1
		}),
		words("o_orderstatus", []string{"F", "O", "P"}, func(o row) int {
			first, lines := w.linesOf(o)
			sum := 0
			for i := range lines {
				sum += int(open(o, row{key: first.key, n: first.n + uint64(i)}))
			}
			switch sum {
			case 0:
				return 0
			case lines:
				return 1
			}
			return 2
		}),
		money("o_totalprice", 0, 7*50*209_900*108/100, func(o row) (sum int64) {
			first, lines := w.linesOf(o)
			for i := range lines {
				l := row{key: first.key, n: first.n + uint64(i)}
				sum += w.extended(l) * (100 - discount(l)) / 100 * (100 + tax(l)) / 100
			}
			return sum
		}),
		days("o_orderdate", orderdate),
		words("o_orderpriority", priorities, pick(tpchOrder+4, len(priorities))),
		texts("o_clerk", func(o row) string { return fmt.Sprintf("Clerk#%09d", o.between(tpchOrder+5, 1, clerks)) }),
		integers("o_shippriority", table.Integer, 0, 0, func(row) int64 { return 0 }),
		comment("o_comment", tpchOrder+6, 19, 78),
	}
}

func (w wholesale) partsupp() []genColumn {
	part := func(r row) int64 { return int64(r.n)/4 + 1 }
	return []genColumn{
		keys("ps_partkey", w.parts, part),
		keys("ps_suppkey", w.suppliers, func(r row) int64 { return w.suppliedBy(part(r), int(r.n%4)) }),
		integers("ps_availqty", table.Integer, 1, 9999, func(r row) int64 { return r.between(tpchPartSupplier, 1, 9999) }),
		money("ps_supplycost", 100, 100_000, func(r row) int64 { return r.between(tpchPartSupplier+1, 100, 100_000) }),
		comment("ps_comment", tpchPartSupplier+2, 49, 198),
	}
}

func (w wholesale) part() []genColumn {
	var makers, brands []string
	for m := 1; m <= 5; m++ {
		makers = append(makers, fmt.Sprintf("Manufacturer#%d", m))
		for b := 1; b <= 5; b++ {
			brands = append(brands, fmt.Sprintf("Brand#%d%d", m, b))
		}
	}
	brand := pick(tpchPart, len(brands))
	return []genColumn{
		keys("p_partkey", w.parts, ascending),
		texts("p_name", fiveColors),
		words("p_mfgr", makers, func(r row) int { return brand(r) / 5 }),
		words("p_brand", brands, brand),
		words("p_type", types, pick(tpchPart+1, len(types))),
		integers("p_size", table.Integer, 1, 50, func(r row) int64 { return r.between(tpchPart+2, 1, 50) }),
		words("p_container", containers, pick(tpchPart+3, len(containers))),
		money("p_retailprice", 90_000, 209_900, func(r row) int64 { return retail(ascending(r)) }),
		comment("p_comment", tpchPart+4, 5, 22),
	}
}

// fiveColors is five different words.
func fiveColors(r row) string {
	var name []string
	var taken [5]int // sorted
	for i := range taken {
		c := r.below(tpchPart+10+uint64(i), len(colors)-i)
		at := 0
		for ; at < i && c >= taken[at]; at++ {
			c++
		}
		copy(taken[at+1:i+1], taken[at:i])
		taken[at] = c
		name = append(name, colors[c])
	}
	return strings.Join(name, " ")
}

func (w wholesale) customer() []genColumn {
	return append(partner("c_custkey", "c_", "Customer", tpchCustomer, w.customers),
		words("c_mktsegment", segments, pick(tpchCustomer+20, len(segments))),
		comment("c_comment", tpchCustomer+21, 29, 116))
}

func (w wholesale) supplier() []genColumn {
	text := comment("s_comment", tpchSupplier+21, 25, 100)
	plain := text.text
	// Of each 2,000 suppliers one has complaints, and one is recommended.
	text.text = func(r row) string {
		s, group := plain(r), row{key: r.key, n: r.n / 2000}
		bad := group.below(tpchSupplier+22, 2000)
		good := (bad + 1 + group.below(tpchSupplier+23, 1999)) % 2000
		switch int(r.n % 2000) {
		case bad:
			return about(s, "Complaints", r)
		case good:
			return about(s, "Recommends", r)
		}
		return s
	}
	return append(partner("s_suppkey", "s_", "Supplier", tpchSupplier, w.suppliers), text)
}

// about is a comment with the words "Customer" and what in it, at random places.
func about(comment, what string, r row) string {
	room := len(comment) - len("Customer") - len(what)
	gap := r.below(tpchSupplier+24, room+1)
	at := r.below(tpchSupplier+25, room-gap+1)
	between := comment[at+len("Customer"):][:gap]
	return comment[:at] + "Customer" + between + what + comment[at+len("Customer")+gap+len(what):]
}

// partner is the columns that customers and suppliers have.
func partner(key, prefix, name string, stream uint64, rows int) []genColumn {
	nation := pick(stream, len(nations))
	return []genColumn{
		keys(key, rows, ascending),
		texts(prefix+"name", func(r row) string { return fmt.Sprintf("%s#%09d", name, r.n+1) }),
		texts(prefix+"address", func(r row) string { return address(r, stream+1, 10, 40) }),
		keys(prefix+"nationkey", len(nations), func(r row) int64 { return int64(nation(r)) }),
		texts(prefix+"phone", func(r row) string { return phone(r, nation(r), stream+3) }),
		money(prefix+"acctbal", -99_999, 999_999, func(r row) int64 { return r.between(stream+6, -99_999, 999_999) }),
	}
}

func nation() []genColumn {
	var names []string
	for _, n := range nations {
		names = append(names, n.name)
	}
	return []genColumn{
		keys("n_nationkey", len(nations), func(r row) int64 { return int64(r.n) }),
		words("n_name", names, func(r row) int { return int(r.n) }),
		keys("n_regionkey", len(regions), func(r row) int64 { return int64(nations[r.n].region) }),
		comment("n_comment", tpchNation, 31, 114),
	}
}

func region() []genColumn {
	return []genColumn{
		keys("r_regionkey", len(regions), func(r row) int64 { return int64(r.n) }),
		words("r_name", regions, func(r row) int { return int(r.n) }),
		comment("r_comment", tpchRegion, 31, 115),
	}
}

var instructions = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
