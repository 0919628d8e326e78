package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// grouped is the rows (nil is NULL) of the columns a and b as a Parquet file. Its row groups have that
// many rows, and it has a column that cannot be used.
func grouped(t interface{ Fatal(...any) }, rows [][2]*int64, size int) []byte {
	var b bytes.Buffer
	node := func(name string) schema.Node { return schema.NewInt64Node(name, parquet.Repetitions.Optional, -1) }
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node("a"), node("b"), schema.NewBooleanNode("list", parquet.Repetitions.Repeated, -1)}, -1)
	if err != nil {
		t.Fatal(err)
	}
	w := file.NewParquetWriter(&b, root)
	for part := range slices.Chunk(rows, size) {
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for col := range 2 {
			c, err := group.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			var values []int64
			var levels []int16
			for _, row := range part {
				if row[col] == nil {
					levels = append(levels, 0)
					continue
				}
				values, levels = append(values, *row[col]), append(levels, 1)
			}
			if _, err := c.(*file.Int64ColumnChunkWriter).WriteBatch(values, levels, nil); err != nil {
				t.Fatal(err)
			}
		}
		c, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		none := make([]int16, len(part))
		if _, err := c.(*file.BooleanColumnChunkWriter).WriteBatch(nil, none, none); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a file's statistics spare changes no answer, on whichever backend the statement goes on.
func TestStatisticsOfRowGroupsChangeNoAnswer(t *testing.T) {
	told, skipped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ctx, rows := context.Background(), [][2]*int64{}
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		for i := range n {
			var row [2]*int64
			for col, v := range []int64{int64(i / 3), rapid.Int64Range(-5, 5).Draw(t, "b")} {
				if rapid.IntRange(0, 9).Draw(t, "null") > 0 {
					row[col] = &v
				}
			}
			rows = append(rows, row)
		}
		s := ingest.Source{Path: "t.parquet", Data: grouped(t, rows, rapid.IntRange(1, 20).Draw(t, "group"))}
		whole, err := ingest.Load(ctx, "t", s, ingest.Options{ChunkRows: 16})
		if err != nil {
			t.Fatal(err)
		}
		fresh, want := opened(t, Options{ChunkRows: 16, Backend: "cpu"}), opened(t, Options{Backend: "cpu"})
		defer fresh.Close()
		defer want.Close()
		if err := want.Add(whole); err != nil {
			t.Fatal(err)
		}
		if err := fresh.Attach("t", s); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			k := rapid.Int64Range(-1, int64(n/3)+1).Draw(t, "k")
			text := "SELECT " + rapid.SampledFrom([]string{"COUNT(*)", "COUNT(a), COUNT(b)", "MIN(a), MAX(a), MAX(b)", "SUM(b), COUNT(*)", "MEDIAN(a)", "selectivity()", "SUM(a + b), selectivity(), COUNT(DISTINCT b)", "a, b"}).Draw(t, "what") + " FROM t" +
				rapid.SampledFrom([]string{"", fmt.Sprintf(" WHERE a >= %d", k), fmt.Sprintf(" WHERE a < %d AND b > 0", k), fmt.Sprintf(" WHERE NOT (a BETWEEN %d AND %d)", k, k+4),
					fmt.Sprintf(" WHERE a IN (%d, %d) OR b IS NULL", k, k+1), fmt.Sprintf(" WHERE a = %d AND 1/b > 0", k), fmt.Sprintf(" WHERE b > 9 OR a <= %d", k), fmt.Sprintf(" WHERE a < %d AND abs(b) < 3 AND b / 2 < 2", k), fmt.Sprintf(" WHERE 1/b < 1 AND a = %d", k)}).Draw(t, "where")
			got, err := answer(fresh, text)
			expected, wanted := answer(want, text)
			if fmt.Sprint(err) != fmt.Sprint(wanted) || !cmp.Equal(got, expected) {
				t.Fatalf("%s: %v (%v), want %v (%v)", text, got, err, expected, wanted)
			}
			if x, err := fresh.Explain(ctx, text, ExplainOptions{}); err == nil && len(x.Steps) > 0 {
				told += strings.Count(x.Steps[0].Pass, "Statistics(")
				skipped += strings.Count(x.Steps[0].Pass, "Skip(")
			}
		}
	})
	if told+skipped == 0 { // few checks may draw none of one of them
		t.Errorf("statistics told %d answers and skipped groups for %d", told, skipped)
	}
}

