package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
)

// A script of the shell: what it writes, and the error lines.
func TestShellScript(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	csv, script := file(t, "trips.csv", "fare,\"Who\"\n1.5,a\n2.5,\n"), file(t, "script.sql", "\ufeffSELECT 40 + 2 AS n; -- the last\nSELECT 43 AS m")
	self := at("self.sql")
	if err := os.WriteFile(self, []byte("\\x on\n.read "+self+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	goes := func(name string) string { return "answers go to " + at(name) + " until \\o\n" }
	is := func(name string, size int) string { return fmt.Sprintf("%s is complete, %d B\n", at(name), size) }
	t.Setenv("VISUAL", "true")
	const two = "┌───┐\n│ n │\n├───┤\n│ 2 │\n└───┘\n1 row\n"
	for _, c := range []struct {
		in, out string
		errors  []string
	}{
		{"SELECT 2 AS n;\n", two, nil},
		{"SELECT 2\n  AS n -- ;\n\n;\r\n\n", two, nil},
		{"SELECT 2 AS n", two, nil},
		{"; ;\n-- nothing\n/* ; \n */\n", "", nil},
		{"SELECT 2 AS n; SELECT 'a;\nb' AS t;", two + "┌───────┐\n│ t     │\n├───────┤\n│ a;\\nb │\n└───────┘\n1 row\n", nil},
		{"SELECT 2 AS n;\n\\q\nSELECT 3 AS n;\n", two, nil},
		{"exit\nSELECT 3 AS n;\n", "", nil},
		{"SELECT x;\nSELECT 2 AS n;\n", two, []string{`column "x" does not exist`, "LINE 1: SELECT x;", "               ^"}},
		{"SELECT 1,\n\t'é', x\n;\nSELECT 2 AS n;\n", two, []string{`column "x" does not exist; there are no columns (line 2, column 7)`, "LINE 2:  'é', x", "              ^"}},
		{"SELECT 1 FROM;\nSELECT 2 AS n;\n", two, []string{"syntax error at end of input", "LINE 1: SELECT 1 FROM;", "^"}},
		{"\\nope 1\n.nope\nSELECT 2 AS n;\n", two, []string{`there is no command \nope: \? lists them`, `there is no command .nope: \? lists them`}},
		{".tabels\n\\tables\n.shema flights\n.mod csv\n\\zzz\nhelp timign\n", "", []string{`no command .tabels: did you mean .tables? \? lists them all`, `no command \tables: did you mean .tables?`,
			`no command .shema: did you mean .schema?`, `no command .mod: did you mean .mode?`, `there is no command \zzz: `, `no command timign: did you mean \timing?`}},
		{"help quit\n.help \\x\n", "  \\q, .quit, .exit, quit, exit  leave, as Ctrl-D does\n  \\x [on|off|auto]              a line for each value, instead of a table; auto: where a table is\n                                wider than the screen\n", nil},
		{".quit\nSELECT 3 AS n;\n", "", nil},
		{"exit;\nSELECT 3 AS n;\n", "", nil},
		{".mode csv\nSELECT 2 AS n;\nSELECT 3 AS n;\n.headers off\nSELECT 4 AS n;\n.mode\n.mode box\n.headers on\nSELECT 2 AS n;\n", "mode is csv\nn\n2\nn\n3\nheaders is off\n4\nmode is csv\nmode is table\nheaders is on\n" + two, nil},
		{".mode tabs\nSELECT 2 AS n, 'a' AS s;\n.mode markdown\nSELECT 20 AS n, 'a|b' AS s, 3 AS number;\nSELECT NULL AS n;\n",
			"mode is tsv\nn\ts\n2\ta\nmode is markdown\n|   n | s    | number |\n| --: | ---- | -----: |\n|  20 | a\\|b |      3 |\n| n    |\n| ---- |\n| NULL |\n", nil},
		{".mode line\nSELECT 2 AS n;\n.mode\n.mode jsn\n.mode x\n\\di now\n", "mode is line\n─ row 1 ─\nn │ 2\n1 row\nmode is line\n", []string{"there is no mode jsn: did you mean json", "there is no mode x: take one of table, markdown, csv, ", `\di takes nothing behind it: leave out now`}},
		{"\\x auto\nSELECT 2 AS n;\n", "expanded display is auto\n" + two, nil},
		{".timer on\n.timer off\n", "timing is on\ntiming is off\n", nil},
		{"SELECT\n\\x\n2 AS n;\nSELECT '\n\\x\n' AS n;\n", "expanded display is on\n─ row 1 ─\nn │ 2\n1 row\n─ row 1 ─\nn │ \\n\\x\\n\n1 row\n", nil},
		{"CREATE TABLE own (n int);\n.tables\n.tables f*\n\\dt O?n\n", "done\n┌────────────┐\n│ table_name │\n├────────────┤\n│ flights    │\n│ own        │\n└────────────┘\n2 rows\n" +
			"┌────────────┐\n│ table_name │\n├────────────┤\n│ flights    │\n└────────────┘\n1 row\n┌────────────┐\n│ table_name │\n├────────────┤\n│ own        │\n└────────────┘\n1 row\n", nil},
		{".import " + csv + " own\n.import '" + csv + "' own\nSELECT COUNT(*) - 2 AS n FROM own;\n.import x\n.import " + at("missing.csv") + " own\n", "2 rows of " + csv + " into own\n2 rows of " + csv + " into own\n" + two,
			[]string{".import FILE TABLE", "missing.csv"}},
		{"\\copy (SELECT 2 AS n) TO " + at("d.csv") + " csv header;\nCREATE TABLE own (n int);\n\\copy own FROM '" + at("d.csv") + "' WITH (FORMAT csv, HEADER)\nSELECT n FROM own;\n\\copy own\n", "1 row changed\ndone\n1 row changed\n" + two,
			[]string{`\copy TABLE FROM FILE`}},
		{"\\i " + script + "\n", "┌────┐\n│  n │\n├────┤\n│ 42 │\n└────┘\n1 row\n\n┌────┐\n│  m │\n├────┤\n│ 43 │\n└────┘\n1 row\n", nil},
		{"\\! echo two\n\\!echo three\n.shell exit 3\n\\!\n", "two\nthree\n", []string{"exit 3: exit status 3", "name the command"}},
		{"\\watch\nSELECT 2 AS n;\n\\watch x\n\\watch 1 0\n", two, []string{"there is no statement before", `"x" is no number of seconds`, `"0" is no number of times`}},
		{"\\e " + file(t, "e.sql", "SELECT 2\n AS n;\n") + "\n", "stencildb> SELECT 2\n       ..>  AS n;\n" + two, nil},
		{"\\x on\nSELECT 2 AS n, NULL AS other;\n", "expanded display is on\n─ row 1 ─\nn     │ 2\nother │ NULL\n1 row\n", nil},
		{"\\x\n\\x\nSELECT 2 AS n;\n\\x maybe\n", "expanded display is on\nexpanded display is off\n" + two, []string{`"maybe" is none of on, off and auto`}},
		{"\\backend\n\\backend compute\n\\backend\n\\backend cpu\n\\backend gpu\n", "cpu\ncompute\n", []string{`no backend "gpu": take one of auto, classic, fused, compute, cpu, both`}},
		{"\\d\n", "┌────────────┐\n│ table_name │\n├────────────┤\n│ flights    │\n└────────────┘\n1 row\n", nil},
		{"\\d nowhere\n\\d flights extra\n", "", []string{`table "nowhere" does not exist; the tables are flights`, `syntax error at or near "extra"`}},
		{"\\load t=" + csv + "\n\\d t\n", "t has 2 columns and 2 rows, of " + csv + "\n┌─────────────┬───────────────────┐\n│ column_name │ data_type         │\n├─────────────┼───────────────────┤\n" +
			"│ fare        │ numeric(18,1)     │\n│ Who         │ character varying │\n└─────────────┴───────────────────┘\n2 rows\n", nil},
		{"\\load\n\\load t=missing.csv\n\\load t=" + csv + "?a=b\nCREATE TABLE own (n int);\n\\load own=" + csv + "\n", "done\n",
			[]string{"want NAME=PATH", "missing.csv", `unknown option "a"`, "two tables named own"}},
		{"\\explain\n\\trace\n\\trace p.html\n.read\n.read " + at("missing.sql") + "\n", "",
			[]string{"there is no statement before", `\trace FILE.html`, `\backend classic`, ".read FILE.sql", "missing.sql"}},
		{".read " + script, "┌────┐\n│  n │\n├────┤\n│ 42 │\n└────┘\n1 row\n\n┌────┐\n│  m │\n├────┤\n│ 43 │\n└────┘\n1 row\n", nil},
		{".read " + file(t, "commands.sql", "-- settings\n.timer off\n\\x on\nSELECT 2\nAS n;\n.mode line\n\\i "+file(t, "inner.sql", "SELECT '\n.mode\n' AS n\n")+"\n\\x off\n") + "\n", "timing is off\nexpanded display is on\n─ row 1 ─\nn │ 2\n1 row\nmode is line\n─ row 1 ─\nn │ \\n.mode\\n\n1 row\nexpanded display is off\n", nil},
		{".read " + self + "\n", strings.Repeat("expanded display is on\n", 16), []string{self + " is read by a file that is read by another one"}},
		{".read " + file(t, "wrong.sql", "\\x on\nSELECT 2 AS n;\n\n.timr off\nSELECT 3 AS n;\n") + "\n.read " + file(t, "late.sql", "\\x off\n\nSELECT\nnowhere;\n\\x on\n") + "\n.read " + file(t, "empty.sql", "") + "\n", "expanded display is on\n─ row 1 ─\nn │ 2\n1 row\nexpanded display is off\n",
			[]string{"wrong.sql, line 4: there is no command .timr: did you mean .timer", "(line 4, column 1)", "LINE 4: nowhere;", "^", "empty.sql"}},
		{"\\o " + at("a.csv") + "\nSELECT 2 AS n;\n\\o\nSELECT 2 AS n;\n\\o\n", goes("a.csv") + is("a.csv", 4) + two + "answers go to the screen\n", nil},
		{"\\o " + at("one.csv") + "\nSELECT 2 AS n;\nSELECT 2 AS n;\n\\o " + at("two.csv") + "\nSELECT 2 AS n;\n\\o\n", goes("one.csv") + is("one.csv", 4) + goes("two.csv") + is("two.csv", 4), []string{`one result set: \o FILE begins another one`}},
		{"\\backend classic\nSELECT SUM(time) FROM flights;\nSET backend = cpu;\nSELECT COUNT(*) + 2 - COUNT(time) AS n FROM flights;\n", "done\n" + two, []string{"or SET backend = cpu"}},
		{"\\o " + at("b.txt") + "\nSELECT 2 AS n;\n", goes("b.txt") + is("b.txt", len(two)), nil},
		{"\\o " + at("c.csv.gz") + "\nSELECT 2 AS n;\n\\o\nSELECT * FROM '" + at("c.csv.gz") + "';\n\\o " + at("c.xyz") + "\n", goes("c.csv.gz") + is("c.csv.gz", 29) + two, []string{"names no format"}},
		{"\\o " + at("no/c.txt") + "\n\\o " + dir + "\nSELECT 2 AS n;\n", two, []string{"there is no folder", "is a directory"}},
	} {
		o := stencildbWith(context.Background(), "\\timing off\n"+c.in, "shell", "--backend", "cpu")
		if want := "timing is off\n" + c.out; o.out != want {
			t.Errorf("%q gave\n%s\nwant\n%s", c.in, o.out, want)
		}
		lines := strings.Split(strings.TrimSuffix(o.errOut, "\n"), "\n")
		if len(c.errors) == 0 {
			c.errors = []string{""}
		}
		matches := slices.EqualFunc(lines, c.errors, func(line, want string) bool {
			return (want == "") == (line == "") && strings.Contains(line, want)
		})
		if failed := c.errors[0] != ""; !matches || failed != (o.status == 1) {
			t.Errorf("%q: status %d, errors %q, want %q", c.in, o.status, lines, c.errors)
		}
	}
	for name, want := range map[string]string{"a.csv": "n\n2\n", "one.csv": "n\n2\n", "two.csv": "n\n2\n", "b.txt": two} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q (%v)", name, got, want, err)
		}
	}
}

