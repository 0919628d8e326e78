package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/table"
)

var columnTypes = []table.Type{
	{Kind: table.Boolean}, {Kind: table.SmallInt}, {Kind: table.Integer}, {Kind: table.BigInt},
	{Kind: table.Decimal, Precision: 18, Scale: 0}, {Kind: table.Decimal, Precision: 18, Scale: 18}, {Kind: table.Decimal, Precision: 5, Scale: 2},
	{Kind: table.Real}, {Kind: table.Double}, {Kind: table.Date}, {Kind: table.Timestamp}, {Kind: table.Varchar}, {Kind: table.Unknown},
}

// drawValue draws a value or NULL, extremes often.
func drawValue(t *rapid.T, typ table.Type) table.Value {
	if typ.Kind == table.Unknown || rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return table.Null(typ)
	}
	v := table.Value{Type: typ}
	ints := func(lo, hi int64) int64 {
		return rapid.OneOf(rapid.SampledFrom([]int64{lo, hi, max(lo, -1), 0, min(hi, 1)}), rapid.Int64Range(lo, hi)).Draw(t, "i")
	}
	negZero := math.Copysign(0, -1)
	switch typ.Kind {
	case table.Boolean:
		v.I = ints(0, 1)
	case table.SmallInt, table.Integer, table.BigInt, table.Decimal, table.Date, table.Timestamp:
		v.I = ints(typ.Limits())
	case table.Real:
		v.F = float64(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{float32(negZero), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, math.SmallestNonzeroFloat32})).Draw(t, "f"))
	case table.Double:
		v.F = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{negZero, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64})).Draw(t, "f")
	case table.Varchar:
		v.S = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "NULL", "a,b", "\"", "\r\n", "\n", " ", "\ufeff", "12", "a\tb"})).Draw(t, "s")
	}
	return v
}

func drawTable(t *rapid.T) *table.Table {
	var fields []table.Field
	for i, typ := range rapid.SliceOfN(rapid.SampledFrom(columnTypes), 1, 4).Draw(t, "types") {
		fields = append(fields, table.Field{Name: rapid.StringMatching(`[a-zA-Z ,"\n;éx]{0,3}`).Draw(t, "name") + fmt.Sprint(i), Type: typ})
	}
	b := table.NewBuilder("t", fields, rapid.IntRange(1, 5).Draw(t, "chunkRows"))
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		for i, f := range fields {
			b.Column(i).Value(drawValue(t, f.Type))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// declared lists a table's types, for a CSV that does not hold them.
func declared(tab *table.Table) []ingest.ColumnType {
	var cs []ingest.ColumnType
	for _, f := range tab.Fields {
		if f.Type.Kind != table.Unknown {
			cs = append(cs, ingest.ColumnType{Name: f.Name, Type: f.Type})
		}
	}
	return cs
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTable(t)
		check(t, want)
		o := ingest.Options{ChunkRows: rapid.IntRange(1, 5).Draw(t, "chunkRows")}
		csv := encode(t, want, func(w *bytes.Buffer, tab *table.Table) error { return ingest.WriteCSV(w, tab) })
		for _, c := range []struct {
			source ingest.Source
			data   []byte
		}{
			{ingest.Source{Path: "t.csv", Header: ingest.HeaderThere, Types: declared(want)}, csv},
			{ingest.Source{Path: "t.parquet"}, parquetBytes(t, want)},
			{ingest.Source{Path: "t.arrow"}, arrowBytes(t, want)},
			{ingest.Source{Path: "t.arrow"}, streamBytes(t, want)},
		} {
			c.source.Data = c.data
			told := announced(t, &o)
			got, err := ingest.Load(context.Background(), "t", c.source, o)
			if err != nil {
				t.Fatalf("%v in\n%s", err, csv)
			}
			check(t, got)
			equal(t, got, want)
			told(got, true)
		}
	})
}

// Enough rows for several batches, record batches and row groups.
func TestRoundTripOfManyRows(t *testing.T) {
	g, err := generate.Find("uniform")
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]int{"t.parquet": 1<<20 + 70_000, "t.arrow": 150_000} {
		want, err := g.Generate(context.Background(), rows, 7, rows/4, "n")
		if err != nil {
			t.Fatal(err)
		}
		data := arrowBytes
		if name == "t.parquet" {
			data = parquetBytes
		}
		equal(t, loadBytes(t, name, data(t, want), ingest.Options{ChunkRows: rows/4 + 1}), want)
	}
}

