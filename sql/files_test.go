package sql_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// withFiles is a catalog with the file x.csv, which is table t, the unreadable bad.csv, and
// what has been opened.
func withFiles(opened *[]sql.File) sql.Catalog {
	c := tables()
	c.Open = func(f sql.File) (*table.Table, error) {
		*opened = append(*opened, f)
		switch f.Path {
		case "dir/x.csv", "x y'z.csv", strings.Repeat("long/", 20) + "x.csv":
			return c.Table(0)
		case "bad.csv":
			return nil, errors.New("bad.csv: broken")
		}
		return nil, fs.ErrNotExist
	}
	return c
}

// A string constant in the place of a table is a path; elsewhere it is what it was.
func TestFilesInFrom(t *testing.T) {
	option := func(name, value string) sql.FileOption { return sql.FileOption{Name: name, Value: value} }
	for _, c := range []struct {
		in   string
		file sql.File
		want string // the error
	}{
		{in: "SELECT x FROM 'dir/x.csv'", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT x.x, 'a' FROM/**/'dir/x.csv' WHERE v IS DISTINCT FROM 'x' AND x.i > 0", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT a.x FROM 'x y''z.csv' AS a WHERE v IN ('a', 'b') LIMIT 1", file: sql.File{Path: "x y'z.csv"}},
		{in: "SELECT x FROM '" + strings.Repeat("long/", 20) + "x.csv'", file: sql.File{Path: strings.Repeat("long/", 20) + "x.csv"}},
		{in: `SELECT x FROM "dir/x.csv"`, file: sql.File{Path: "dir/x.csv"}},
		{in: "DESCRIBE 'dir/x.csv'", file: sql.File{Path: "dir/x.csv"}},
		{in: "SUMMARIZE 'dir/x.csv'", file: sql.File{Path: "dir/x.csv"}},
		{in: "EXPLAIN SELECT COUNT(*) FROM 'dir/x.csv'", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT a.x FROM ('dir/x.csv' a JOIN t ON a.x = t.x)", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT a.x FROM ((t JOIN 'dir/x.csv' a ON a.x = t.x) CROSS JOIN q)", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT a.x FROM ONLY 'dir/x.csv' a, ONLY (t)", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT a.x FROM E'dir/x.csv' a", file: sql.File{Path: "dir/x.csv"}},
		{in: "SELECT x FROM 't'"}, // a table
		{in: "SELECT x FROM t WHERE v IS NOT DISTINCT FROM 'x'"},
		{in: "SELECT read_csv.x FROM read_csv('dir/x.csv')", file: sql.File{Path: "dir/x.csv", Function: "read_csv"}},
		{in: "SELECT a.x FROM read_csv('dir/x.csv', header => false, delim := ';') a",
			file: sql.File{Path: "dir/x.csv", Function: "read_csv", Options: []sql.FileOption{option("header", "false"), option("delim", ";")}}},
		{in: "SELECT x FROM read_csv('dir/x.csv', null => 'NA', NULL := -999, null => 0.5, \"null\" => 7) a",
			file: sql.File{Path: "dir/x.csv", Function: "read_csv", Options: []sql.FileOption{option("null", "NA"), option("null", "-999"), option("null", "0.5"), option("null", "7")}}},
		{in: "SELECT p, q, a.d FROM read_csv('dir/x.csv') AS a (p, q)", file: sql.File{Path: "dir/x.csv", Function: "read_csv"}},
		{in: "SELECT x FROM READ_PARQUET('dir/x.csv')", file: sql.File{Path: "dir/x.csv", Function: "read_parquet"}},

		{in: "SELECT x FROM 'zz.csv'", want: `there is no file and no table "zz.csv"; the tables are t, flights, Mixed, q (line 1, column 15)`},
		{in: "SELECT x FROM 'flihgts'", want: `there is no file and no table "flihgts"; did you mean flights? (line 1, column 15)`},
		{in: `SELECT x FROM "zz.csv"`, want: `table "zz.csv" does not exist; the tables are t, flights, Mixed, q (line 1, column 15)`},
		{in: "SELECT x FROM dir.csv", want: `schema "dir" does not exist; the schemas are public and information_schema; a file is written 'dir.csv' (line 1, column 15)`},
		{in: "SELECT x FROM day-1.csv WHERE x = 1", want: `syntax error at or near "-"; a file is written 'day-1.csv' (line 1, column 18)`},
		{in: "SELECT x FROM t, (SELECT 1) q, /tmp/dir/x.csv;", want: `syntax error at or near "/"; a file is written '/tmp/dir/x.csv' (line 1, column 32)`},
		{in: "SELECT x FROM t JOIN 2024.csv USING (x)", want: `trailing junk after numeric literal at or near "2024.csv"; a file is written '2024.csv' (line 1, column 22)`},
		{in: "DESCRIBE ../x.csv", want: `syntax error at or near ".."; a file is written '../x.csv' (line 1, column 10)`},
		{in: "SELECT x FROM ~/x.csv", want: `syntax error at or near "~/" (line 1, column 15)`},
		{in: "SELECT x FROM t WHERE i-.csv > 1", want: `syntax error at or near "." (line 1, column 25)`},
		{in: "SELECT x FROM 'bad.csv'", want: `bad.csv: broken`},
		{in: "SELECT x FROM 'dir/x.csv', 'x.csv'", want: `there is no file and no table "x.csv"; the tables are t, flights, Mixed, q (line 1, column 28)`},
		{in: "SELECT x FROM t a, 'x.csv' b", want: `there is no file and no table "x.csv"; the tables are t, flights, Mixed, q (line 1, column 20)`},
		{in: "SELECT x FROM t JOIN 'x.csv' ON true", want: `there is no file and no table "x.csv"; the tables are t, flights, Mixed, q (line 1, column 22)`},
		{in: "SELECT é FROM 'ä.csv' WHERE é é", want: `syntax error at or near "é" (line 1, column 31)`},
		{in: "SELECT x FROM ''", want: `syntax error at or near "''" (line 1, column 15)`},
		{in: `SELECT x FROM E'x\\.csv'`, want: `syntax error at or near "E'x\\.csv'" (line 1, column 15)`},
		{in: "( 'x.csv'", want: `syntax error at or near "'x.csv'" (line 1, column 3)`},
		{in: "SELECT x FROM t WHERE 'a' 'x.csv'", want: `syntax error at or near "'x.csv'" (line 1, column 27)`},
		{in: "SELECT x, 'a' 'x.csv'", want: `syntax error at or near "'x.csv'" (line 1, column 15)`},
		{in: "DELETE FROM 'x.csv'", want: `DELETE changes tables: it is run or explained, and what is traced is a SELECT (line 1, column 1)`},
		{in: "SELECT x FROM '" + strings.Repeat("a', '", 5000) + "b'", want: `syntax error at or near "'a'" (line 1, column 515)`},
		{in: "SELECT x FROM read_csv('zz.csv')", want: `there is no file "zz.csv" (line 1, column 15)`},
		{in: "SELECT x FROM read_xml('x.csv')", want: `a function in FROM is not supported, other than generate_series, read_csv, read_json, read_parquet, read_arrow (line 1, column 10)`},
		{in: "SELECT x FROM read_csv()", want: `read_csv needs the path of a file (line 1, column 15)`},
		{in: "SELECT x FROM read_csv(x)", want: `read_csv takes the path of a file, then options such as header => false, all constants (line 1, column 15)`},
		{in: "SELECT x FROM read_csv('x.csv', false)", want: `read_csv takes the path of a file, then options such as header => false, all constants (line 1, column 15)`},
		{in: "SELECT x FROM read_csv(header => false)", want: `read_csv takes the path of a file, then options such as header => false, all constants (line 1, column 15)`},
		{in: "SELECT x FROM read_csv('x.csv', null => null)", want: `read_csv takes the path of a file, then options such as header => false, all constants (line 1, column 15)`},
		{in: "SELECT x FROM read_csv('x.csv', null => => 'a')", want: `syntax error at or near "=>" (line 1, column 41)`},
		{in: "SELECT x FROM f(null => 'a')", want: `syntax error at or near "=>" (line 1, column 22)`},
		{in: "SELECT NULL => 'a'", want: `syntax error at or near "=>" (line 1, column 13)`},
		{in: "SELECT x FROM read_csv('x.csv') WITH ORDINALITY", want: `LATERAL, ROWS FROM, WITH ORDINALITY and types of columns are not supported of read_csv; write read_csv('path', option => 'value') AS name (column, ...) (line 1, column 15)`},
	} {
		var opened []sql.File
		list, err := sql.Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		switch _, err = list[0].Bind(withFiles(&opened)); {
		case c.want != "":
			if err == nil || sql.Describe(c.in, err) != c.want {
				t.Errorf("%s: %v, want %s", c.in, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %s", c.in, sql.Describe(c.in, err))
		case c.file.Path == "" && len(opened) == 0:
		case len(opened) != 1 || opened[0].String() != c.file.String():
			t.Errorf("%s: opened %v, want %v", c.in, opened, c.file)
		}
	}
}