// A program that types gets each answer before it types the next statement.
func TestShellAnswersWhatHasCome(t *testing.T) {
	stdin, typing := io.Pipe()
	answers, stdout := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- Execute(context.Background(), []string{"shell", "--backend", "cpu"}, stdin, stdout, io.Discard)
	}()
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for got := bufio.NewScanner(answers); got.Scan(); {
			lines <- got.Text()
		}
	}()
	until := func(want string) {
		for line := range lines {
			if strings.Contains(line, want) {
				return
			}
		}
		t.Errorf("no answer has %q", want)
	}
	for _, c := range [][2]string{{"\\timing off\n", "timing is off"}, {"CREATE TABLE t (s text);\n", "done"},
		{"INSERT INTO t VALUES\n('a;'),\n\n('b'),\n('c');\n", "3 rows changed"}, {"COPY t FROM STDIN;\nd\ne;\n\\.\n", "2 rows changed"}, {"SELECT COUNT(*) AS n FROM t;\n", "5"}} {
		if _, err := io.WriteString(typing, c[0]); err != nil {
			t.Fatal(err)
		}
		until(c[1])
	}
	typing.Close()
	if status := <-ended; status != 0 {
		t.Errorf("status %d", status)
	}
}

// Explaining and tracing take the statement before, or one of their own.
func TestShellLooksAtAStatement(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	o := stencildbWith(context.Background(), "SELECT MAX(delay) FROM flights;\n\\explain\n\\explain SELECT MIN(delay) FROM flights;\n\\trace "+page+"\n", "shell", "--backend", "classic")
	for _, want := range []string{"│ 1444 │", "Project(MAX(delay) AS max)", "Project(MIN(delay) AS min)", page + " shows "} {
		if o.status != 0 || !strings.Contains(o.out, want) {
			t.Errorf("status %d, no %q in %s%s", o.status, want, o.out, o.errOut)
		}
	}
	if written, err := os.ReadFile(page); err != nil || !strings.Contains(string(written), "SELECT MAX(delay) FROM flights") {
		t.Errorf("%v, %d bytes", err, len(written))
	}
}

