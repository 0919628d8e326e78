// Package tabletest shows and compares tables for tests.
package tabletest

import (
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Types renders the columns' types.
func Types(tab *table.Table) string {
	var all []string
	for _, f := range tab.Fields {
		all = append(all, f.Name+" "+f.Type.String())
	}
	return strings.Join(all, ", ")
}

// Rows renders the rows of a table that are not deleted: fields parted by |, rows by newlines, VARCHAR in quotes.
func Rows(tab *table.Table) string {
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

// Values flattens column col of the rows that are not deleted.
func Values(tab *table.Table, col int) []table.Value {
	var vs []table.Value
	for _, ch := range tab.Compacted().Chunks {
		for r := range ch.Rows {
			vs = append(vs, ch.Segments[col].Value(r))
		}
	}
	return vs
}

// Equal compares fields and values, NULL equal to NULL and NaN to NaN.
func Equal(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, got, want *table.Table) {
	t.Helper()
	if Types(got) != Types(want) || got.Rows() != want.Rows() {
		t.Fatalf("got %s with %d rows, want %s with %d", Types(got), got.Rows(), Types(want), want.Rows())
	}
	for c := range want.Fields {
		g, w := Values(got, c), Values(want, c)
		for i := range w {
			if g[i].Null != w[i].Null || !w[i].Null && table.Compare(g[i], w[i]) != 0 {
				t.Fatalf("row %d, column %s: got %v, want %v", i, want.Fields[c].Name, g[i], w[i])
			}
		}
	}
}
