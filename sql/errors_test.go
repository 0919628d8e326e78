package sql_test

import (
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// seeds are the conditions that the property and the fuzz target start from.
func seeds() []string {
	return []string{
		"x < 60 AND y BETWEEN 1 AND 2.5 OR NOT b",
		"x IN (1, 2.5, NULL) AND v NOT LIKE 'a!%' ESCAPE '!'",
		"r IN (0.1, 'NaN') OR d > '-Infinity' OR r < 0.1::real",
		"ts + INTERVAL '1 day' > day - 1 AND ts - ts < '1 month'",
		"1/0 = x OR 1.0/0 = dec OR 1e0::float8/0 = d OR 5.0::numeric(1,0) % 0 = 1",
		"x IS DISTINCT FROM y AND (x < 1) IS NOT UNKNOWN AND u IS NULL",
		"x = -(-9223372036854775807 - 1) OR s = 99999::smallint",
		"x BETWEEN SYMMETRIC y AND 2 AND 'é' = v AND dec < 99999999999999999999.5",
		"day - u < 3 OR u AND x + u > 1.5::float8",
		"d = -0.0::float8 OR d = 1e300 OR d = 5e-324 OR d / 0 = 1",
	}
}

// What is refused where a table has a column that cannot be used, or a statement is bound alone; testdata/slt/errors.slt has what a DB refuses.
func TestErrorsOfBinding(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"SELECT MIN(nested) FROM t", `column "nested" cannot be used: a nested type (line 1, column 12)`},
		{"SELECT COUNT(*) FROM t TABLESAMPLE system(1)", `column "nested" cannot be used: a nested type (line 1, column 22)`},
		{"SELECT COUNT(*) FROM information_schema.columns", `table "columns" does not exist; there are no tables (line 1, column 22)`},
		{"SHOW search_path", `SHOW has no plan (line 1, column 1)`},
		{"BEGIN", `BEGIN has no plan (line 1, column 1)`},
		{"BEGIN ISOLATION LEVEL SERIALIZABLE", `the isolation level SERIALIZABLE is not supported; a transaction reads one snapshot: write REPEATABLE READ (line 1, column 7)`},
		{"SELECT x FROM t ORDER BY nested", `column "nested" cannot be used: a nested type (line 1, column 26)`},
		{"TABLE t", `column "nested" cannot be used: a nested type (line 1, column 1)`},
	} {
		checkError(t, c.in, c.want)
	}
}

func checkError(t *testing.T, text, want string) {
	t.Helper()
	_, err := bind(t, text)
	if err == nil {
		t.Errorf("%s: no error, want %s", text, want)
		return
	}
	if got := sql.Describe(text, err); got != want {
		t.Errorf("%s:\n got %s\nwant %s", text, got, want)
	}
}
