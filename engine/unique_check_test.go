package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/internal/plantest"
)

// keyed is a table with the keys (a, b) and c in plain Go: v and c, which may be NULL, by a and b.
type keyed map[[2]int]keyedRow

type keyedRow struct {
	v, c int // c is 0 for NULL
}

func (m keyed) holds(c int) bool {
	for _, row := range m {
		if c != 0 && row.c == c {
			return true
		}
	}
	return false
}

func (m keyed) String() string {
	var list []string
	for k, row := range m {
		list = append(list, fmt.Sprintf("%010d|%05d|%d|%d", k[0], k[1], row.v, row.c))
	}
	slices.Sort(list)
	return strings.Join(list, ";")
}

// proposed is a row of an INSERT.
type proposed struct {
	key [2]int
	keyedRow
}

// insert does INSERT ... ON CONFLICT DO NOTHING, or, where update, ON CONFLICT (a, b) DO UPDATE SET v = t.v + excluded.v, of rows one after
// another. It returns how many rows are new or changed; ok is false where that is an error, which leaves all as it was.
func (m keyed) insert(rows []proposed, update bool) (n int, ok bool) {
	now, touched := maps.Clone(m), map[[2]int]bool{}
	for _, p := range rows {
		old, there := now[p.key]
		switch {
		case update && (touched[p.key] || !there && now.holds(p.c)):
			return 0, false
		case there && update:
			old.v += p.v
			now[p.key] = old
			touched[p.key] = true
			n++
		case !there && !now.holds(p.c):
			now[p.key] = p.keyedRow
			touched[p.key] = true
			n++
		}
	}
	clear(m)
	maps.Copy(m, now)
	return n, true
}

// Statements over the rows of a key of two columns do what a model does. The column with the larger codes has nearly always the same.
// So does INSERT ... ON CONFLICT of rows that conflict with one another, of few rows (looked for one by one) and of more (joined).
func TestKeysOfSeveralColumns(t *testing.T) {
	ctx := context.Background()
	r := plantest.Random(t)
	db := open(t, Options{Backend: "cpu"})
	const rows = 5000
	do(t, db, "CREATE TABLE t (a bigint, b bigint, v bigint, c bigint UNIQUE, PRIMARY KEY (a, b))")
	do(t, db, "INSERT INTO t SELECT CASE WHEN g % 1000 = 0 THEN 1000000000 ELSE 0 END, g, g % 7, CASE WHEN g % 3 > 0 THEN g END FROM generate_series(1, $1) AS q (g)", rows)
	m := keyed{}
	for g := 1; g <= rows; g++ {
		row := keyedRow{v: g % 7}
		if g%3 > 0 {
			row.c = g
		}
		m[[2]int{map[bool]int{true: 1_000_000_000}[g%1000 == 0], g}] = row
	}
	do(t, db, "DELETE FROM t WHERE b = 1") // whose c has the code that NULL has, too
	delete(m, [2]int{0, 1})
	key := func() [2]int {
		b := r.IntN(rows + 40)
		if r.IntN(4) > 0 {
			b = 990 + r.IntN(20)
		}
		return [2]int{1_000_000_000 * r.IntN(2), b}
	}
	for range 300 {
		k := key()
		where := fmt.Sprintf("WHERE a = %d AND b = %d", k[0], k[1])
		old, there := m[k]
		text, n, ok := "", map[bool]int{true: 1}[there], true
		switch r.IntN(5) {
		case 0:
			text = "UPDATE t SET v = v + 1 " + where
			if old.v++; there {
				m[k] = old
			}
		case 1:
			text = "DELETE FROM t " + where
			delete(m, k)
		default:
			update := r.IntN(2) == 0
			apart := update && r.IntN(4) > 0
			list, values := []proposed(nil), []string(nil)
			for range 1 + r.IntN([]int{3, 20, 90}[r.IntN(3)]) {
				p := proposed{key(), keyedRow{r.IntN(9), []int{0, 1, 1 + r.IntN(rows), rows + r.IntN(30)}[r.IntN(4)]}}
				if apart { // or else nearly all are errors
					p.key[1], p.c = len(list)*50+r.IntN(50), 0
				}
				list = append(list, p)
				values = append(values, strings.ReplaceAll(fmt.Sprintf("(%d, %d, %d, %d)", p.key[0], p.key[1], p.v, p.c), ", 0)", ", NULL)"))
			}
			text = "INSERT INTO t VALUES " + strings.Join(values, ", ") + map[bool]string{true: " ON CONFLICT (a, b) DO UPDATE SET v = t.v + excluded.v", false: " ON CONFLICT DO NOTHING"}[update]
			n, ok = m.insert(list, update)
		}
		st, err := db.Exec(ctx, text)
		if ok != (err == nil) || ok && st.Changed != n {
			t.Fatalf("%s: %d rows are changed, %v; want %d, without an error: %v", text, st.Changed, err, n, ok)
		}
		want := ""
		if row, there := m[k]; there {
			want = fmt.Sprintf("%d|%d", row.v, row.c)
		}
		if got := said(do(t, db, "SELECT v, COALESCE(c, 0) FROM t "+where), nil); got != want {
			t.Fatalf("after %s: row %v is %s, want %s", text, k, got, want)
		}
	}
	if got := said(do(t, db, "SELECT lpad(a::text, 10, '0'), lpad(b::text, 5, '0'), v, COALESCE(c, 0) FROM t ORDER BY a, b"), nil); got != m.String() {
		t.Errorf("the table and the model differ: %s\nand\n%s", got, m)
	}
}
