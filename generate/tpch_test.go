package generate_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// tpchTables are those of TPC-H at a scale, by their names.
func tpchTables(t *testing.T, scale float64, seed uint64) map[string]*table.Table {
	t.Helper()
	return databaseTables(t, 1, scale, seed, 0)
}

func TestTPCHIsFixed(t *testing.T) {
	const scale = 0.002
	want := map[string]uint64{"lineitem": 0x5cbce2e5b540dff7, "orders": 0x348bd3e55cef04c9, "partsupp": 0xd258e6acfa48429f, "part": 0xd96597f5d4b850b7,
		"customer": 0x9dcb2894a37b4481, "supplier": 0x7fa8761a1be80b22, "nation": 0x97a4ac3e6fe8a9b2, "region": 0x9e09a142af97e3fa}
	list, err := generate.Databases()[1].Tables(scale)
	if err != nil {
		t.Fatal(err)
	}
	other := tpchTables(t, scale, 2)
	for _, g := range list {
		whole, err := g.Generate(context.Background(), g.DefaultRows, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		asBuilt(t, whole)
		streamed := &table.Table{Name: g.Name, Fields: g.Fields()}
		for c, err := range g.Chunks(context.Background(), g.DefaultRows, 1, 1000) {
			if err != nil {
				t.Fatal(err)
			}
			streamed.Chunks = append(streamed.Chunks, c)
		}
		all := text(whole)
		if text(streamed) != all {
			t.Errorf("%s: a stream of chunks of 1,000 rows is another table", g.Name)
		}
		if text(other[g.Name]) == all {
			t.Errorf("%s: seeds 1 and 2 give the same", g.Name)
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(all))
		if h.Sum64() != want[g.Name] {
			t.Errorf("%s hashes to %#x, not %#x", g.Name, h.Sum64(), want[g.Name])
		}
	}
}

// A stream ends with the reason that its context gives.
func TestStreamsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	list, err := generate.Databases()[1].Tables(1)
	if err != nil {
		t.Fatal(err)
	}
	chunks := 0
	for c, err := range list[0].Chunks(ctx, list[0].DefaultRows, 1, 100) {
		if chunks++; chunks == 3 {
			cancel()
		}
		if err != nil {
			if chunks < 4 || chunks > 1000 || err != context.Canceled {
				t.Errorf("after %d chunks: %v", chunks, err)
			}
			return
		}
		if c.Rows != 100 {
			t.Fatalf("a chunk of %d rows", c.Rows)
		}
	}
	t.Error("the stream went on to its end")
}

// What the specification says of the columns, row by row (section 4.2.3).
func TestTPCHFollowsItsSpecification(t *testing.T) {
	tables := tpchTables(t, 0.01, 1)
	for name, rows := range map[string]int{"lineitem": 60_000, "orders": 15_000, "partsupp": 8000, "part": 2000, "customer": 1500, "supplier": 100, "nation": 25, "region": 5} {
		if tables[name].Rows() != rows {
			t.Errorf("%s has %d rows, want %d", name, tables[name].Rows(), rows)
		}
	}
	for _, scale := range []float64{0, -1, 0.0001, 1e9} {
		if _, err := generate.Databases()[1].Tables(scale); err == nil {
			t.Errorf("there are tables at scale %v", scale)
		}
	}
	col := func(name string) []int64 {
		for _, tab := range tables {
			if slices.ContainsFunc(tab.Fields, func(f table.Field) bool { return f.Name == name }) {
				return column(t, tab, name)
			}
		}
		t.Fatalf("no column %s", name)
		return nil
	}
	type supply struct{ part, supplier int64 }
	supplied := map[supply]bool{}
	psPart, psSupplier := col("ps_partkey"), col("ps_suppkey")
	for i := range psPart {
		supplied[supply{psPart[i], psSupplier[i]}] = true
	}
	if len(supplied) != 8000 {
		t.Errorf("partsupp has %d different keys", len(supplied))
	}
	price := col("p_retailprice")
	for i, p := range price {
		if k := int64(i + 1); p != 90_000+k/10%20_001+100*(k%1000) {
			t.Fatalf("part %d costs %d cents", k, p)
		}
	}

	const today = 9298              // 1995-06-17
	const first, last = 8035, 10440 // 1992-01-01, 1998-08-02
	oKey, oCustomer, oDate, oTotal, oStatus := col("o_orderkey"), col("o_custkey"), col("o_orderdate"), col("o_totalprice"), strs(tables["orders"], "o_orderstatus")
	lKey, lPart, lSupplier, lNumber, lQuantity := col("l_orderkey"), col("l_partkey"), col("l_suppkey"), col("l_linenumber"), col("l_quantity")
	lPrice, lDiscount, lTax := col("l_extendedprice"), col("l_discount"), col("l_tax")
	lShip, lCommit, lReceipt := col("l_shipdate"), col("l_commitdate"), col("l_receiptdate")
	flag, status := strs(tables["lineitem"], "l_returnflag"), strs(tables["lineitem"], "l_linestatus")
	line, counts := 0, map[int]int{}
	for o := range oKey {
		if oKey[o]%32 > 7 || o > 0 && oKey[o] <= oKey[o-1] || oCustomer[o] < 1 || oCustomer[o] > 1500 || oCustomer[o]%3 == 0 || oDate[o] < first || oDate[o] > last {
			t.Fatalf("order %d is wrong", oKey[o])
		}
		lines, sum, open := 0, int64(0), 0
		for ; line < len(lKey) && lKey[line] == oKey[o]; line++ {
			lines++
			wantFlag, wantStatus := "N", "F"
			if lReceipt[line] <= today {
				wantFlag = flag[line]
			}
			if lShip[line] > today {
				wantStatus = "O"
				open++
			}
			ship, commit, receipt := lShip[line]-oDate[o], lCommit[line]-oDate[o], lReceipt[line]-lShip[line]
			if lNumber[line] != int64(lines) || !supplied[supply{lPart[line], lSupplier[line]}] || lPrice[line] != lQuantity[line]/100*price[lPart[line]-1] ||
				lQuantity[line]%100 != 0 || ship < 1 || ship > 121 || commit < 30 || commit > 90 || receipt < 1 || receipt > 30 ||
				flag[line] != wantFlag || lReceipt[line] <= today && flag[line] == "N" || status[line] != wantStatus {
				t.Fatalf("line %d of order %d is wrong", lines, oKey[o])
			}
			sum += lPrice[line] * (100 - lDiscount[line]) / 100 * (100 + lTax[line]) / 100
		}
		want := map[int]string{0: "F", lines: "O"}[open]
		if want == "" {
			want = "P"
		}
		if counts[lines]++; lines < 1 || lines > 7 || sum != oTotal[o] || oStatus[o] != want {
			t.Fatalf("order %d: %d lines of %d cents, status %s, want %d cents and %s", oKey[o], lines, sum, oStatus[o], oTotal[o], want)
		}
	}
	if line != len(lKey) {
		t.Errorf("%d lines are of no order", len(lKey)-line)
	}
	for n := 1; n <= 7; n++ {
		if d := counts[n] - 15_000/7; d < -1 || d > 6 {
			t.Errorf("%d orders have %d lines", counts[n], n)
		}
	}
	for i, nation := range col("c_nationkey") {
		if phone := strs(tables["customer"], "c_phone")[i]; !strings.HasPrefix(phone, fmt.Sprintf("%d-", nation+10)) || len(phone) != 15 {
			t.Fatalf("customer %d of nation %d has the phone %s", i+1, nation, phone)
		}
		if i == 100 {
			break
		}
	}
	for _, name := range strs(tables["part"], "p_name") {
		words := strings.Fields(name)
		slices.Sort(words)
		if len(words) != 5 || len(slices.Compact(words)) != 5 {
			t.Fatalf("%q is no five different words", name)
		}
	}
}

