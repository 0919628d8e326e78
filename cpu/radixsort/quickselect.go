package radixsort

// Quickselect moves the element of rank k, from 0, of a list to its place (Hoare, Algorithm 65: FIND, 1961).
// No element before it is larger, and none behind it is smaller. Pivots are medians of three.
func Quickselect[T any](list []T, k int, less func(a, b T) bool) {
	for lo, hi := 0, len(list)-1; lo < hi; {
		pivot := middle(list[lo], list[lo+(hi-lo)/2], list[hi], less)
		i, j := lo, hi
		for i <= j {
			for less(list[i], pivot) {
				i++
			}
			for less(pivot, list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// middle is the median of three.
func middle[T any](a, b, c T, less func(a, b T) bool) T {
	if less(b, a) {
		a, b = b, a
	}
	if less(b, c) {
		return b
	}
	if less(a, c) {
		return c
	}
	return a
}
