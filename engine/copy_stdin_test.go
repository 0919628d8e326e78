package engine

import (
	"bufio"
	"context"
	"strings"
	"testing"
)

// COPY FROM STDIN takes the lines behind the statement, as those of a dump; COPY TO STDOUT gives them again.
func TestCopyOfScripts(t *testing.T) {
	db := open(t, Options{Backend: "cpu", Input: strings.NewReader("7\tseven\n8\t\\N\n")})
	defer db.Close()
	const script = `CREATE TABLE t (a int, b text);
COPY t (a, b) FROM stdin;
1	one
2	\N
3	a\tb\\c\n"x";'y\x41\101\q
4	
\.
COPY t TO STDOUT; COPY (SELECT b, a FROM t WHERE a > 2) TO STDOUT WITH CSV HEADER NULL 'none';
COPY t FROM STDIN (FORMAT csv, NULL 'x');  -- a comment
5,"x"
6,x
\.
SELECT SUM(a), COUNT(b) FROM t; COPY t FROM STDIN; SELECT SUM(a), COUNT(b) FROM t;
COPY t (b) FROM STDIN (DELIMITER '|', NULL '');

a\|b
\.
COPY (SELECT b FROM t WHERE a IS NULL) TO STDOUT (DELIMITER '|', HEADER);
COPY t FROM STDIN;
9	nine
10	ten`
	want := []string{"", "", "1\tone\n2\t\\N\n3\ta\\tb\\\\c\\n\"x\";'yAAq\n4\t\n", "b,a\n\"a\tb\\c\n\"\"x\"\";'yAAq\",3\n\"\",4\n", "", "21|4", "", "36|5", "", "b\n\\N\na\\|b\n", ""}
	var got []string
	for rows, err := range db.Each(context.Background(), script) {
		switch {
		case err != nil:
			got = append(got, err.Error())
		case rows.Copied():
			var out strings.Builder
			w := bufio.NewWriter(&out)
			if err := rows.WriteCopy(w); err != nil || w.Flush() != nil || rows.Err() != nil {
				t.Error(err, rows.Err())
			}
			got = append(got, out.String())
		default:
			got = append(got, said(Collect(rows, nil)))
		}
	}
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := said(Collect(db.Query(context.Background(), "SELECT COUNT(*), SUM(a) FROM t"))); got != "12|55" {
		t.Errorf("the table has %s", got)
	}
}