// What is told and what is skipped of forty rows in four groups. In them a goes up by one a row, and b
// is NULL in the second half.
func TestWhatStatisticsSpare(t *testing.T) {
	var rows [][2]*int64
	for i := range int64(40) {
		row := [2]*int64{&i, &i}
		if i%10 >= 5 {
			row[1] = nil
		}
		rows = append(rows, row)
	}
	s := ingest.Source{Path: "t.parquet", Data: grouped(t, rows, 10)}
	for text, want := range map[string]string{
		"MIN(a), MAX(b), COUNT(b) FROM t":                 "Statistics(4 row groups)",
		"COUNT(*) FROM t WHERE a < 20":                    "Statistics(4 row groups)",
		"COUNT(*) FROM t WHERE a < 15":                    "Skip(2 of 4 row groups)",
		"COUNT(*) FROM t WHERE a BETWEEN 12 AND 13":       "Skip(3 of 4 row groups)",
		"a, b FROM t WHERE a = 39":                        "Skip(3 of 4 row groups)",
		"SUM(a) FROM t WHERE a < 10":                      "Skip(3 of 4 row groups)",
		"COUNT(*) FROM t WHERE a < 25":                    "Skip(1 of 4 row groups)",
		"COUNT(*) FROM t WHERE a < 35":                    "Scan(t)", // all
		"a + b FROM t WHERE a < 10 AND abs(b) < 4":        "Skip(3 of 4 row groups)",
		"COUNT(*) FROM t WHERE 1/(a+1) < 2 AND a < 10":    "Scan(t)", // what may be an error comes first
		"COUNT(*) FROM t WHERE b < 10 AND 1/(a+1) < 2":    "Scan(t)", // or is evaluated where b is NULL
		"COUNT(*) FROM t WHERE a < 10 AND 1/(a+1) < 2":    "Skip(3 of 4 row groups)",
		"COUNT(*) FROM t WHERE b < 20":                    "Skip(2 of 4 row groups)",
		"selectivity() FROM t WHERE a < 10":               "Scan(t)",
		"SUM(a) FROM t":                                   "Scan(t)",
		"a FROM t":                                        "Scan(t)",
		"COUNT(*) FROM t WHERE abs(a) < 10":               "Scan(t)",
		"a % 10, COUNT(*) FROM t WHERE a > 30 GROUP BY 1": "Skip(3 of 4 row groups)",
	} {
		db := opened(t, Options{Backend: "cpu"})
		if err := db.Attach("t", s); err != nil {
			t.Fatal(err)
		}
		x, err := db.Explain(context.Background(), "SELECT "+text, ExplainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Steps[0].Pass; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func opened(t interface{ Fatal(...any) }, o Options) *DB {
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func answer(db *DB, text string) (rows [][]table.Value, err error) {
	r, err := Collect(db.Query(context.Background(), text))
	if err != nil {
		return nil, err
	}
	return r.Rows, nil
}

// Conditions of tables alone spare the parts of joins and subqueries row groups, and change no answer.
func TestWhatStatisticsSpareOfJoins(t *testing.T) {
	var rows [][2]*int64
	for i := range int64(60) {
		half := i / 2
		rows = append(rows, [2]*int64{&i, &half})
	}
	rows[17][0], rows[31][1] = nil, nil
	s := ingest.Source{Path: "t.parquet", Data: grouped(t, rows, 10)}
	whole, err := ingest.Load(context.Background(), "t", s, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := opened(t, Options{Backend: "cpu"})
	defer want.Close()
	for _, name := range []string{"t", "u"} {
		if err := want.Add(&table.Table{Name: name, Fields: whole.Fields, Chunks: whole.Chunks}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text string
		t, u bool // whether they are read as a whole
	}{
		{"SELECT COUNT(*), SUM(u.a) FROM t JOIN u ON t.a = u.b WHERE t.a < 20 AND u.a > 7", false, false}, // u.b < 20, too
		{"SELECT t.a, u.a FROM t JOIN u ON t.a = u.b WHERE t.a < 20 AND u.a > 30 ORDER BY 1, 2", false, false},
		{"SELECT t.a, u.a FROM t LEFT JOIN u ON t.a = u.b AND u.a > 50 WHERE t.b > 2 ORDER BY 1, 2", true, false},
		{"SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.a = y.b WHERE x.a < 10", true, false}, // twice the same table
		{"SELECT COUNT(*) FROM t WHERE a < 10 AND b IN (SELECT b FROM u WHERE a > 45)", false, false},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT b FROM t WHERE a BETWEEN 10 AND 29 LIMIT 1000) s", false, false},
		{"SELECT (SELECT MAX(b) FROM u WHERE a < 10), COUNT(*) FROM t WHERE a > 45", false, false},
		{"WITH few AS MATERIALIZED (SELECT a, b FROM t WHERE a < 10) SELECT COUNT(*) FROM few AS x JOIN few AS y ON x.a = y.b", false, false},
		{"SELECT COUNT(*) FROM t JOIN u ON t.a = u.b WHERE 1 / t.b > 0 AND t.a < 3 AND u.a >= 0", false, false},
		{"SELECT COUNT(*) FROM t JOIN u ON t.a = u.b + 1 WHERE t.a < 3 AND u.a >= 0", false, true},
	} {
		db := opened(t, Options{Backend: "cpu"})
		for _, name := range []string{"t", "u"} {
			if err := db.Attach(name, s); err != nil {
				t.Fatal(err)
			}
		}
		again := func() {
			got, err := answer(db, c.text)
			expected, wanted := answer(want, c.text)
			if fmt.Sprint(err) != fmt.Sprint(wanted) || !cmp.Equal(got, expected) {
				t.Errorf("%s: %v (%v), want %v (%v)", c.text, got, err, expected, wanted)
			}
		}
		again()
		read := func(name string) bool {
			now := db.entry(name).Table.Load()
			return now != nil && (now.Has([]int{0}) || now.Has([]int{1}))
		}
		if read("t") != c.t || read("u") != c.u {
			t.Errorf("%s: t and u are read as a whole: %v, %v", c.text, read("t"), read("u"))
		}
		if x, err := db.Explain(t.Context(), c.text, ExplainOptions{Analyze: true}); err == nil && strings.Contains(c.text, "JOIN u") {
			if skips := strings.Contains(fmt.Sprint(x.Steps), "row groups of u)"); skips == c.u {
				t.Errorf("%s: %v", c.text, x.Steps)
			}
		}
		again()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A statement that was spared its columns reads them where another backend is asked for.
func TestSparedStatementOnAnotherBackend(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Prepare(context.Background(), "SELECT MAX(a), COUNT(b) FROM t WHERE b < 5")
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"cpu", "compute"} {
		if err := db.SetBackend(backend); err != nil {
			t.Fatal(err)
		}
		r, err := Collect(s.Query(context.Background()))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintln(r.Rows[0][0].I, r.Rows[0][1].I, r.Backend); got != "9 10 "+backend+"\n" {
			t.Errorf("%s: %s", backend, got)
		}
		if read := db.entry("t").Table.Load().Has([]int{0, 1}); read != (backend == "compute") {
			t.Errorf("%s: columns read: %v", backend, read)
		}
	}
}
