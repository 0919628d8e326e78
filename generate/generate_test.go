package generate_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

func made(t *testing.T, name string, rows int, seed uint64, chunk int, cols ...string) *table.Table {
	t.Helper()
	g, err := generate.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := g.Generate(context.Background(), rows, seed, chunk, cols...)
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	if tab.Rows() != rows {
		t.Fatalf("%s: %d rows, want %d", name, tab.Rows(), rows)
	}
	return tab
}

// Chunks do not change the values, and the codes are those that a Builder makes.
func TestGeneratorsDoNotDependOnChunks(t *testing.T) {
	for _, g := range generate.All() {
		const rows = 20_000
		want := made(t, g.Name, rows, 42, 0)
		for _, chunk := range []int{1000, 4095, 4096, 4097, 8192, rows - 1, rows, rows + 1} {
			if got := made(t, g.Name, rows, 42, chunk); !slices.Equal(got.Fields, want.Fields) || text(got) != text(want) {
				t.Errorf("%s: chunks of %d rows change the table", g.Name, chunk)
			}
		}
		asBuilt(t, want)
	}
}

// asBuilt sees that the only chunk of a table has the codes that a Builder makes.
func asBuilt(t *testing.T, want *table.Table) {
	t.Helper()
	b := table.NewBuilder(want.Name, want.Fields, 0)
	for i := range want.Rows() {
		for c := range want.Fields {
			b.Column(c).Value(want.Chunks[0].Segments[c].Value(i))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	for c, s := range b.Table().Chunks[0].Segments {
		got := want.Chunks[0].Segments[c]
		if got.Base != s.Base || got.Max != s.Max || got.Bits != s.Bits || got.Nulls != s.Nulls || !slices.Equal(got.Dict, s.Dict) {
			t.Errorf("%s.%s: base %d, max %d, %d words, want base %d, max %d, %d words", want.Name, want.Fields[c].Name, got.Base, got.Max, len(got.Dict), s.Base, s.Max, len(s.Dict))
		}
	}
}

// The data of a seed are fixed for good: results that people publish name it.
func TestGeneratorsAreFixed(t *testing.T) {
	want := map[string]uint64{"uniform": 0xfb612cdb11da43ec, "tcpip": 0x6389178f09e034b9, "census": 0x8bb26e8b3b80e99a, "lineorder": 0x43e4591463edf632, "wisconsin": 0x8a68da6acf7aff47}
	for _, g := range generate.All() {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text(made(t, g.Name, 1000, 1, 0))))
		if h.Sum64() != want[g.Name] {
			t.Errorf("%s with seed 1 hashes to %#x, not %#x", g.Name, h.Sum64(), want[g.Name])
		}
		if a, b := text(made(t, g.Name, 1000, 1, 0)), text(made(t, g.Name, 1000, 2, 0)); a == b {
			t.Errorf("%s: seeds 1 and 2 give the same", g.Name)
		}
	}
}

func TestGeneratorEdges(t *testing.T) {
	for _, g := range generate.All() {
		for _, rows := range []int{0, 1, 2, 63, 64, 65} {
			made(t, g.Name, rows, 3, 0)
		}
		if _, err := g.Generate(context.Background(), -1, 1, 0); err == nil {
			t.Errorf("%s made -1 rows", g.Name)
		}
		if _, err := g.Generate(context.Background(), 1, 1, 0, "none"); err == nil {
			t.Errorf("%s made a column that it has not", g.Name)
		}
	}
	if _, err := generate.Find("none"); err == nil || err.Error() != `no generator "none": there are uniform, tcpip, census, lineorder, wisconsin` {
		t.Errorf("got %v", err)
	}
}

