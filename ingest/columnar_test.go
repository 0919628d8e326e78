package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/arrowipc"
	parquetio "github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/table"
)

// streamBytes writes a table as an Arrow stream: the batches of its file.
func streamBytes(t tb, tab *table.Table) []byte {
	r, err := ipc.NewFileReader(bytes.NewReader(arrowBytes(t, tab)))
	if err != nil {
		t.Fatalf("%v", err)
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(r.Schema()))
	for i := range r.NumRecords() {
		rec, err := r.RecordBatch(i)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if err := w.Write(rec); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes()
}

// arrowJSON writes one column of a type, given as JSON, as an Arrow file.
func arrowJSON(t *testing.T, dt arrow.DataType, json string, opts ...ipc.Option) []byte {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return arrowFile(t, []arrow.Field{{Name: "x", Type: dt, Nullable: true}}, []arrow.Array{arr}, opts...)
}

func arrowFile(t *testing.T, fields []arrow.Field, cols []arrow.Array, opts ...ipc.Option) []byte {
	t.Helper()
	sc := arrow.NewSchema(fields, nil)
	rec := array.NewRecordBatch(sc, cols, -1)
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, append(opts, ipc.WithSchema(sc))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadBytes(t tb, name string, data []byte, o ingest.Options) *table.Table {
	t.Helper()
	told := announced(t, &o)
	tab, err := ingest.Load(context.Background(), "t", ingest.Source{Path: name, Data: data}, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	check(t, tab)
	told(tab, false) // the file may lie
	return tab
}

func TestArrowTypes(t *testing.T) {
	ts := func(u arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: u, TimeZone: zone}
	}
	dict := func(v arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: v}
	}
	for _, c := range []struct {
		dt          arrow.DataType
		json        string
		typ, values string
	}{
		{arrow.Null, `[null, null]`, "unknown", "NULL NULL"},
		{arrow.FixedWidthTypes.Boolean, `[true, null, false]`, "boolean", "true NULL false"},
		{arrow.PrimitiveTypes.Int8, `[-128, null, 127]`, "smallint", "-128 NULL 127"},
		{arrow.PrimitiveTypes.Int16, `[-32768, 32767]`, "smallint", "-32768 32767"},
		{arrow.PrimitiveTypes.Int32, `[-2147483648, 2147483647]`, "integer", "-2147483648 2147483647"},
		{arrow.PrimitiveTypes.Int64, `[-9223372036854775808, 9223372036854775807]`, "bigint", "-9223372036854775808 9223372036854775807"},
		{arrow.PrimitiveTypes.Uint8, `[0, 255]`, "smallint", "0 255"},
		{arrow.PrimitiveTypes.Uint16, `[0, 65535]`, "integer", "0 65535"},
		{arrow.PrimitiveTypes.Uint32, `[0, 4294967295]`, "bigint", "0 4294967295"},
		{arrow.PrimitiveTypes.Uint64, `[0, 9223372036854775807]`, "bigint", "0 9223372036854775807"},
		{arrow.FixedWidthTypes.Float16, `[1.5, null, -65504]`, "real", "1.5 NULL -65504"},
		{arrow.PrimitiveTypes.Float32, `[0.1, 3.4028235e38]`, "real", "0.1 3.4028235e+38"},
		{arrow.PrimitiveTypes.Float64, `[0.1, 1e308]`, "double precision", "0.1 1e+308"},
		{arrow.FixedWidthTypes.Date32, `["1969-12-31", "2024-02-29"]`, "date", "1969-12-31 2024-02-29"},
		{arrow.FixedWidthTypes.Date64, `["1969-12-31", "2024-02-29"]`, "date", "1969-12-31 2024-02-29"},
		{ts(arrow.Second, ""), `["1969-12-31 23:59:59"]`, "timestamp without time zone", "1969-12-31 23:59:59"},
		{ts(arrow.Millisecond, ""), `["1970-01-01 00:00:00.001"]`, "timestamp without time zone", "1970-01-01 00:00:00.001"},
		{ts(arrow.Microsecond, ""), `["1970-01-01 00:00:00.000001"]`, "timestamp without time zone", "1970-01-01 00:00:00.000001"},
		{ts(arrow.Nanosecond, ""), `["1969-12-31 23:59:59.999999", null]`, "timestamp without time zone", "1969-12-31 23:59:59.999999 NULL"},
		{arrow.FixedWidthTypes.Duration_ns, `[-1000]`, "interval", "-00:00:00.000001"},
		{ts(arrow.Microsecond, "UTC"), `["1970-01-01T00:00:00Z"]`, "timestamp without time zone", "1970-01-01 00:00:00"},
		{&arrow.DurationType{Unit: arrow.Second}, `[36000, null, -1]`, "interval", "10:00:00 NULL -00:00:01"},
		{arrow.FixedWidthTypes.Duration_us, `[86400000001]`, "interval", "1 day 00:00:00.000001"},
		{&arrow.Decimal128Type{Precision: 18, Scale: 2}, `["9999999999999999.99", "-0.01"]`, "numeric(18,2)", "9999999999999999.99 -0.01"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["-9999999999999999.99", null, "0.01"]`, "numeric(18,2)", "-9999999999999999.99 NULL 0.01"},
		{&arrow.Decimal32Type{Precision: 9, Scale: 0}, `["999999999"]`, "numeric(9,0)", "999999999"},
		{&arrow.Decimal64Type{Precision: 18, Scale: 18}, `["0.000000000000000001"]`, "numeric(18,18)", "0.000000000000000001"},
		{arrow.BinaryTypes.String, `["b", null, "", "é"]`, "character varying", "b NULL  é"},
		{arrow.BinaryTypes.LargeString, `["b", null, ""]`, "character varying", "b NULL "},
		{arrow.BinaryTypes.StringView, `["b", null, "longer than twelve bytes"]`, "character varying", "b NULL longer than twelve bytes"},
		{dict(arrow.BinaryTypes.String), `["b", "a", null, "b"]`, "character varying", "b a NULL b"},
		{dict(arrow.PrimitiveTypes.Int32), `[7, null, 7]`, "integer", "7 NULL 7"},
	} {
		for _, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
			tab := loadBytes(t, "x.arrow", arrowJSON(t, c.dt, c.json, opts...), ingest.Options{ChunkRows: 2})
			var got []string
			for _, v := range valuesOf(tab, 0) {
				got = append(got, v.String())
			}
			if f := tab.Fields[0]; f.Unsupported != "" || f.Type.String() != c.typ || strings.Join(got, " ") != c.values {
				t.Errorf("%s: %v with %q, want %s with %q", c.dt, f, got, c.typ, c.values)
			}
		}
	}
}

// A column that cannot be used does not keep the others from loading.
func TestArrowUnsupported(t *testing.T) {
	for _, c := range []struct {
		dt   arrow.DataType
		json string
		want string
	}{
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1970-01-01 00:00:00.000000001"]`, "a time in nanoseconds that is not whole microseconds"},
		{&arrow.DurationType{Unit: arrow.Nanosecond}, `[1]`, "a time in nanoseconds that is not whole microseconds"},
		{arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1]]`, "type list<item: int32, nullable>"},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}), `[{"a": 1}]`, "type struct<a: int32>"},
		{arrow.BinaryTypes.Binary, `["AA=="]`, "type binary"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 19}, `["1"]`, "DECIMAL(38,19): more than 18 digits after the point, or than in all"},
		{&arrow.Decimal128Type{Precision: 19, Scale: 0}, `["1000000000000000000"]`, "a value out of range for numeric(18,0)"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["-100000000000000000000000000000000.00"]`, "a value out of range for numeric(18,2)"},
		{arrow.FixedWidthTypes.Time32s, `["00:00:01"]`, "type time32[s]"},
		{arrow.PrimitiveTypes.Uint64, `[9223372036854775808]`, "a value out of range for bigint"},
		{arrow.FixedWidthTypes.Date32, `[-2440589]`, "a value out of range for date"},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, `[-210866803200000001]`, "a value out of range for timestamp without time zone"},
		{&arrow.TimestampType{Unit: arrow.Second}, `[9223372036854775]`, "a value out of range for timestamp without time zone"},
	} {
		arr, _, err := array.FromJSON(memory.DefaultAllocator, c.dt, strings.NewReader(c.json))
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader(`[42]`))
		if err != nil {
			t.Fatal(err)
		}
		data := arrowFile(t, []arrow.Field{{Name: "x", Type: c.dt}, {Name: "n", Type: arrow.PrimitiveTypes.Int32}}, []arrow.Array{arr, n})
		tab := loadBytes(t, "x.arrow", data, ingest.Options{})
		if got := tab.Fields[0].Unsupported; got != c.want {
			t.Errorf("%s: unsupported because %q, want %q", c.dt, got, c.want)
		}
		if tab.Rows() != 1 || tab.Chunks[0].Segments[0] != nil || tab.Chunks[0].Segments[1].Value(0).I != 42 {
			t.Errorf("%s: the other column did not load", c.dt)
		}
	}
}

