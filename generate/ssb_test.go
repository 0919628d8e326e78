package generate_test

import (
	"context"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// ssbTables are those of the Star Schema Benchmark at a scale, by their names.
func ssbTables(t *testing.T, scale float64, seed uint64, chunk int) map[string]*table.Table {
	t.Helper()
	return databaseTables(t, 0, scale, seed, chunk)
}

// databaseTables are those of one of [generate.Databases].
func databaseTables(t *testing.T, which int, scale float64, seed uint64, chunk int) map[string]*table.Table {
	t.Helper()
	list, err := generate.Databases()[which].Tables(scale)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*table.Table{}
	for _, g := range list {
		tab, err := g.Generate(context.Background(), g.DefaultRows, seed, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if err := tab.Check(); err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		tables[g.Name] = tab
	}
	return tables
}

func TestSSBIsFixed(t *testing.T) {
	const scale = 0.005
	want := map[string]uint64{"lineorder": 0x19bb197b801e85e3, "customer": 0xd1ce4788dfa6ae59, "supplier": 0x34900ab1277b7e6f, "part": 0xbf777bfceb3796f4, "date": 0x80f7a21c2097849e}
	other := ssbTables(t, scale, 2, 0)
	chunked := ssbTables(t, scale, 1, 1000)
	for name, tab := range ssbTables(t, scale, 1, 0) {
		asBuilt(t, tab)
		all := text(tab)
		if text(chunked[name]) != all {
			t.Errorf("%s: chunks of 1,000 rows change the table", name)
		}
		if (text(other[name]) == all) != (name == "date") {
			t.Errorf("%s: seeds 1 and 2 must differ but in the table date", name)
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(all))
		if h.Sum64() != want[name] {
			t.Errorf("%s hashes to %#x, not %#x", name, h.Sum64(), want[name])
		}
	}
}

// strs returns the texts of a column.
func strs(tab *table.Table, name string) (list []string) {
	for c, f := range tab.Fields {
		for i := range tab.Rows() {
			if f.Name == name {
				list = append(list, tab.Chunks[0].Segments[c].Value(i).S)
			}
		}
	}
	return list
}

// What the benchmark says of its columns.
func TestSSBFollowsItsSpecification(t *testing.T) {
	tables := ssbTables(t, 0.01, 1, 0)
	for name, rows := range map[string]int{"lineorder": 60_000, "customer": 300, "supplier": 20, "part": 2000, "date": 2556} {
		if tables[name].Rows() != rows {
			t.Errorf("%s has %d rows, want %d", name, tables[name].Rows(), rows)
		}
	}
	list, err := generate.Databases()[0].Tables(20)
	if err != nil || list[0].DefaultRows != 120_000_000 || list[1].DefaultRows != 600_000 || list[2].DefaultRows != 40_000 || list[3].DefaultRows != 1_000_000 {
		t.Errorf("scale 20: %v, %v", list, err)
	}
	for _, scale := range []float64{0, -1, 0.0001, 1e9} {
		if _, err := generate.Databases()[0].Tables(scale); err == nil {
			t.Errorf("there are tables at scale %v", scale)
		}
	}

	l := tables["lineorder"]
	col := func(name string) []int64 { return column(t, l, "lo_"+name) }
	key, number, customer, part, supplier := col("orderkey"), col("linenumber"), col("custkey"), col("partkey"), col("suppkey")
	price, discount, revenue, quantity, tax, total := col("extendedprice"), col("discount"), col("revenue"), col("quantity"), col("tax"), col("ordtotalprice")
	ordered, committed, cost := col("orderdate"), col("commitdate"), col("supplycost")
	days := map[int64]bool{}
	for _, d := range column(t, tables["date"], "d_datekey") {
		days[d] = true
	}
	sum, first := int64(0), 0
	for i := range key {
		p := 90_000 + part[i]/10%20_001 + 100*(part[i]%1000)
		if customer[i] < 1 || customer[i] > 300 || customer[i]%3 == 0 || part[i] < 1 || part[i] > 2000 || supplier[i] < 1 || supplier[i] > 20 ||
			!days[ordered[i]] || !days[committed[i]] || committed[i] <= ordered[i] || ordered[i] > 19980802 || quantity[i] < 1 || quantity[i] > 50 ||
			price[i] != quantity[i]*p || revenue[i] != price[i]*(100-discount[i])/100 || cost[i] != 6*p/10 || discount[i] > 10 || tax[i] > 8 {
			t.Fatalf("line %d is wrong", i)
		}
		if i > 0 && key[i] == key[i-1] {
			if number[i] != number[i-1]+1 || customer[i] != customer[i-1] || ordered[i] != ordered[i-1] || total[i] != total[i-1] {
				t.Fatalf("line %d is not of the order before it", i)
			}
		} else {
			if i > 0 && (sum != total[first] || key[i] <= key[i-1]) {
				t.Fatalf("the order before line %d has a total of %d, its lines of %d", i, total[first], sum)
			}
			if number[i] != 1 || key[i]%32 > 7 {
				t.Fatalf("line %d begins no order", i)
			}
			sum, first = 0, i
		}
		sum += revenue[i] * (100 + tax[i]) / 100
	}

	for _, p := range []string{"c", "s"} {
		party := tables[map[string]string{"c": "customer", "s": "supplier"}[p]]
		nation := strs(party, p+"_nation")
		for i, city := range strs(party, p+"_city") {
			if len(city) != 10 || !strings.HasPrefix(nation[i]+"         ", city[:9]) {
				t.Fatalf("%q is no city of %s", city, nation[i])
			}
		}
	}
	brand, category, maker := strs(tables["part"], "p_brand1"), strs(tables["part"], "p_category"), strs(tables["part"], "p_mfgr")
	for i := range brand {
		if !strings.HasPrefix(brand[i], category[i]) || !strings.HasPrefix(category[i], maker[i]) {
			t.Fatalf("part %d: %s, %s, %s", i, maker[i], category[i], brand[i])
		}
	}
}
