// Package benchsize says how many rows Go benchmarks have: those that STENCILDB_BENCH_ROWS names, or the usual ones.
package benchsize

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// List is the numbers of rows that STENCILDB_BENCH_ROWS lists, parted by commas; usual where it is not set. Another text ends the benchmark.
func List(b *testing.B, usual ...int) []int {
	b.Helper()
	text := os.Getenv("STENCILDB_BENCH_ROWS")
	if text == "" {
		return usual
	}
	var list []int
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			b.Fatalf("STENCILDB_BENCH_ROWS=%q: want numbers of rows, parted by commas", text)
		}
		list = append(list, n)
	}
	return list
}

// Rows is the first of [List].
func Rows(b *testing.B, usual int) int {
	b.Helper()
	return List(b, usual)[0]
}
