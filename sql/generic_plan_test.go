package sql_test

import (
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// A form leaves out what is certainly a whole number or a string; where that cannot be told there is none.
func TestFormOf(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t VALUES (1, 'a')":                "INSERT INTO t VALUES (0, '') [1 a]",
		"  insert into t values (-20, '') ; ":          "insert into t values (-0, '') [20 ]",
		"UPDATE t2 SET v1 = v1 + 007 WHERE k=5":        "UPDATE t2 SET v1 = v1 + 0 WHERE k=0 [7 5]",
		"DELETE FROM \"a 1\"\"2'\" WHERE é3 = 'x\\'":   "DELETE FROM \"a 1\"\"2'\" WHERE é3 = '' [x\\]",
		"SELECT 1.5, .5, 5., 1e3, 0x1f, 1_000, 7, a.5": "SELECT 1.5, .5, 5., 1e3, 0x1f, 1_000, 0, a.5 [7]",
		"SELECT 123456789012345678":                    "SELECT 0 [123456789012345678]",
		"SELECT 1234567890123456789, 1":                "SELECT 1234567890123456789, 0 [1]",
		"SELECT 'a' 'b'":                               "SELECT '' '' [a b]",
		"SELECT 1\u00a0":                               "",
		"SELECT 5 \u2003;":                             "SELECT 0 \u2003 [5]",
		"SELECT a FROM t":                              "",
		"SELECT 'it''s'":                               "",
		"SELECT E'a', 1":                               "",
		"SELECT $1, 1":                                 "",
		"SELECT $$a$$, 1":                              "",
		"SELECT 1 -- one":                              "",
		"SELECT 1 /* one */":                           "",
		"SELECT 1; SELECT 2":                           "",
		"SELECT 'a":                                    "",
		"SELECT \"a, 1":                                "",
		"SELECT 1\x00":                                 "",
		"SELECT 1, '\xff'":                             "",
		"CREATE TABLE t (a VARCHAR DEFAULT 'x')":       "",
		"UPD":                                          "", "": "", ";": "",
	} {
		f, ok := sql.FormOf(text)
		got := ""
		if ok {
			got = fmt.Sprint(f.Text, " [")
			for i, v := range f.Values {
				if i > 0 {
					got += " "
				}
				if v.Type.IsInteger() {
					got += v.String()
				} else {
					got += v.S
				}
			}
			got += "]"
		}
		if got != want {
			t.Errorf("%q has the form %q, not %q", text, got, want)
		}
	}
}