func TestParquetAndArrowChunkBoundaries(t *testing.T) {
	const chunk = 4
	for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk} {
		b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
		for i := range n {
			b.Column(0).Int(int64(i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		want := b.Table()
		for name, data := range map[string][]byte{"t.parquet": parquetBytes(t, want), "t.arrow": arrowBytes(t, want)} {
			got := loadBytes(t, name, data, ingest.Options{ChunkRows: chunk})
			equal(t, got, want)
			if len(got.Chunks) != (n+chunk-1)/chunk {
				t.Errorf("%s, %d rows: %d chunks", name, n, len(got.Chunks))
			}
		}
	}
}

func TestMemoryLimitOfParquetAndArrow(t *testing.T) {
	g, err := generate.Find("uniform")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := g.Generate(context.Background(), 300_000, 1, 0, "wide")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"t.parquet": parquetBytes(t, tab), "t.arrow": arrowBytes(t, tab)} {
		s := ingest.Source{Path: name, Data: data}
		_, err := ingest.Load(context.Background(), "t", s, ingest.Options{MemoryLimit: 2 << 20})
		if err == nil {
			t.Errorf("%s: 2.3 MiB of codes fit 2 MiB", name)
		} else if want := name + ": the table takes more than the 2 MiB of host memory allowed: raise --host-memory, or host_memory by SET, or load less"; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := ingest.Load(context.Background(), "t", s, ingest.Options{MemoryLimit: 8 << 20}); err != nil {
			t.Error(err)
		}
	}
}

// value is that of a column in a row of a table.
func value(t *table.Table, row, col int) table.Value {
	for _, c := range t.Chunks {
		if row < c.Rows {
			return c.Segments[col].Value(row)
		}
		row -= c.Rows
	}
	panic("no such row")
}

// writeRows writes some rows of a table as a file.
func writeRows(w io.Writer, t *table.Table, from, to int) error {
	f, err := parquet.NewRowsFile(w, t, nil)
	if err == nil {
		err = errors.Join(f.Write(t, from, to), f.Close())
	}
	return err
}

// Rows are written with dictionaries, but for columns whose values hardly come twice.
func TestDictionariesAreOfFewValues(t *testing.T) {
	fields := []table.Field{{Name: "few", Type: table.Type{Kind: table.BigInt}}, {Name: "many", Type: table.Type{Kind: table.BigInt}},
		{Name: "many.too", Type: table.Type{Kind: table.Double}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}}
	b := table.NewBuilder("t", fields, 30_000)
	for i := range 80_000 {
		b.Column(0).Int(int64(i * 7919 % 1000))
		b.Column(1).Int(int64(i * 7919))
		b.Column(2).Float(float64(i) / 7)
		b.Column(3).String(fmt.Sprint(i % 9))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	var out bytes.Buffer
	if err := writeRows(&out, tab, 100, 79_000); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, true} {
		c, err := r.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil || c.HasDictionaryPage() != want {
			t.Errorf("%s has a dictionary: %v, %v", fields[i].Name, c.HasDictionaryPage(), err)
		}
	}
	back, err := ingest.Load(context.Background(), "t", ingest.Source{Format: ingest.Parquet, Data: out.Bytes()}, ingest.Options{})
	if err != nil || back.Rows() != 78_900 {
		t.Fatal(err)
	}
	for i := range fields {
		for _, row := range []int{0, 29_899, 29_900, 59_899, 59_900, 78_899} {
			got, want := value(back, row, i), value(tab, row+100, i)
			if got.String() != want.String() {
				t.Errorf("%s, row %d: %v, want %v", fields[i].Name, row, got, want)
			}
		}
	}
}

// Long texts that repeat take hardly any room in a file, and are read from it all the same. A row group has no more of them than
// memory has room for.
func TestLongTexts(t *testing.T) {
	text := table.Type{Kind: table.Varchar}
	b := table.NewBuilder("t", []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: text}}, 0)
	for i := range 80 { // row groups of at most 64 MiB of text, but for the row that is longer
		n := 125_000
		if i == 70 {
			n = 68 * n
		}
		v := table.Str(strings.Repeat(fmt.Sprintf("%08d", i), n))
		v.Null = i%20 == 3
		b.Column(0).Value(table.Int(int64(i)))
		b.Column(1).Value(v)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	want := b.Table()
	var data bytes.Buffer
	if err := writeRows(&data, want, 0, want.Rows()); err != nil {
		t.Fatal(err)
	}
	s := ingest.Source{Path: "t.parquet", Data: data.Bytes()}
	f, err := ingest.Open(context.Background(), "t", s, ingest.Options{})
	if err != nil || f.Groups() < 3 {
		t.Fatalf("%d row groups, %v", f.Groups(), err)
	}
	got, err := f.Read(context.Background(), want.All(), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, want)
	large := &table.Table{Name: "t", Fields: []table.Field{{Name: "s", Type: text}}, Chunks: []*table.Chunk{{Rows: 1, Segments: []*table.Segment{table.SegmentOf(text, table.Str(strings.Repeat("long ", 26<<20)))}}}}
	data.Reset()
	if err := writeRows(&data, large, 0, 1); err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{false, true} {
		got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "t.parquet", Data: data.Bytes()}, ingest.Options{Trusted: trusted})
		if ok := err == nil && len(got.Chunks[0].Segments[0].Dict[0]) == 130<<20; ok != trusted {
			t.Errorf("130 MiB of text in %d bytes, trusted %v: %v", data.Len(), trusted, err)
		}
	}
	if _, err := ingest.Load(context.Background(), "t", s, ingest.Options{MemoryLimit: 16 << 20}); !errors.As(err, new(*ingest.MemoryError)) {
		t.Errorf("with less memory than a text has: %v", err)
	}
}
