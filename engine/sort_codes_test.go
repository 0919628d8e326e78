package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Rows in the order of expressions, and the first of those that are alike, are the same on a device as on cpu, errors too.
func TestOrderByExpressionsOnDevices(t *testing.T) {
	cpu := openStar(t, Options{Backend: "cpu"})
	others := map[string]*DB{"compute": openStar(t, Options{Backend: "compute"})}
	answer := func(db *DB, text string) []string {
		r, err := Collect(db.Query(context.Background(), text))
		if err != nil {
			return []string{err.Error()}
		}
		rows := make([]string, len(r.Rows))
		for i, row := range r.Rows {
			rows[i] = fmt.Sprint(row)
		}
		return rows
	}
	keys := []string{"a", "7 - a", "-n", "n * -3 + 2", "2 - (b - 5) * 4", "m", "m % 2", "m * 0", "n + 9223372036854775000", "-9223372036854775000 - n", "edge", "-edge", "name", "size - 1", "key + 0"}
	rapid.Check(t, func(r *rapid.T) {
		from, own := "fact", keys[:10]
		if rapid.Bool().Draw(r, "dim") {
			from, own = "dim", keys[10:]
		}
		by := rapid.SliceOfNDistinct(rapid.SampledFrom(own), 1, 3, rapid.ID[string]).Draw(r, "keys")
		text := "SELECT "
		if n := rapid.IntRange(0, len(by)).Draw(r, "unique"); n > 0 {
			text += "DISTINCT ON (" + strings.Join(by[:n], ", ") + ") "
		}
		text += "* FROM " + from
		if from == "fact" && rapid.Bool().Draw(r, "where") {
			text += " WHERE m < 3"
		}
		for i := range by {
			by[i] += rapid.SampledFrom([]string{"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}).Draw(r, "direction")
		}
		text += " ORDER BY " + strings.Join(by, ", ") + rapid.SampledFrom([]string{"", " LIMIT 3", " LIMIT 40 OFFSET 2", " LIMIT 0"}).Draw(r, "limit")
		want := answer(cpu, text)
		for name, db := range others {
			if got := answer(db, text); !slices.Equal(got, want) {
				r.Fatalf("%s: %s:\n got %.300q\nwant %.300q", name, text, got, want)
			}
		}
	})
}
