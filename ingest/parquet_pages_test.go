package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/ingest"
)

// pagesOf writes a column of integers that may be NULL as pages of about 2,000 values.
func pagesOf(t *testing.T, values []int32, levels []int16, props ...parquet.WriterProperty) []byte {
	t.Helper()
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{pqNode(t, schema.NoLogicalType{}, parquet.Types.Int32, -1)}, -1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(parquet.NewWriterProperties(append(props, parquet.WithDataPageSize(8000))...)))
	rg, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	cw, err := rg.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	for len(levels) > 0 { // a page ends where a batch does
		n, some := min(1000, len(levels)), 0
		for _, l := range levels[:n] {
			some += int(l)
		}
		if _, err := cw.(*file.Int32ColumnChunkWriter).WriteBatch(values[:some], levels[:n], nil); err != nil {
			t.Fatal(err)
		}
		values, levels = values[some:], levels[n:]
	}
	for _, end := range []func() error{cw.Close, rg.Close, w.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// Pages of each version and encoding are read alike, with NULLs and without.
func TestParquetPages(t *testing.T) {
	const rows = 40_000 // some batches
	version := []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV1), parquet.WithDataPageVersion(parquet.DataPageV2)}
	for name, null := range map[string]func(i int) bool{
		"none":      func(int) bool { return false },
		"some":      func(i int) bool { return i%7 == 3 },
		"in a page": func(i int) bool { return i/10 == 3333 },
		"the last":  func(i int) bool { return i == rows-1 },
	} {
		var values []int32
		var levels []int16
		var want strings.Builder
		for i := range rows {
			v := int32(i % 100)
			if i > rows/2 { // more values than the dictionary takes
				v = int32(i)
			}
			if null(i) {
				levels = append(levels, 0)
				want.WriteString("NULL\n")
				continue
			}
			values, levels = append(values, v), append(levels, 1)
			want.WriteString(strconv.Itoa(int(v)) + "\n")
		}
		for v, version := range version {
			for encoding, props := range map[string][]parquet.WriterProperty{
				"plain":                {parquet.WithDictionaryDefault(false)},
				"dictionary":           {parquet.WithDictionaryDefault(true)},
				"dictionary and plain": {parquet.WithDictionaryDefault(true), parquet.WithDictionaryPageSizeLimit(1000)},
				"delta":                {parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked)},
			} {
				data := pagesOf(t, values, levels, append(props, version)...)
				if got := rowsOf(loadBytes(t, "x.parquet", data, ingest.Options{ChunkRows: 18_000})); got != want.String() {
					t.Errorf("NULLs: %s, pages of version %d, %s: other values", name, v+1, encoding)
				}
			}
		}
	}
}

// NULLs that the footer denies are an error, and so is a page that lacks values.
func TestParquetNullsThatAreDenied(t *testing.T) {
	const rows, page = 40_000, 2000
	values, levels := make([]int32, rows), make([]int16, rows)
	for i := range rows {
		values[i], levels[i] = int32(i), 1
	}
	data := pagesOf(t, values, levels, parquet.WithDictionaryDefault(false))
	run := append(binary.AppendUvarint([]byte{3, 0, 0, 0}, page<<1), 1)
	if n := bytes.Count(data, run); n != rows/page {
		t.Fatalf("%d pages begin with a run of %d ones, want %d", n, page, rows/page)
	}
	last := bytes.LastIndex(data, run)
	lies := bytes.Clone(data)
	lies[last+len(run)-1] = 0
	for what, data := range map[string][]byte{"the last page is of NULLs": lies, "levels take the place of values": short(data, last, 2003), "levels are longer than their page": short(data, last, 1<<31)} {
		_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "x.parquet", Data: data}, ingest.Options{})
		if err == nil {
			t.Errorf("no error where %s", what)
			continue
		}
		if oneLine(t, err); internals.MatchString(err.Error()) || !strings.Contains(err.Error(), "column x, row group 0") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// short is a file with another length of the definition levels at a place.
func short(data []byte, at int, length uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[at:], length)
	return data
}
