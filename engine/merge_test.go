package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// MERGE tells how many rows it has changed, and a folder keeps them.
func TestMergeIsKept(t *testing.T) {
	folder := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: folder})
	do(t, db, "CREATE TABLE t (k int PRIMARY KEY)")
	do(t, db, "INSERT INTO t VALUES (1), (3)")
	if r := do(t, db, "MERGE INTO t USING (VALUES ($1::int), (77)) s(k) ON t.k = s.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k)", 1); r.Stats.Changed != 2 {
		t.Errorf("%d rows changed, want 2", r.Stats.Changed)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	steps(t, open(t, Options{Backend: "cpu", Folder: folder}), [][2]string{{"SELECT k FROM t ORDER BY k", "3;77"}})
}

// Random MERGEs do what a loop over the rows does, in a transaction and outside of one.
func TestMergeIsALoop(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		db := open(t, Options{Backend: "cpu", ChunkRows: 3})
		defer db.Close()
		s := db.Session()
		defer s.Close()
		run := func(text string) string { return said(Collect(s.Query(context.Background(), text))) }
		rows := func(name string) map[int]int {
			out := map[int]int{}
			for _, k := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 0, 8, rapid.ID[int]).Draw(r, name) {
				out[k] = rapid.IntRange(0, 3).Draw(r, "v")
				run(fmt.Sprintf("INSERT INTO %s VALUES (%d, %d)", name, k, out[k]))
			}
			return out
		}
		run("CREATE TABLE t (k int PRIMARY KEY, v int)")
		run("CREATE TABLE s (k int, v int)")
		if rapid.Bool().Draw(r, "in a transaction") {
			run("BEGIN")
		}
		target, source := rows("t"), rows("s")
		next := map[int]int{}
		for k, v := range target {
			next[k] = v
		}
		text := "MERGE INTO t USING s ON t.k = s.k"
		done := map[string]map[int]bool{"": {}, " BY SOURCE": {}, " BY TARGET": {}}
		for range rapid.IntRange(1, 4).Draw(r, "clauses") {
			kind := rapid.SampledFrom([]string{"", " BY SOURCE", " BY TARGET"}).Draw(r, "kind")
			at := rapid.IntRange(0, 3).Draw(r, "at")
			does := rapid.IntRange(0, 2).Draw(r, "does")
			of, not := "t", "NOT "
			switch kind {
			case "":
				not = ""
			case " BY TARGET":
				of = "s"
			}
			text += fmt.Sprintf(" WHEN %sMATCHED%s AND %s.v >= %d THEN ", not, kind, of, at)
			switch {
			case does == 0:
				text += "DO NOTHING"
			case kind == " BY TARGET":
				text += "INSERT VALUES (s.k, s.v + 10)"
			case does == 1:
				text += "DELETE"
			default:
				text += "UPDATE SET v = t.v + 20"
			}
			for k := range 10 {
				v, in := target[k]
				w, from := source[k]
				var hit bool
				switch kind {
				case "":
					hit = in && from && v >= at
				case " BY SOURCE":
					hit = in && !from && v >= at
				default:
					hit = from && !in && w >= at
				}
				if !hit || done[kind][k] {
					continue
				}
				switch done[kind][k] = true; {
				case does == 0:
				case kind == " BY TARGET":
					next[k] = w + 10
				case does == 1:
					delete(next, k)
				default:
					next[k] = v + 20
				}
			}
		}
		if got := run(text); got != "" {
			r.Fatalf("%s: %s", text, got)
		}
		var want []string
		for k, v := range next {
			want = append(want, fmt.Sprintf("%d|%d", k, v))
		}
		slices.Sort(want)
		if got := run("SELECT * FROM t ORDER BY k"); got != strings.Join(want, ";") {
			r.Fatalf("%s of %v and %v:\n got %s\nwant %s", text, target, source, got, strings.Join(want, ";"))
		}
	})
}
