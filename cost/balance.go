package cost

import "sort"

// Balance says how many of n units of work one processor takes, so that it and another one are done first. The
// other one takes the others at the same time. (GDB, section 5: the workload of an operator is divided so that both take as long.)
// first and second predict what k units take on the one, and what n - k take on the other: the more the longer.
func Balance(n int, first, second func(k int) float64) int {
	longer := sort.Search(n+1, func(k int) bool { return first(k) >= second(n-k) }) // n + 1 where it never is
	if longer > n {
		return n
	}
	if longer > 0 && second(n-longer+1) < first(longer) {
		longer--
	}
	return longer
}
