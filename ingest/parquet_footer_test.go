package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/stencildb/stencildb/ingest"
	pq "github.com/stencildb/stencildb/internal/parquettest"
)

// oneColumn is a file of one row group of a column.
func oneColumn(c pq.Column, chunk pq.Chunk) []byte {
	rows := int64(0)
	for _, p := range chunk.Pages {
		if p.Kind == pq.Data || p.Kind == pq.DataV2 {
			rows += int64(p.Values)
		}
	}
	return pq.File{Columns: []pq.Column{c}, Groups: []pq.Group{{Rows: rows, Chunks: []pq.Chunk{chunk}}}}.Bytes()
}

// loaded is the rows of a file, or the error.
func loaded(data []byte) string {
	tab, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.parquet", Data: data}, ingest.Options{})
	if err != nil {
		return "error: " + err.Error()
	}
	if why := tab.Fields[0].Unsupported; why != "" {
		return "unsupported: " + why
	}
	return strings.ReplaceAll(rowsOf(tab), "\n", " ")
}

// delta is one value as DELTA_BINARY_PACKED has it: the sizes of blocks and of their parts, how many values there are, and the first.
func delta(v int64) []byte { return binary.AppendVarint([]byte{0x80, 1, 4, 1}, v) }

// A page of fewer values than its header states is an error that names its column and row group, and not filled up.
func TestParquetPagesThatLackValues(t *testing.T) {
	column := func(kind int32) pq.Column {
		return pq.Column{Name: "x", Type: kind, Length: map[int32]int32{pq.Fixed: 3}[kind]}
	}
	text := column(pq.ByteArray)
	text.Annotated, text.Converted = true, pq.UTF8
	decimal := column(pq.Fixed)
	decimal.Annotated, decimal.Converted, decimal.Precision = true, pq.Decimal, 5
	words := pq.Page{Kind: pq.Dictionary, Values: 1, Encoding: pq.Plain, Body: pq.Put32(9)}
	for name, c := range map[string]struct {
		column   pq.Column
		encoding int32
		one      []byte // a value
		want     string
		before   []pq.Page
	}{
		"DELTA_BINARY_PACKED, 32 bits":   {column(pq.Int32), pq.DeltaBinary, delta(7), "7 ", nil},
		"DELTA_BINARY_PACKED, 64 bits":   {column(pq.Int64), pq.DeltaBinary, delta(7), "7 ", nil},
		"DELTA_LENGTH_BYTE_ARRAY":        {text, pq.DeltaLength, append(delta(2), "ab"...), "'ab' ", nil},
		"DELTA_BYTE_ARRAY":               {text, pq.DeltaBytes, append(append(delta(0), delta(2)...), "ab"...), "'ab' ", nil},
		"BYTE_STREAM_SPLIT":              {column(pq.Int32), pq.StreamSplit, pq.Put32(7), "7 ", nil},
		"BYTE_STREAM_SPLIT, of a length": {decimal, pq.StreamSplit, []byte{0, 0, 7}, "7 ", nil},
		"PLAIN, 32 bits":                 {column(pq.Int32), pq.Plain, pq.Put32(7), "7 ", nil},
		"PLAIN, 64 bits":                 {column(pq.Int64), pq.Plain, pq.Put64(7), "7 ", nil},
		"PLAIN, text":                    {text, pq.Plain, pq.Texts("ab"), "'ab' ", nil},
		"PLAIN, of a length":             {decimal, pq.Plain, []byte{0, 0, 7}, "7 ", nil},
		"RLE_DICTIONARY":                 {column(pq.Int32), pq.RLEDictionary, []byte{1, 2, 0}, "9 ", []pq.Page{words}},
		"RLE, booleans":                  {column(pq.Boolean), pq.RLE, pq.Sized([]byte{2, 1}), "true ", nil},
	} {
		for _, kind := range []string{"required", "optional", "optional, without NULLs by its footer"} {
			c.column.Optional = kind != "required"
			chunk := func(values int) pq.Chunk {
				page := pq.Page{Values: int32(values), Encoding: c.encoding, Levels: pq.RLE, Body: c.one}
				if c.column.Optional {
					present := make([]bool, values)
					for i := range present {
						present[i] = true
					}
					page.Body = append(pq.Sized(pq.Levels(present...)), c.one...)
				}
				out := pq.Chunk{Pages: append(c.before[:len(c.before):len(c.before)], page)}
				if kind == "optional, without NULLs by its footer" {
					out.Statistics = &pq.Statistics{Nulls: pq.Some[int64](0)}
				}
				return out
			}
			if got := loaded(oneColumn(c.column, chunk(1))); got != c.want {
				t.Errorf("%s, %s: a page of one value has %s, want %s", name, kind, got, c.want)
			}
			for _, n := range []int{2, 9, 40} {
				if got := loaded(oneColumn(c.column, chunk(n))); !strings.HasPrefix(got, "error: x.parquet: column x, row group 0, rows 1 to ") {
					t.Errorf("%s, %s: a page of one value that states %d has %s", name, kind, n, got)
				}
			}
		}
	}
	few := oneColumn(column(pq.Int32), pq.Chunk{Pages: []pq.Page{{Kind: pq.Dictionary, Values: 3, Encoding: pq.Plain, Body: pq.Put32(9, 8)}, {Values: 1, Encoding: pq.RLEDictionary, Body: []byte{2, 2, 2}}}})
	if got := loaded(few); !strings.HasPrefix(got, "error: x.parquet: column x, row group 0, rows 1 to 1: a page has 2 values, and must have 3") {
		t.Errorf("a dictionary of two words that states three has %s", got)
	}
	levels := pq.Page{Values: 20, Encoding: pq.Plain, Levels: pq.RLE, Body: append(pq.Sized(pq.Levels(true, true)), pq.Put32(1, 2)...)}
	if got := loaded(oneColumn(pq.Column{Name: "x", Type: pq.Int32, Optional: true}, pq.Chunk{Pages: []pq.Page{levels}})); !strings.Contains(got, "a page has fewer definition levels than its 20 values") {
		t.Errorf("levels of 2 values for 20 have %s", got)
	}
	more := pq.File{Columns: []pq.Column{column(pq.Int32)}, Groups: []pq.Group{{Rows: 2, Chunks: []pq.Chunk{{Pages: []pq.Page{pq.PlainPage(pq.Put32(1, 2), 2, nil), pq.PlainPage(pq.Put32(3), 1, nil)}}}}}}
	if got := loaded(more.Bytes()); !strings.Contains(got, "column x, row group 0: 3 values in a row group of 2 rows") {
		t.Errorf("three values of two rows have %s", got)
	}
}

