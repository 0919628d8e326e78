package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
)

// shaped is a condition over i and x of table t. The digits of shape say which comparisons there are
// and how they are joined; their constants follow n.
func shaped(shape, n int) string {
	var terms []string
	for k := range 4 {
		terms = append(terms, fmt.Sprintf("%s %s %d", []string{"i", "x", "i * x", "x - i"}[(shape+k)%4], []string{"<", ">", "<>"}[shape/4%3], 5+(n/24+k*13)%60))
		if k < 3 {
			terms = append(terms, []string{"AND", "OR"}[shape/12>>k&1])
		}
		if k == 1 {
			terms[0], terms[2] = "("+terms[0], terms[2]+")"
		}
	}
	for d := shape / 96; d > 0; d /= 3 { // longer ones
		terms = append(terms, "OR", []string{"i % 5 = 3", "x * 2 > 7 + i", "i IS NULL"}[d%3])
	}
	return strings.Join(terms, " ")
}

// Programs and objects of GL end flat, however many different statements run. Here a thousand of few
// shapes run, whose constants are not in the programs. In make soak ten thousand run, each of a shape
// of its own.
func TestManyStatementsEndFlat(t *testing.T) {
	n, shapes := 1000, 24
	if times, err := strconv.Atoi(os.Getenv("STENCILDB_SOAK")); err == nil && times > 0 {
		n, shapes = 1000*times, 1000*times
	}
	for _, backend := range []string{"fused", "compute"} {
		db := open(t, Options{Backend: backend})
		if err := db.Add(chunked(t, 1000)); err != nil {
			t.Fatal(err)
		}
		gpu, err := Inspect(db).GPU(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var half map[string]int
		for i := range n {
			text := "SELECT COUNT(*) FROM t WHERE " + shaped(i%shapes, i)
			if _, err := Collect(db.Query(context.Background(), text)); err != nil {
				t.Fatalf("%s: %s: %v", backend, text, err)
			}
			if i == n/2 {
				half = gpu.Context.Live()
			}
		}
		end := gpu.Context.Live()
		if !maps.Equal(half, end) || end["program"] == 0 || end["program"] > 256 {
			t.Errorf("%s: %v after %d statements, %v after %d", backend, half, n/2, end, n)
		}
	}
}