// Shares of rows, which the selectivities of the queries are made of. The counts are those of dbgen's tables at scale 1.
func TestTPCHIsNearDBGen(t *testing.T) {
	const scale = 0.05
	tables := tpchTables(t, scale, 1)
	count := func(name, column string, is func(string) bool) (n float64) {
		for _, s := range strs(tables[name], column) {
			if is(s) {
				n++
			}
		}
		return n / scale
	}
	flags, status := strs(tables["lineitem"], "l_returnflag"), strs(tables["lineitem"], "l_linestatus")
	groups := map[string]float64{}
	for i := range flags {
		groups[flags[i]+status[i]] += 1 / scale
	}
	large, sum, keys := 0.0, int64(0), column(t, tables["lineitem"], "l_orderkey")
	for i, q := range column(t, tables["lineitem"], "l_quantity") {
		if i == 0 || keys[i] != keys[i-1] {
			sum = 0
		}
		if sum <= 300_00 && sum+q > 300_00 {
			large += 1 / scale
		}
		sum += q
	}
	for _, c := range []struct {
		what      string
		got, want float64
		near      float64 // as a share
	}{
		{"lines of Q1, A and F", groups["AF"], 1_478_493, 0.01},
		{"lines of Q1, N and F", groups["NF"], 38_854, 0.05},
		{"lines of Q1, N and O", groups["NO"], 3_004_998, 0.01}, // with those shipped after Q1's day
		{"lines of Q1, R and F", groups["RF"], 1_478_870, 0.01},
		{"orders of Q13 that are special requests", count("orders", "o_comment", func(s string) bool {
			_, behind, ok := strings.Cut(s, "special")
			return ok && strings.Contains(behind, "requests")
		}), 16_082, 0.1},
		{"suppliers with complaints, Q16", count("supplier", "s_comment", func(s string) bool {
			_, behind, ok := strings.Cut(s, "Customer")
			return ok && strings.Contains(behind, "Complaints")
		}), 4, 4},
		{"parts that are green, Q9", count("part", "p_name", func(s string) bool { return strings.Contains(s, "green") }), 10_664, 0.1},
		{"orders of Q18, beyond 300 pieces", large, 57, 2},
	} {
		if math.Abs(c.got-c.want) > c.near*c.want {
			t.Errorf("%s: %.0f, in dbgen's tables %.0f", c.what, c.got, c.want)
		}
	}
	if n := count("supplier", "s_comment", func(s string) bool { return len(s) < 25 || len(s) > 100 }); n > 0 {
		t.Errorf("%.0f comments of suppliers have not 25 to 100 characters", n)
	}
}