// Checksums of pages are verified where there are some.
func TestParquetChecksums(t *testing.T) {
	snappy, err := compress.GetCodec(compress.Codecs.Snappy)
	if err != nil {
		t.Fatal(err)
	}
	levels := pq.Levels(true, false, true)
	packed := snappy.Encode(nil, pq.Put32(5, 6))
	for name, page := range map[string]pq.Page{
		"version 1":             {Values: 3, Encoding: pq.Plain, Levels: pq.RLE, Body: append(pq.Sized(levels), pq.Put32(5, 6)...)},
		"version 2":             {Kind: pq.DataV2, Values: 3, Nulls: 1, Encoding: pq.Plain, Levels: int32(len(levels)), Body: append(bytes.Clone(levels), pq.Put32(5, 6)...)},
		"version 2, compressed": {Kind: pq.DataV2, Values: 3, Nulls: 1, Encoding: pq.Plain, Levels: int32(len(levels)), Body: append(bytes.Clone(levels), packed...), Unpacked: int32(len(levels) + 8)},
		"version 2, not compressed though the column is": {Kind: pq.DataV2, Values: 3, Nulls: 1, Encoding: pq.Plain, Levels: int32(len(levels)), Body: append(bytes.Clone(levels), pq.Put32(5, 6)...), Stored: true},
	} {
		chunk := pq.Chunk{Pages: []pq.Page{page}}
		if strings.Contains(name, "compressed") {
			chunk.Codec = pq.Snappy
		}
		column := pq.Column{Name: "x", Type: pq.Int32, Optional: true}
		for _, sum := range []bool{false, true} {
			chunk.Pages[0].Sum = sum
			if got := loaded(oneColumn(column, chunk)); got != "5 NULL 6 " {
				t.Errorf("%s, a checksum: %v: %s", name, sum, got)
			}
		}
		chunk.Pages[0].Wrong = true
		if got := loaded(oneColumn(column, chunk)); !strings.HasPrefix(got, "error: x.parquet: column x, row group 0, rows 1 to 3: the checksum of a page is ") {
			t.Errorf("%s, a wrong checksum: %s", name, got)
		}
	}
	words := pq.Page{Kind: pq.Dictionary, Values: 1, Encoding: pq.Plain, Body: pq.Put32(9), Sum: true}
	for _, words.Wrong = range []bool{false, true} {
		got := loaded(oneColumn(pq.Column{Name: "x", Type: pq.Int32}, pq.Chunk{Pages: []pq.Page{words, {Values: 2, Encoding: pq.RLEDictionary, Body: []byte{1, 4, 0}}}}))
		if words.Wrong == (got == "9 9 ") {
			t.Errorf("a dictionary with a wrong checksum: %v: %s", words.Wrong, got)
		}
	}
}

