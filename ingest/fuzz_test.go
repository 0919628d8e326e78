package ingest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
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