func TestArrowStreamCutBetweenBatches(t *testing.T) {
	whole := streamBytes(t, small(t))
	cut := whole[:len(whole)-8] // less the end mark
	_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.arrow", Data: cut}, ingest.Options{})
	if want := "the stream has no end mark after 2 messages; the file is damaged or incomplete: write it or fetch it again"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Columns of one name are told apart, and it is said.
func TestNamesTwice(t *testing.T) {
	n, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader(`[42]`))
	if err != nil {
		t.Fatal(err)
	}
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, name := range []string{"n", "n_1", "n", "n"} {
		fields, arrays = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32}), append(arrays, n)
	}
	parquet := written(t, parquetio.NewWriter, fields, arrays)
	for path, data := range map[string][]byte{"x.arrow": arrowFile(t, fields, arrays), "x.parquet": parquet, "x.csv": []byte("n,n_1,n,n\n1,2,3,4\n")} {
		var notes []string
		tab := loadBytes(t, path, data, ingest.Options{Note: func(text string) { notes = append(notes, text) }})
		var names []string
		for _, f := range tab.Fields {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, []string{"n", "n_1", "n_2", "n_3"}) {
			t.Errorf("%s: the columns are %q", path, names)
		}
		if want := []string{path + ": column 3 is named n as one before it: it is n_2 here", path + ": column 4 is named n as one before it: it is n_3 here"}; !slices.Equal(notes, want) {
			t.Errorf("got %q, want %q", notes, want)
		}
	}
}

