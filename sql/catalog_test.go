package sql

import "testing"

func TestNearNamesAreWrittenAsSQL(t *testing.T) {
	for _, c := range []struct{ want, text string }{
		{`; the tables are t, Mixed, "flights-3m"`, suggest("zzzz", []string{"t", "Mixed", "flights-3m"}, "tables")},
		{`; did you mean "a;b"?`, suggest("a,b", []string{"a;b"}, "columns")},
	} {
		if c.text != c.want {
			t.Errorf("%s, want %s", c.text, c.want)
		}
	}
}
