// Package numbers writes numbers for people.
package numbers

import "fmt"

// Grouped writes 65536 as 65,536.
func Grouped[T int | int64 | uint64](n T) string { return GroupedText(fmt.Sprint(n)) }

// Count writes a number with its noun, which has another form for all numbers but 1.
func Count[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// GroupedText is Grouped of an integer of any length.
func GroupedText(s string) string {
	sign := ""
	if s[0] == '-' {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Milliseconds is a time in seconds as text: "0.199 ms".
func Milliseconds(seconds float64) string { return fmt.Sprintf("%.3f ms", 1e3*seconds) }
