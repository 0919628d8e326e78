package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// An array of percentiles is what the percentiles are one by one, on every backend, as rows, scanned
// and as Arrow.
func TestArraysOfPercentiles(t *testing.T) {
	for _, backend := range []string{"cpu", "compute", "classic", "fused"} {
		db := openSales(t, backend)
		ctx := context.Background()
		var one, two int64
		rows, err := db.Query(ctx, "SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY units), percentile_disc(0.9) WITHIN GROUP (ORDER BY units) FROM sales")
		if err != nil || !rows.Next() || rows.Scan(&one, &two) != nil {
			t.Fatal(err, rows.Err())
		}
		rows.Close()
		const text = "SELECT COUNT(*), percentile_disc(ARRAY[0.25, NULL, 0.9]) WITHIN GROUP (ORDER BY units) AS p, percentile_cont(ARRAY[0, 1]) WITHIN GROUP (ORDER BY units) FROM sales"
		if rows, err = db.Query(ctx, text); err != nil {
			t.Fatal(err)
		}
		if c := rows.Columns(); len(c) != 3 || c[1].Name != "p" || c[1].Type.String() != "bigint[]" || c[2].Type.String() != "double precision[]" {
			t.Errorf("%s: columns %v", backend, c)
		}
		var n int
		var p string
		var ends []float64
		if !rows.Next() || rows.Scan(&n, &p, &ends) != nil || n != 9 || p != fmt.Sprintf("{%d,NULL,%d}", one, two) || !slices.Equal(ends, []float64{1, 9}) {
			t.Errorf("%s: %d %s %v", backend, n, p, ends)
		}
		if got := []any{rows.Go(0), rows.Go(1), rows.Go(2)}; !slices.Equal(got, []any{int64(9), p, "{1,9}"}) {
			t.Errorf("%s: Go gives %v", backend, got)
		}
		rows.Close()
		if rows, err = db.Query(ctx, text); err != nil {
			t.Fatal(err)
		}
		for batch, err := range rows.Batches() {
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("[[%d (null) %d]]", one, two)
			if got := fmt.Sprint(batch.Column(1)); got != want || !batch.Schema().Equal(rows.Schema()) {
				t.Errorf("%s: Arrow has %s, want %s", backend, got, want)
			}
			batch.Release()
		}
	}
}

// A parameter of ANY and ALL is the text of an array, as PostgreSQL writes one.
func TestArraysAsParameters(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t (i integer, s text)")
	do(t, db, `INSERT INTO t VALUES (1, 'a'), (2, 'b c'), (3, '{'), (4, 'NULL'), (5, 'q"'), (6, '')`)
	for array, want := range map[string]string{
		`{"a","b c"}`: "1;2", ` { a , "{" , NULL } `: "1;3", `{"NULL","q\""}`: "4;5", `{b c}`: "2", `{""}`: "6", "{}": "", "{ }": "",
		"{a,,b}": "!", "{a": "!", `{"a}`: "!", "{a}x": "!", "a": "!", `{"a"b}`: "!", "{a,}": "!", "{{a},{b}}": "!", `{"a\`: "!",
	} {
		if want == "!" {
			want = "!ANY and ALL take ARRAY[1, 2] or '{1,2}' (line 1, column 25)"
		}
		if got := said(Collect(db.Query(context.Background(), "SELECT i FROM t WHERE s = ANY ($1)", array))); got != want {
			t.Errorf("%s: %s, want %s", array, got, want)
		}
	}
	for _, c := range []struct {
		text  string
		array any
		want  string
	}{
		{"SELECT i FROM t WHERE i = ANY ($1::bigint[])", "{1,3,9}", "1;3"},
		{"SELECT i FROM t WHERE i <> ALL ($1)", "{1,3}", "2;4;5;6"},
		{"SELECT i FROM t WHERE s LIKE ANY ($1)", `{b%,"%\""}`, "2;5"},
		{"SELECT i FROM t WHERE s = ANY ($1)", nil, ""},
		{"SELECT i FROM t WHERE s <> ALL ($1)", nil, ""},
		{`SELECT i FROM t WHERE s = ANY ('{"b c"}')`, nil, "2"},
		{"DELETE FROM t WHERE i = ANY ($1) RETURNING i", "{1,2}", "1;2"},
		{"DELETE FROM t WHERE i = ANY ($1) RETURNING i", "{3}", "3"},
		{"SELECT i FROM t WHERE i = ANY ($1)", []int{4, 6}, "4;6"},
		{"SELECT i FROM t WHERE i <> ALL ($1)", []int64{4, 5}, "6"},
		{"SELECT i FROM t WHERE s = ANY ($1)", []string{`q"`, "NULL", "{"}, "4;5"},
		{"SELECT i FROM t WHERE s = ANY ($1)", []any{nil, ""}, "6"},
		{"SELECT i FROM t WHERE s = ANY ($1)", []string{}, ""},
		{"SELECT i FROM t WHERE s = ANY ($1)", []string(nil), ""},
		{"SELECT i FROM t WHERE DATE '2024-01-01' + i = ANY ($1)", []time.Time{time.Date(2024, 1, 7, 0, 0, 0, 0, time.UTC)}, "6"},
		{"SELECT i FROM t WHERE i = ANY ($1)", []chan int{nil}, "!parameter $1: element 0: a chan int has no SQL type"},
		{"SELECT i FROM t WHERE i = ANY ($1)", 4, "!ANY and ALL take ARRAY[1, 2] or '{1,2}' (line 1, column 25)"},
	} {
		var args []any
		if c.text[len(c.text)-2] != '\'' {
			args = []any{c.array}
		}
		if got := said(Collect(db.Query(context.Background(), c.text, args...))); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.text, c.array, got, c.want)
		}
	}
}
