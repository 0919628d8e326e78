package engine

import (
	"fmt"
	"strings"
	"testing"
)

// Of rows in order those behind an OFFSET are cpu's: a device passes over the others where it has all of them in one run. They are of
// one chunk and of several, alike in the keys, NULL, selected, deleted, beyond the last row, and with LIMIT.
func TestRowsBehindAnOffset(t *testing.T) {
	onCPU := openStar(t, Options{Backend: "cpu"})
	dbs := map[string]*DB{"compute": openStar(t, Options{Backend: "compute"}), "two": openStar(t, Options{Backend: "compute", Device: "0,1"}),
		"both": openStar(t, Options{Backend: "both"}), "windows": openStar(t, Options{Backend: "compute"}), "classic": openStar(t, Options{Backend: "classic"})}
	for _, db := range dbs {
		deleteFirst(t, db)
	}
	deleteFirst(t, onCPU)
	inWindows(t, dbs["windows"])
	for _, from := range []string{
		"key, name FROM far ORDER BY name, key", "name FROM far ORDER BY name", "key, name FROM far WHERE key > 700 ORDER BY name DESC", "key % 7, key FROM far ORDER BY key % 7 DESC, key",
		"a, n, m FROM fact ORDER BY a, n NULLS FIRST, m", "n, b FROM fact WHERE n > 100000 ORDER BY n, b", "DISTINCT ON (a) a, b FROM fact ORDER BY a, b", "key, edge FROM dim ORDER BY edge DESC, key",
	} {
		for _, behind := range []string{"OFFSET 0", "OFFSET 1", "OFFSET 700", "OFFSET 1499", "OFFSET 1500", "OFFSET 9000", "LIMIT 5 OFFSET 3", "LIMIT 900 OFFSET 799", "LIMIT 0 OFFSET 2", "LIMIT 3 OFFSET 1498"} {
			text := fmt.Sprintf("SELECT %s %s", from, behind)
			want := answerText(onCPU, text)
			for name, db := range dbs {
				if got := answerText(db, text); got != want || strings.HasPrefix(got, "error") {
					t.Errorf("%s, %s:\n got %.200s\nwant %.200s", name, text, got, want)
				}
			}
		}
	}
}