// text is the values of a table, a line a row.
func text(tab *table.Table) string {
	var b strings.Builder
	for _, ch := range tab.Chunks {
		for r := range ch.Rows {
			for i, s := range ch.Segments {
				if i > 0 {
					b.WriteByte('|')
				}
				b.WriteString(s.Value(r).String())
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// column returns the non-NULL integers of a column.
func column(t *testing.T, tab *table.Table, name string) []int64 {
	t.Helper()
	c := slices.IndexFunc(tab.Fields, func(f table.Field) bool { return f.Name == name })
	var vs []int64
	for _, ch := range tab.Chunks {
		for r := range ch.Rows {
			if v := ch.Segments[c].Value(r); !v.Null {
				vs = append(vs, v.I)
			}
		}
	}
	return vs
}

func meanAndDeviation(vs []int64) (mean, dev float64) {
	for _, v := range vs {
		mean += float64(v)
	}
	mean /= float64(len(vs))
	for _, v := range vs {
		dev += (float64(v) - mean) * (float64(v) - mean)
	}
	return mean, math.Sqrt(dev / float64(len(vs)))
}

func median(vs []int64) int64 {
	vs = slices.Clone(vs)
	slices.Sort(vs)
	return vs[len(vs)/2]
}

// What the doc comments promise of the distributions.
func TestUniformDistribution(t *testing.T) {
	tab := made(t, "uniform", 100_000, 1, 0)
	for _, name := range []string{"a", "b", "c", "d"} {
		vs := column(t, tab, name)
		mean, dev := meanAndDeviation(vs)
		if math.Abs(mean/262143.5-1) > 0.01 || math.Abs(dev/151348-1) > 0.01 || slices.Max(vs) >= 1<<19 || slices.Min(vs) < 0 {
			t.Errorf("%s: mean %.0f, deviation %.0f, up to %d", name, mean, dev, slices.Max(vs))
		}
	}
	if slices.Equal(column(t, tab, "a"), column(t, tab, "b")) {
		t.Error("a and b are the same")
	}
	n := column(t, tab, "n")
	if mean, _ := meanAndDeviation(n); math.Abs(mean-499.5) > 5 || math.Abs(float64(len(n))/90_000-1) > 0.01 || slices.Max(n) != 999 || slices.Min(n) != 0 {
		t.Errorf("n: mean %.1f of %d values", mean, len(n))
	}
	if s := tab.Chunks[0].Segments[4]; s.Bits != 64 {
		t.Errorf("wide has %d bits", s.Bits)
	}
}

func TestTCPIPDistribution(t *testing.T) {
	tab := made(t, "tcpip", 100_000, 1, 0)
	count, loss := column(t, tab, "data_count"), column(t, tab, "data_loss")
	flow, re := column(t, tab, "flow_rate"), column(t, tab, "retransmissions")
	mean, dev := meanAndDeviation(count)
	if m := median(count); slices.Max(count) != 1<<19-1 || m < 600 || m > 1000 || mean < 5000 || dev < 2.5*mean {
		t.Errorf("data_count: median %d, mean %.0f, deviation %.0f, up to %d", m, mean, dev, slices.Max(count))
	}
	for i := range count {
		if loss[i] < 0 || loss[i] > count[i]/8 || flow[i] < 0 || flow[i] > count[i] || re[i] < loss[i]*3/4 || re[i] > loss[i]*5/4+7 {
			t.Fatalf("record %d: %d, %d, %d, %d", i, count[i], loss[i], flow[i], re[i])
		}
	}
	for _, rows := range []int{1, 10, 1000} {
		if m := slices.Max(column(t, made(t, "tcpip", rows, 9, 0), "data_count")); m != 1<<19-1 {
			t.Errorf("%d rows: the largest data_count is %d", rows, m)
		}
	}
}

func TestCensusDistribution(t *testing.T) {
	tab := made(t, "census", 100_000, 1, 0)
	income := column(t, tab, "monthly_income")
	earning := slices.DeleteFunc(slices.Clone(income), func(v int64) bool { return v == 0 })
	mean, _ := meanAndDeviation(earning)
	m := median(earning)
	if idle := 1 - float64(len(earning))/float64(len(income)); math.Abs(idle-0.125) > 0.005 || m < 2300 || m > 2700 || mean < 1.1*float64(m) {
		t.Errorf("monthly_income: %.3f idle, median %d, mean %.0f", idle, m, mean)
	}
	hours := column(t, tab, "weekly_hours")
	for i, v := range column(t, tab, "age") {
		if v < 15 || v > 90 || (hours[i] == 0) != (income[i] == 0) || income[i] > 35_387 {
			t.Fatalf("person %d: age %d, %d hours, income %d", i, v, hours[i], income[i])
		}
	}
}

func TestGeneratingStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, g := range generate.All() {
		if tab, err := g.Generate(ctx, 10_000, 1, 0); tab != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", g.Name, tab, err)
		}
	}
}

func TestRowBytesIsWhatARowTakes(t *testing.T) {
	for _, g := range generate.All() {
		const rows = 1 << 16
		tab, err := g.Generate(context.Background(), rows, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range tab.Chunks[0].Segments {
			if n += s.Codes.Bytes(); len(s.Dict) == rows { // texts of their own, which are told about
				n += 40*rows - s.Codes.Bytes() + rows
			}
		}
		if n != rows*g.RowBytes() {
			t.Errorf("%s: %d rows take %d bytes, RowBytes is %d", g.Name, rows, n, g.RowBytes())
		}
	}
}

// Each chunk has codes of the column's full width.
func TestCalibrationHasTheWidthsThatItSays(t *testing.T) {
	tab, err := generate.Calibration().Generate(context.Background(), 2048, 1, 1024)
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Check(); err != nil || len(tab.Chunks) != 2 || len(tab.Fields) != 13 {
		t.Errorf("%v; %d chunks, %d columns", err, len(tab.Chunks), len(tab.Fields))
	}
	for _, c := range tab.Chunks {
		for i, f := range tab.Fields {
			want := map[string]int{"n": 7, "w": 40, "r": 30, "x": 62}[f.Name]
			if want == 0 {
				want = 19
			}
			if s := c.Segments[i]; s.Bits != want || s.Value(0).Null {
				t.Errorf("%s has %d bits, not %d", f.Name, s.Bits, want)
			}
		}
	}
}

// The Wisconsin table's unique1 is a permutation, whatever the number of rows, and the others follow from it and from unique2.
func TestWisconsin(t *testing.T) {
	for _, rows := range []int{1, 2, 3, 100, 1000, 4097} {
		seen := make([]bool, rows)
		moved := 0
		for i := range rows {
			w := generate.Wisconsin(i, rows, 3)
			u := w.Numbers[0]
			if seen[u] {
				t.Fatalf("%d rows: unique1 is %d twice", rows, u)
			}
			if seen[u] = true; u != int32(i) {
				moved++
			}
			one := u % 100
			if w.Numbers != [9]int32{u, int32(i), u % 2, u % 4, u % 10, u % 20, u, 2 * one, 2*one + 1} || w.Percents != [4]float32{float32(one), float32(u % 10), float32(u % 5), float32(u % 2)} {
				t.Fatalf("row %d of %d: %+v", i, rows, w)
			}
		}
		if rows >= 100 && moved < rows*9/10 {
			t.Errorf("%d of %d rows are not where they were", moved, rows)
		}
	}
	tab := made(t, "wisconsin", 1000, 3, 0)
	for i := range 1000 {
		w := generate.Wisconsin(i, 1000, 3)
		for c, f := range tab.Fields {
			want := ""
			switch {
			case c < 9:
				want = table.Value{Type: f.Type, I: int64(w.Numbers[c])}.String()
			case c < 13:
				want = table.Value{Type: f.Type, F: float64(w.Percents[c-9])}.String()
			default:
				want = string(w.Strings[c-13][:])
			}
			if got := tab.Chunks[0].Segments[c].Value(i).String(); got != want {
				t.Fatalf("row %d, %s: %s, want %s", i, f.Name, got, want)
			}
		}
	}
	if a, b := generate.Wisconsin(26, 1000, 3).Strings, generate.Wisconsin(27, 1000, 3).Strings; string(a[1][:]) != "AAAAAABA" || string(b[2][:]) != "VVVVxxxx" {
		t.Errorf("%s, %s", a, b)
	}
}