// Without arguments and without a terminal standard input is SQL, not a script of the shell.
func TestNoArgumentsReadStandardInput(t *testing.T) {
	o := stencildbWith(context.Background(), "SELECT 40 + 2 AS n")
	if o.status != 0 || !strings.Contains(o.out, "│ 42 │") || o.errOut != "" {
		t.Errorf("%+v", o)
	}
	if o := stencildbWith(context.Background(), "\ufeff\\q\nSELECT x;", "shell"); o.status != 0 || o.out+o.errOut != "" {
		t.Errorf("%+v", o)
	}
	stencildbWith(context.Background(), "\\d\n").wantFailure(t, 1, "syntax error")
	stencildb("shell", "SELECT 1").wantFailure(t, 2, "SELECT 1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stencildbWith(ctx, "SELECT 1;", "shell").wantFailure(t, 130, "interrupted")
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("day-1.csv", nil, 0o600), os.WriteFile("day-[2].csv", nil, 0o600), os.Mkdir("days", 0o700)); err != nil {
		t.Fatal(err)
	}
	names := func(files []string) engine.Names {
		n := engine.Names{
			Tables:  []string{"flights", `"From Here"`, "frequency", "fr\x1b", "trips"},
			Columns: map[string][]string{"flights": {"delay", "distance"}, `"From Here"`: {"fromage"}, "trips": {"fare", "frugal"}},
			Indexes: []string{"freely"},
		}
		for _, f := range files {
			n.Columns[f] = []string{"frozen"}
		}
		return n
	}
	for _, c := range []struct {
		line  string
		first bool
		head  string
		list  []string
	}{
		{"SELECT * FROM fli", true, "SELECT * FROM ", []string{"flights"}},
		{"sel", true, "", []string{"select"}},
		{"SEL", true, "", []string{"SELECT"}},
		{"fr", false, "", []string{"from"}},
		{"t.fr", false, "t.", []string{"fromage", "frugal"}},
		{"flights.di", false, "flights.", []string{"distance"}},
		{"FROM flights AS f WHERE F.DI", true, "FROM flights AS f WHERE F.", []string{"DISTANCE"}},
		{"FROM flights f WHERE f.", true, "FROM flights f WHERE f.", []string{"delay", "distance"}},
		{`SELECT "From Here".`, true, `SELECT "From Here".`, []string{"fromage"}},
		{"DESCRIBE information_schema.", true, "DESCRIBE information_schema.", []string{"columns", "tables"}},
		{"SELECT MA", true, "SELECT ", []string{"MAKE_DATE", "MAKE_INTERVAL", "MAKE_TIMESTAMP", "MAX"}},
		{"SELECT * FROM FLI", true, "SELECT * FROM ", []string{"FLIGHTS"}},
		{"Sel", true, "", []string{"Select"}},
		{`"fr`, false, "", nil},
		{"DESCRIBE fr", true, "DESCRIBE ", []string{"frequency"}},
		{"SELECT 1 FROM flights JOIN re", true, "SELECT 1 FROM flights JOIN ", []string{"read_arrow", "read_csv", "read_json", "read_parquet"}},
		{"SELECT EXTRACT(year FROM del", true, "SELECT EXTRACT(year FROM ", []string{"delay"}},
		{"SELECT 1; SELECT a IS DISTINCT FROM del", true, "SELECT 1; SELECT a IS DISTINCT FROM ", []string{"delay"}},
		{"UPDATE ", true, "UPDATE ", []string{`"From Here"`, "flights", "frequency", "generate_series", "information_schema", "read_arrow", "read_csv", "read_json", "read_parquet", "trips"}},
		// The clause, and what stands behind the cursor.
		{"SELECT far| FROM trips", true, "SELECT ", []string{"fare"}},
		{"SELECT | FROM trips", true, "SELECT ", []string{"fare", "frugal"}},
		{"SELECT t.| FROM flights f, trips AS t WHERE 1 = 1; SELECT 2", true, "SELECT t.", []string{"fare", "frugal"}},
		{"SELECT f.| FROM trips t JOIN flights f ON true", true, "SELECT f.", []string{"delay", "distance"}},
		{"SELECT fr| FROM 'day-1.csv'", true, "SELECT ", []string{"frozen"}},
		{"SELECT x.| FROM read_csv('day-1.csv', header => true) AS x", true, "SELECT x.", []string{"frozen"}},
		{"SELECT * FROM trips WHERE (SELECT MAX(dist| FROM flights) > 1", true, "SELECT * FROM trips WHERE (SELECT MAX(", []string{"distance", "distinct"}},
		{"SELECT * FROM trips t WHERE (SELECT MAX(dela| FROM flights) > t.fare", true, "SELECT * FROM trips t WHERE (SELECT MAX(", []string{"delay"}},
		{"SELECT * FROM trips WHERE EXISTS (SELECT 1 FROM flights WHERE frug", true, "SELECT * FROM trips WHERE EXISTS (SELECT 1 FROM flights WHERE ", []string{"frugal"}},
		{"SELECT fare AS fresh FROM trips ORDER BY fr", true, "SELECT fare AS fresh FROM trips ORDER BY ", []string{"fresh", "frugal"}},
		{"WITH fruit AS (SELECT 1) SELECT * FROM fr", true, "WITH fruit AS (SELECT 1) SELECT * FROM ", []string{"frequency", "fruit"}},
		{"SELECT fare FROM trips WHERE fare > 1 OR", true, "SELECT fare FROM trips WHERE fare > 1 ", []string{"OR", "ORDER"}},
		{"SELECT fare fr", true, "SELECT fare ", []string{"from"}},
		{"INSERT INTO trips (far", true, "INSERT INTO trips (", []string{"fare"}},
		{"UPDATE trips SET fr", true, "UPDATE trips SET ", []string{"frugal"}},
		{"SELECT fare FROM trips UNION SELECT dela| FROM flights", true, "SELECT fare FROM trips UNION SELECT ", []string{"delay"}},
		{"CREATE INDEX ON trips (fr", true, "CREATE INDEX ON trips (", []string{"frugal"}},
		{"DROP INDEX fr", true, "DROP INDEX ", []string{"freely", "from"}},
		{"SELECT CAST(fare AS da", true, "SELECT CAST(fare AS ", []string{"date"}},
		{".import day-", true, ".import ", []string{"day-1.csv", "day-[2].csv"}},
		{".import day-1.csv tr", true, ".import day-1.csv ", []string{"trips"}},
		{`\trace p.html SELECT frug| FROM trips`, true, `\trace p.html SELECT `, []string{"frugal"}},
		{`\x a`, true, `\x `, []string{"auto"}},
		{".mode ma", true, ".mode ", []string{"markdown"}},
		{".schema fli", true, ".schema ", []string{"flights"}},
		{".read ", true, ".read ", []string{"day-1.csv", "day-[2].csv", "days/"}},
		{`\o ./da`, true, `\o `, []string{"./day-1.csv", "./day-[2].csv", "./days/"}},
		{`\trace day-1`, true, `\trace `, []string{"day-1.csv"}},
		{`FROM "Fr`, false, "FROM ", []string{`"From Here"`}},
		{"SELECT kth_l", true, "SELECT ", []string{"kth_largest"}},
		{`\ti`, true, "", []string{`\timing`}},
		{".r", true, "", []string{".read"}},
		{`\tim`, false, "", []string{`\timing`}},
		{`\backend c`, true, `\backend `, []string{"classic", "compute", "cpu"}},
		{`\d fli`, true, `\d `, []string{"flights"}},
		{"SET di", true, "SET ", []string{"disable_rule"}},
		{"show ho", true, "show ", []string{"host_memory"}},
		{"SHOW ru", true, "SHOW ", []string{"rules"}},
		{"show f", true, "show ", []string{"functions"}},
		{"SET a", true, "SET ", []string{"assignment"}},
		{"SET al", true, "SET ", nil},
		{"SET lo", true, "SET ", []string{"local"}},
		{"SET LOCAL ba", true, "SET LOCAL ", []string{"backend"}},
		{"SET SESSION LO", true, "SET SESSION ", nil},
		{"SET local JOIN = me", true, "SET local JOIN = ", []string{"merge"}},
		{"SET LOCAL disable_rule = 'u", true, "SET LOCAL disable_rule = '", []string{"unnest"}},
		{"RESET a", true, "RESET ", []string{"all", "assignment"}},
		{"RESET st", true, "RESET ", []string{"statement_timeout"}},
		{"DISC", true, "", []string{"DISCARD"}},
		{"DISCARD a", true, "DISCARD ", []string{"all"}},
		{"SELECT * FROM a JO", true, "SELECT * FROM a ", []string{"JOIN"}},
		{"SET join = me", true, "SET join = ", []string{"merge"}},
		{"SET disable_rule = 'unnest, push f", true, "SET disable_rule = 'unnest, ", []string{"push filter"}},
		{"SET disable_rule='u", true, "SET disable_rule='", []string{"unnest"}},
		{"SELECT * FROM 'da", true, "SELECT * FROM '", []string{"day-1.csv", "day-[2].csv", "days/"}},
		{"FROM 'day-[", false, "FROM '", []string{"day-[2].csv"}},
		{`\load d=day-1`, true, `\load d=`, []string{"day-1.csv"}},
		{"SELECT 'a' AS da", true, "SELECT 'a' AS ", nil},
		{"SELECT ", true, "SELECT ", nil},
		{"", true, "", nil},
		{"zzz", true, "", nil},
	} {
		typed := "SELECT 1\n"
		if c.first {
			typed = ""
		}
		before, after, _ := strings.Cut(c.line, "|")
		if head, list := complete(typed, before, after, names); head != c.head || !slices.Equal(list, c.list) {
			t.Errorf("%q: %q, %q; want %q, %q", c.line, head, list, c.head, c.list)
		}
	}
}

