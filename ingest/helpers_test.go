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
		g, w := valuesOf(got, c), valuesOf(want, c)
		for i := range w {
			if g[i].Null != w[i].Null || !w[i].Null && table.Compare(g[i], w[i]) != 0 {
				t.Fatalf("row %d, column %s: got %v, want %v", i, want.Fields[c].Name, g[i], w[i])
			}
		}
	}
}
