// Package numbers writes numbers for people.
package numbers

import "fmt"

// Grouped writes 65536 as 65,536.
func Grouped[T int | int64 | uint64](n T) string {
	s, sign := fmt.Sprint(n), ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
