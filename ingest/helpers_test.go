package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// loadText loads CSV text.
func loadText(text string, s ingest.Source, o ingest.Options) (*table.Table, error) {
	s.Path, s.Format, s.Data = "t.csv", ingest.CSV, []byte(text)
	return ingest.Load(context.Background(), "t", s, o)
}

func mustLoad(t tb, text string, s ingest.Source) *table.Table {
	t.Helper()
	tab, err := loadText(text, s, ingest.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	check(t, tab)
	return tab
}

// announced sets o.Coming. The function that it returns checks that the segments of the table that was read
// have been told of. Where bounded, it checks that they were bounded beforehand.
func announced(t tb, o *ingest.Options) func(tab *table.Table, bounded bool) {
	t.Helper()
	var coming *table.Table
	told := map[*table.Segment]bool{}
	o.Coming = func(now *table.Table) func(int, int, *table.Segment) {
		if coming != nil {
			t.Errorf("the table is announced twice")
		}
		coming = now
		return func(chunk, col int, s *table.Segment) {
			told[s] = true
			if s.Rows() != coming.Chunks[chunk].Rows || s.Type != coming.Fields[col].Type {
				t.Errorf("a segment of %d rows of %v is told of as column %d of chunk %d", s.Rows(), s.Type, col, chunk)
			}
		}
	}
	return func(tab *table.Table, bounded bool) {
		t.Helper()
		for i, c := range tab.Chunks {
			for col, s := range c.Segments {
				if s == nil {
					continue
				}
				if !told[s] {
					t.Errorf("column %d of chunk %d is not told of", col, i)
				}
				b := coming.Chunks[i].Segments[col]
				if bounded && s.NonNull() > 0 && (b.Base > s.Base || b.Base+b.Max < s.Base+s.Max || b.Bits < s.Bits || b.Varying()&s.Varying() != s.Varying() || len(b.Dict) != len(s.Dict)) {
					t.Errorf("column %d of chunk %d has codes from %d to %d, announced as %d to %d", col, i, s.Base, s.Base+s.Max, b.Base, b.Base+b.Max)
				}
			}
		}
	}
}

func check(t tb, tab *table.Table) {
	t.Helper()
	if err := tab.Check(); err != nil {
		t.Fatalf("%v", err)
	}
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("an error of several lines: %q", err)
	}
}

// typesOf renders the columns' types.
func typesOf(tab *table.Table) string {
	var all []string
	for _, f := range tab.Fields {
		all = append(all, f.Name+" "+f.Type.String())
	}
	return strings.Join(all, ", ")
}

// rowsOf renders the rows of a table that are not deleted: fields parted by |, rows by newlines, VARCHAR in quotes.
func rowsOf(tab *table.Table) string {
	var b strings.Builder
	for _, ch := range tab.Compacted().Chunks {
		for r := range ch.Rows {
			for i, s := range ch.Segments {
				if i > 0 {
					b.WriteByte('|')
				}
				switch v := s.Value(r); {
				case !v.Null && v.Type.Kind == table.Varchar:
					b.WriteString("'" + v.S + "'")
				default:
					b.WriteString(v.String())
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// inOrder is the segment and the row there of each row of a column, one after the other.
func inOrder(t *table.Table, col int) func() (*table.Segment, int) {
	chunk, row := 0, -1
	return func() (*table.Segment, int) {
		for row++; row == t.Chunks[chunk].Rows; row = 0 {
			chunk++
		}
		return t.Chunks[chunk].Segments[col], row
	}
}

// valuesOf flattens column col of the rows that are not deleted.
func valuesOf(tab *table.Table, col int) []table.Value {
	var vs []table.Value
	for _, ch := range tab.Compacted().Chunks {
		for r := range ch.Rows {
			vs = append(vs, ch.Segments[col].Value(r))
		}
	}
	return vs
}

// equal compares fields and values, NULL equal to NULL and NaN to NaN.
func equal(t tb, got, want *table.Table) {
	t.Helper()
	if typesOf(got) != typesOf(want) || got.Rows() != want.Rows() {
		t.Fatalf("got %s with %d rows, want %s with %d", typesOf(got), got.Rows(), typesOf(want), want.Rows())
	}
	for c := range want.Fields {
		nextG, nextW := inOrder(got.Compacted(), c), inOrder(want.Compacted(), c)
		for i := range want.Rows() {
			g, gRow := nextG()
			w, wRow := nextW()
			if null := w.IsNull(wRow); g.IsNull(gRow) != null || !null && table.Compare(g.Value(gRow), w.Value(wRow)) != 0 {
				t.Fatalf("row %d, column %s: got %v, want %v", i, want.Fields[c].Name, g.Value(gRow), w.Value(wRow))
			}
		}
	}
}