// What is valid is read, however seldom it is written.
func TestParquetSeldomButValid(t *testing.T) {
	number := pq.Column{Name: "x", Type: pq.Int32, Optional: true}
	bare := pq.Column{Name: "x", Type: pq.ByteArray}
	logical := func(kind int32, bytes ...byte) pq.Column { return pq.Column{Name: "x", Type: kind, Logical: bytes} }
	plain := func(values ...int32) pq.Page {
		present := make([]bool, len(values))
		for i := range present {
			present[i] = true
		}
		return pq.PlainPage(pq.Put32(values...), len(values), present)
	}
	rows := func(f pq.File) []byte { f.Rows = pq.Some[int64](0); return f.Bytes() }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"all NULL, of no bytes, packed": {oneColumn(number, pq.Chunk{Codec: pq.Snappy, Pages: []pq.Page{{Kind: pq.DataV2, Values: 2, Nulls: 2, Encoding: pq.Plain, Levels: 2, Body: []byte{4, 0}}}}), "NULL NULL "},
		"all NULL, of no deltas":        {oneColumn(number, pq.Chunk{Pages: []pq.Page{{Kind: pq.DataV2, Values: 2, Nulls: 2, Encoding: pq.DeltaBinary, Levels: 2, Body: []byte{4, 0}}}}), "NULL NULL "},
		"a page of no rows":             {oneColumn(number, pq.Chunk{Pages: []pq.Page{plain(1), plain(), plain(2)}}), "1 2 "},
		"an index page":                 {oneColumn(number, pq.Chunk{Pages: []pq.Page{plain(1), {Kind: pq.Index, Body: []byte("???")}, plain(2)}}), "1 2 "},
		"a page of the future":          {oneColumn(number, pq.Chunk{Pages: []pq.Page{plain(1), {Kind: 7, Body: []byte("???")}, plain(2)}}), "1 2 "},
		"levels that are bit-packed":    {oneColumn(number, pq.Chunk{Pages: []pq.Page{{Values: 3, Encoding: pq.Plain, Levels: pq.BitPacked, Body: append([]byte{0b10100000}, pq.Put32(5, 6)...)}}}), "5 NULL 6 "},
		"no number of rows in all":      {rows(pq.File{Columns: []pq.Column{number}, Groups: []pq.Group{{Rows: 1, Chunks: []pq.Chunk{{Pages: []pq.Page{plain(1)}}}}}}), "1 "},
		"bytes that are text":           {oneColumn(bare, pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Texts("a", "ä"), 2, nil)}}), "'a' 'ä' "},
		"bytes that are none":           {oneColumn(bare, pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Texts("a", "\xff"), 2, nil)}}), "unsupported: binary data, which is not UTF-8 text"},
		"a logical type of the future":  {oneColumn(logical(pq.Int32, 0x0c, 38, 0, 0), pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Put32(5), 1, nil)}}), "5 "},
		"a reserved logical type":       {oneColumn(logical(pq.Int32, 0x9c, 0, 0), pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Put32(5), 1, nil)}}), "5 "},
		"a unit of time of the future":  {oneColumn(logical(pq.Int64, 0x8c, 0x11, 0x1c, 0x4c, 0, 0, 0, 0), pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Put64(5), 1, nil)}}), "5 "},
		"a unit of time that is known":  {oneColumn(logical(pq.Int64, 0x8c, 0x11, 0x1c, 0x2c, 0, 0, 0, 0), pq.Chunk{Pages: []pq.Page{pq.PlainPage(pq.Put64(5), 1, nil)}}), "1970-01-01 00:00:00.000005 "},
	} {
		if got := loaded(c.data); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for file, want := range map[string]string{
		"datapage_v2_empty_datapage.snappy": "NULL ",
		"unknown-logical-type":              "'known string 1'|'unknown string 1' 'known string 2'|'unknown string 2' 'known string 3'|'unknown string 3' ",
		"repeated_no_annotation":            "1 2 3 4 5 6 ", // of the column that is not nested
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := ingest.Open(context.Background(), "t", ingest.Source{Path: file + ".parquet", Data: data}, ingest.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		columns := []int{0, 1}
		if file != "unknown-logical-type" {
			columns = columns[:1]
		}
		tab, err := f.Read(context.Background(), columns, ingest.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, c := range tab.Chunks {
			c.Segments = c.Segments[:len(columns)]
		}
		if got := strings.ReplaceAll(rowsOf(tab), "\n", " "); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// Numbers of the other byte order are not supported, which is not the same as damaged.
func TestArrowOfTheOtherByteOrder(t *testing.T) {
	var b bytes.Buffer
	s := arrow.NewSchemaWithEndian([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil, endian.NonNativeEndian)
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	builder := array.NewRecordBuilder(memory.DefaultAllocator, s)
	builder.Field(0).(*array.Int32Builder).Append(1)
	if err := w.Write(builder.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.arrow", Data: b.Bytes()}, ingest.Options{})
	if err == nil || !strings.Contains(err.Error(), "big-endian, which is not supported") || strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
}