// A file that has changed is opened again under the name that it has, beside the statements and the index that its table has had.
func TestShellLoadsAgain(t *testing.T) {
	path := file(t, "c.csv", "a,b\n1,2\n3,4\n")
	o := stencildbWith(context.Background(), "\\timing off\n\\load c="+path+"\nSELECT SUM(a) AS n FROM c;\nCREATE INDEX ON c (a);\n"+
		"COPY (SELECT 9 AS b, 8 AS other, 3 AS a) TO '"+path+"' (FORMAT csv, HEADER);\nSELECT MAX(b) AS n FROM c;\n\\load c="+path+"\nSELECT b + other AS n FROM c WHERE a = 3;\nSELECT SUM(a) AS n FROM c;\n", "shell", "--backend", "cpu")
	var answers []string
	for _, line := range strings.Split(o.out, "\n") {
		if strings.HasPrefix(line, "│") && !strings.Contains(line, "n") {
			answers = append(answers, strings.Trim(line, "│ "))
		}
	}
	if !slices.Equal(answers, []string{"4", "17", "3"}) || strings.Count(o.errOut, "error") != 1 || !strings.Contains(o.errOut, `open it again with \load NAME=PATH`) {
		t.Errorf("%q of %+v", answers, o)
	}
}

// An error of \d has no place: the statement is none that one has typed.
func TestShellDescribesNothing(t *testing.T) {
	if o := stencildbWith(context.Background(), "\\d nowhere\n", "shell"); o.status != 1 || o.errOut != "error: table \"nowhere\" does not exist; the tables are flights\n" {
		t.Errorf("%+v", o)
	}
}

func TestShellListsFunctions(t *testing.T) {
	if o := stencildbWith(context.Background(), "\\df\n", "shell"); o.status != 0 || !strings.Contains(o.out, "│ string_agg(x, y) ") {
		t.Errorf("%+v", o)
	}
}
