package ingest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// FuzzCSV: no text makes the reader panic; an error is one line; and what loads
// is the same after WriteCSV, the types being declared.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "a\n\n1\n", "a,b\r\n\"x\"\"y\",\"\"\r\n,\n", "\xef\xbb\xbfa\n1.5\nnan\n", "a\n2020-01-02\n0044-03-15 BC\n",
		"a\n2020-01-02 03:04:05.678Z\n", "a\ntrue\nfalse", "\"a\nb\",c\n1,99999999999999999999\n", "a\n\"\xef\xbb\xbf\"\n", "a,b\n1\n", "a\n\"x", "a\r1\n", "\"\"\n\"\"\n",
		",\n-9223372036854775808,1e-320\n",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, noHeader bool) {
		o := ingest.Options{ChunkRows: 3}
		s := ingest.Source{}
		if noHeader {
			s.Header = ingest.HeaderNone
		}
		want, err := loadText(text, s, o)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		check(t, want)
		var b bytes.Buffer
		if err := ingest.WriteCSV(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := loadText(b.String(), ingest.Source{Header: ingest.HeaderThere, Types: declared(want)}, o)
		if err != nil {
			t.Fatalf("%v in %q, written for %q", err, b.String(), text)
		}
		check(t, got)
		equal(t, got, want)
	})
}

// seeds are tables that files are written of, for fuzzers to begin with. They are of each type, of text with and without
// repetition, of NULLs alone, and of no rows.
func seeds(f *testing.F) (list []*table.Table) {
	for _, text := range []string{
		"i,d,f,b,t,ts,s\n1,1.5,1e9,true,2020-01-02,2020-01-02 03:04:05,x\n,,,,,,\n-7,0.25,nan,false,0044-03-15 BC,1969-12-31 23:59:59.5,\n300,9.75,,,,,x\n",
		"a,b\n" + strings.Repeat("x,1\ny,2\n", 20), "a,b\n,\n,\n", "a\n",
	} {
		tab, err := loadText(text, ingest.Source{Header: ingest.HeaderThere}, ingest.Options{ChunkRows: 16})
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, tab)
	}
	return list
}

// FuzzParquet: no bytes make the reader panic or take much memory, and an error is one line.
func FuzzParquet(f *testing.F) {
	for _, tab := range seeds(f) {
		f.Add(parquetBytes(f, tab))
	}
	f.Fuzz(func(t *testing.T, data []byte) { loadDamaged(t, "t.parquet", data) })
}

// FuzzArrow: so for files and streams of Arrow.
func FuzzArrow(f *testing.F) {
	for _, tab := range seeds(f) {
		f.Add(arrowBytes(f, tab))
		f.Add(streamBytes(f, tab))
	}
	f.Fuzz(func(t *testing.T, data []byte) { loadDamaged(t, "t.arrow", data) })
}