// written is a file of one batch.
func written(t *testing.T, open func(io.Writer, *arrow.Schema) (arrays.BatchWriter, error), fields []arrow.Field, arrays []arrow.Array) []byte {
	t.Helper()
	var b bytes.Buffer
	schema := arrow.NewSchema(fields, nil)
	w, err := open(&b, schema)
	if err == nil {
		err = w.Write(array.NewRecordBatch(schema, arrays, -1))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a query writes can be read again: intervals, and numbers that Parquet has no type for.
func TestResultsAreReadAgain(t *testing.T) {
	wide := &arrow.Decimal256Type{Precision: 50, Scale: 1}
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range []struct {
		t    arrow.DataType
		json string
	}{{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 0, "days": 1, "nanoseconds": 7200000000000}, null, {"months": 0, "days": 0, "nanoseconds": -500000000}, {"months": 1, "days": 0, "nanoseconds": 0}, {"months": -12, "days": 5, "nanoseconds": -1000000000}, {"months": 0, "days": 0, "nanoseconds": 360000000000000}]`}, {wide, `["12.5", null, "-0.1", null, null, "0"]`}} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.t, strings.NewReader(c.json))
		if err != nil {
			t.Fatal(err)
		}
		fields, arrays = append(fields, arrow.Field{Name: fmt.Sprint(c.t), Type: c.t, Nullable: true}), append(arrays, a)
	}
	for path, c := range map[string]struct {
		data  []byte
		types [2]string
	}{
		"x.arrow":   {written(t, arrowipc.NewFile, fields, arrays), [2]string{"interval", "numeric(18,1)"}},
		"s.arrow":   {written(t, arrowipc.NewStream, fields, arrays), [2]string{"interval", "numeric(18,1)"}},
		"x.parquet": {written(t, parquetio.NewWriter, fields, arrays), [2]string{"character varying", "character varying"}},
	} {
		for _, rows := range []int{0, 1, 4} {
			tab := loadBytes(t, path, c.data, ingest.Options{ChunkRows: rows})
			for i, want := range []string{"[1 day 02:00:00 NULL -00:00:00.5 1 mon -1 years +5 days -00:00:01 100:00:00]", "[12.5 NULL -0.1 NULL NULL 0.0]"} {
				if got := fmt.Sprint(valuesOf(tab, i)); got != want || tab.Fields[i].Type.String() != c.types[i] {
					t.Errorf("%s: %s %s, want %s %s", path, tab.Fields[i].Type, got, c.types[i], want)
				}
			}
		}
	}
}

// A column of a table has one of the intervals that are equal. A file with two of them has no such column, wherever they are in it.
// Intervals beyond 64 bits of microseconds are none, either.
func TestIntervalsOfAFileAreApart(t *testing.T) {
	const month, days, hours = `{"months": 1, "days": 0, "nanoseconds": 0}`, `{"months": 0, "days": 30, "nanoseconds": 0}`, `{"months": 0, "days": 0, "nanoseconds": 2592000000000000}`
	file := func(t *testing.T, of ...string) []byte {
		a, _, err := array.FromJSON(memory.DefaultAllocator, arrow.FixedWidthTypes.MonthDayNanoInterval, strings.NewReader("["+strings.Join(of, ", ")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		return written(t, arrowipc.NewFile, []arrow.Field{{Name: "i", Type: a.DataType(), Nullable: true}}, []arrow.Array{a})
	}
	const beyond = "an interval that is not whole microseconds of 64 bits"
	for _, c := range []struct {
		of   []string
		want string
	}{
		{[]string{month, "null", month}, ""},
		{[]string{month, "null", days}, "1 mon and 30 days"},
		{[]string{days, "null", month}, "1 mon and 30 days"},
		{[]string{hours, "null", month}, "720:00:00 and 1 mon"},
		{[]string{days, hours, "null"}, "720:00:00 and 30 days"},
		{[]string{`{"months": 0, "days": 200000000, "nanoseconds": 0}`}, beyond},
		{[]string{`{"months": 2000000000, "days": 100000000, "nanoseconds": 0}`}, beyond},
		{[]string{`{"months": 2000000000, "days": -100000000, "nanoseconds": 0}`}, beyond},
		{[]string{`{"months": 0, "days": 0, "nanoseconds": 1}`}, beyond},
	} {
		want := c.want
		if strings.Contains(want, " and ") {
			want = "the intervals " + want + ", which are equal and not the same"
		}
		for _, rows := range []int{0, 1, 2} {
			tab := loadBytes(t, "x.arrow", file(t, c.of...), ingest.Options{ChunkRows: rows})
			got := tab.Fields[0].Unsupported
			first, second, both := strings.Cut(c.want, " and ")
			if got != want && !(both && got == "the intervals "+second+" and "+first+", which are equal and not the same") {
				t.Errorf("%s, %d rows a chunk: %q, want %q", c.of, rows, got, want)
			}
		}
	}
}

// pqColumn is one column of a Parquet file made by hand.
type pqColumn struct {
	node  schema.Node
	write func(file.ColumnChunkWriter) error
}

func pqNode(t *testing.T, lt schema.LogicalType, pt parquet.Type, length int) schema.Node {
	t.Helper()
	n, err := schema.NewPrimitiveNodeLogical("x", parquet.Repetitions.Optional, lt, pt, length, -1)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pqFile writes the columns, two rows each, into as many row groups as asked.
func pqFile(t *testing.T, groups int, cols ...pqColumn) []byte {
	t.Helper()
	var fields schema.FieldList
	for _, c := range cols {
		fields = append(fields, c.node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	for range groups {
		rg, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cols {
			cw, err := rg.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.write(cw); err != nil {
				t.Fatal(err)
			}
			if err := cw.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func i32(v ...int32) func(file.ColumnChunkWriter) error {
	return func(w file.ColumnChunkWriter) error {
		_, err := w.(*file.Int32ColumnChunkWriter).WriteBatch(v, []int16{1, 1}[:len(v)], nil)
		return err
	}
}

func i64(v ...int64) func(file.ColumnChunkWriter) error {
	return func(w file.ColumnChunkWriter) error {
		_, err := w.(*file.Int64ColumnChunkWriter).WriteBatch(v, []int16{1, 1}[:len(v)], nil)
		return err
	}
}

func i96(v ...[3]uint32) func(file.ColumnChunkWriter) error {
	return func(w file.ColumnChunkWriter) error {
		var all []parquet.Int96
		for _, x := range append(v, v...)[:2] {
			all = append(all, parquet.NewInt96(x))
		}
		_, err := w.(*file.Int96ColumnChunkWriter).WriteBatch(all, []int16{1, 1}, nil)
		return err
	}
}

func fixed(v ...string) func(file.ColumnChunkWriter) error {
	return func(w file.ColumnChunkWriter) error {
		var all []parquet.FixedLenByteArray
		for _, s := range v {
			all = append(all, parquet.FixedLenByteArray(s))
		}
		_, err := w.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(all, []int16{1, 1}[:len(v)], nil)
		return err
	}
}

func variable(v ...string) func(file.ColumnChunkWriter) error {
	return func(w file.ColumnChunkWriter) error {
		var all []parquet.ByteArray
		for _, s := range v {
			all = append(all, parquet.ByteArray(s))
		}
		_, err := w.(*file.ByteArrayColumnChunkWriter).WriteBatch(all, []int16{1, 1}[:len(v)], nil)
		return err
	}
}

func TestParquetTypes(t *testing.T) {
	none := schema.NoLogicalType{}
	integer := func(bits int8, signed bool) schema.LogicalType { return schema.NewIntLogicalType(bits, signed) }
	decimal := func(p, s int32) schema.LogicalType { return schema.NewDecimalLogicalType(p, s) }
	stamp := func(u schema.TimeUnitType) schema.LogicalType { return schema.NewTimestampLogicalType(true, u) }
	i32t, i64t, fix, byt := parquet.Types.Int32, parquet.Types.Int64, parquet.Types.FixedLenByteArray, parquet.Types.ByteArray
	for _, c := range []struct {
		lt          schema.LogicalType
		pt          parquet.Type
		length      int
		write       func(file.ColumnChunkWriter) error
		typ, values string
	}{
		{none, i32t, -1, i32(math.MinInt32, math.MaxInt32), "integer", "-2147483648 2147483647"},
		{integer(8, true), i32t, -1, i32(-128, 127), "smallint", "-128 127"},
		{integer(16, true), i32t, -1, i32(-32768, 32767), "smallint", "-32768 32767"},
		{integer(8, false), i32t, -1, i32(0, 255), "smallint", "0 255"},
		{integer(16, false), i32t, -1, i32(0, 65535), "integer", "0 65535"},
		{integer(32, false), i32t, -1, i32(0, -1), "bigint", "0 4294967295"},
		{none, i64t, -1, i64(math.MinInt64, math.MaxInt64), "bigint", "-9223372036854775808 9223372036854775807"},
		{integer(64, false), i64t, -1, i64(0, math.MaxInt64), "bigint", "0 9223372036854775807"},
		{schema.DateLogicalType{}, i32t, -1, i32(-1, 2145042905), "date", "1969-12-31 5874897-12-31"},
		{stamp(schema.TimeUnitMillis), i64t, -1, i64(-1, 1), "timestamp without time zone", "1969-12-31 23:59:59.999 1970-01-01 00:00:00.001"},
		{stamp(schema.TimeUnitMicros), i64t, -1, i64(-1, 1), "timestamp without time zone", "1969-12-31 23:59:59.999999 1970-01-01 00:00:00.000001"},
		{stamp(schema.TimeUnitNanos), i64t, -1, i64(-1000, 1_000_000_000), "timestamp without time zone", "1969-12-31 23:59:59.999999 1970-01-01 00:00:01"},
		{none, parquet.Types.Int96, -1, i96([3]uint32{1000, 0, 2440588}, [3]uint32{0, 0, 0}), "timestamp without time zone", "1970-01-01 00:00:00.000001 4714-11-24 00:00:00 BC"},
		{decimal(9, 2), i32t, -1, i32(-999999999, 5), "numeric(9,2)", "-9999999.99 0.05"},
		{decimal(18, 0), i64t, -1, i64(-999999999999999999, 5), "numeric(18,0)", "-999999999999999999 5"},
		{decimal(5, 1), fix, 3, fixed("\xff\xff\xff", "\x00\x01\x00"), "numeric(5,1)", "-0.1 25.6"},
		{decimal(18, 1), fix, 16, fixed(strings.Repeat("\xff", 15)+"\x80", strings.Repeat("\x00", 14)+"\x01\x00"), "numeric(18,1)", "-12.8 25.6"},
		{decimal(5, 1), byt, -1, variable("\xff", "\x01\x00"), "numeric(5,1)", "-0.1 25.6"},
		{schema.Float16LogicalType{}, fix, 2, fixed("\x00\x3e", "\x00\xfc"), "real", "1.5 -Infinity"},
		{schema.StringLogicalType{}, byt, -1, variable("", "é"), "character varying", " é"},
		{schema.EnumLogicalType{}, byt, -1, variable("x", "x"), "character varying", "x x"},
		{schema.JSONLogicalType{}, byt, -1, variable("{}", "[]"), "character varying", "{} []"},
	} {
		tab := loadBytes(t, "x.parquet", pqFile(t, 1, pqColumn{pqNode(t, c.lt, c.pt, c.length), c.write}), ingest.Options{})
		if f := tab.Fields[0]; f.Unsupported != "" || f.Type.String() != c.typ {
			t.Errorf("%s %s: field %v, want %s", c.lt, c.pt, f, c.typ)
			continue
		}
		vs := valuesOf(tab, 0)
		if got := vs[0].String() + " " + vs[1].String(); got != c.values {
			t.Errorf("%s %s: got %q, want %q", c.lt, c.pt, got, c.values)
		}
	}
}

func TestParquetUnsupported(t *testing.T) {
	none := schema.NoLogicalType{}
	list, err := schema.NewPrimitiveNodeLogical("x", parquet.Repetitions.Repeated, none, parquet.Types.Int32, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := schema.NewPrimitiveNodeLogical("leaf", parquet.Repetitions.Required, none, parquet.Types.Int32, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	group, err := schema.NewGroupNode("x", parquet.Repetitions.Required, schema.FieldList{leaf}, -1)
	if err != nil {
		t.Fatal(err)
	}
	repeated := func(w file.ColumnChunkWriter) error {
		_, err := w.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2}, []int16{1, 1}, []int16{0, 0})
		return err
	}
	for _, c := range []struct {
		col  pqColumn
		want string
	}{
		{pqColumn{list, repeated}, "a nested type"},
		{pqColumn{group, i32(1, 2)}, "a nested type"},
		{pqColumn{pqNode(t, schema.NewTimestampLogicalType(false, schema.TimeUnitNanos), parquet.Types.Int64, -1), i64(1000, 2)}, "a time in nanoseconds that is not whole microseconds"},
		{pqColumn{pqNode(t, none, parquet.Types.Int96, -1), i96([3]uint32{999, 0, 2440588})}, "a time in nanoseconds that is not whole microseconds"},
		{pqColumn{pqNode(t, none, parquet.Types.Int96, -1), i96([3]uint32{0, 0, 1 << 31})}, "a value out of range for timestamp without time zone"},
		{pqColumn{pqNode(t, schema.NewDecimalLogicalType(19, 2), parquet.Types.FixedLenByteArray, 9), fixed("123456789", "123456789")}, "a value out of range for numeric(18,2)"},
		{pqColumn{pqNode(t, schema.NewDecimalLogicalType(38, 19), parquet.Types.FixedLenByteArray, 16), fixed("1234567890123456", "1234567890123456")},
			"DECIMAL(38,19): more than 18 digits after the point, or than in all"},
		{pqColumn{pqNode(t, none, parquet.Types.ByteArray, -1), variable("a", "\xff")}, "binary data, which is not UTF-8 text"},
		{pqColumn{pqNode(t, none, parquet.Types.FixedLenByteArray, 1), fixed("a", "b")}, "binary data"},
		{pqColumn{pqNode(t, schema.UUIDLogicalType{}, parquet.Types.FixedLenByteArray, 16), fixed("0123456789abcdef", "0123456789abcdef")}, "type UUID"},
		{pqColumn{pqNode(t, schema.NewTimeLogicalType(true, schema.TimeUnitMillis), parquet.Types.Int32, -1), i32(1, 2)}, "type Time(isAdjustedToUTC=true, timeUnit=milliseconds)"},
		{pqColumn{pqNode(t, schema.NewIntLogicalType(64, false), parquet.Types.Int64, -1), i64(1, -1)}, "a value out of range for bigint"},
		{pqColumn{pqNode(t, schema.NewIntLogicalType(16, true), parquet.Types.Int32, -1), i32(1, 40000)}, "a value out of range for smallint"},
		{pqColumn{pqNode(t, schema.DateLogicalType{}, parquet.Types.Int32, -1), i32(1, 2145042906)}, "a value out of range for date"},
		{pqColumn{pqNode(t, schema.NewDecimalLogicalType(3, 0), parquet.Types.Int32, -1), i32(999, 1000)}, "a value out of range for numeric(3,0)"},
		{pqColumn{pqNode(t, schema.NewTimestampLogicalType(false, schema.TimeUnitMillis), parquet.Types.Int64, -1), i64(1, math.MaxInt64)}, "a value out of range for timestamp without time zone"},
	} {
		n, err := schema.NewPrimitiveNodeLogical("n", parquet.Repetitions.Required, none, parquet.Types.Int32, -1, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int64{0, 1 << 30} {
			tab := loadBytes(t, "x.parquet", pqFile(t, 2, c.col, pqColumn{n, i32(41, 42)}), ingest.Options{ChunkRows: 3, MemoryLimit: limit})
			if got := tab.Fields[0].Unsupported; got != c.want {
				t.Errorf("unsupported because %q, want %q", got, c.want)
			}
			if got := fmt.Sprint(valuesOf(tab, 1)); got != "[41 42 41 42]" {
				t.Errorf("%s: the other column has %s", c.want, got)
			}
		}
	}
}

// Bounds that are not those of the values are an error: of this writer they are the extremes.
func TestParquetBoundsThatAreWrong(t *testing.T) {
	n := pqColumn{pqNode(t, schema.NoLogicalType{}, parquet.Types.Int32, -1), i32(1000, 70_000)}
	data := pqFile(t, 2, n)
	footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	for _, c := range []struct {
		said, wrong int32
		want        string
	}{
		{1000, 2000, "no value is less than 2000 as it is stored, and there is 1000"},
		{70_000, 1001, "no value is greater than 1001 as it is stored, and there is 70000"},
		{70_000, math.MaxInt32, "the largest value is 2147483647 as it is stored, and it is 70000"},
		{1000, math.MinInt32, "the smallest value is -2147483648 as it is stored, and it is 1000"},
	} {
		said, wrong := binary.LittleEndian.AppendUint32(nil, uint32(c.said)), binary.LittleEndian.AppendUint32(nil, uint32(c.wrong))
		if !bytes.Contains(data[footer:], said) {
			t.Fatalf("the footer does not say %d", c.said)
		}
		lies := append(bytes.Clone(data[:footer]), bytes.ReplaceAll(data[footer:], said, wrong)...)
		_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.parquet", Data: lies}, ingest.Options{ChunkRows: 3})
		if err == nil || !strings.HasPrefix(err.Error(), "x.parquet: column x, row group 0, rows 1 to 2: the footer states that "+c.want) {
			t.Errorf("%d instead of %d: %v", c.wrong, c.said, err)
		}
	}
}

// NULLs of text that come late make none of the values before and behind them.
func TestTextWithOneNull(t *testing.T) {
	text := "s\n" + strings.Repeat("x\n", 25_000) + "\n" + strings.Repeat("y\n", 25_000)
	want := mustLoad(t, text, ingest.Source{})
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := ingest.WriteFile(context.Background(), path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, got)
	equal(t, got, want)
	if n := got.Chunks[0].Segments[0].Nulls; n != 1 {
		t.Errorf("%d NULLs", n)
	}
}

func TestParquetTextThatIsNotUTF8(t *testing.T) {
	data := pqFile(t, 1, pqColumn{pqNode(t, schema.StringLogicalType{}, parquet.Types.ByteArray, -1), variable("a", "\xff")})
	_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.parquet", Data: data}, ingest.Options{})
	if want := "x.parquet: column x, row group 0, rows 1 to 2: text that is not valid UTF-8; the file is damaged or incomplete: write it or fetch it again"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What a row group takes is told while somebody else reads the file: the race detector tells.
func TestRowGroupsTellWhatTheyTakeWhileTheyAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := ingest.WriteFile(context.Background(), path, mustLoad(t, "i,s\n1,a\n2,b\n3,c\n", ingest.Source{})); err != nil {
		t.Fatal(err)
	}
	f, err := ingest.Open(context.Background(), "t", ingest.Source{Path: path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := f.Unread().Read(context.Background(), []int{0, 1}, ingest.Options{})
		read <- err
	}()
	if n := f.GroupBytes(0, []int{1}); n <= 0 {
		t.Errorf("%d bytes", n)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
