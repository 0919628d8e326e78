// Package xslices has functions of slices that package slices lacks.
package xslices

// Map is f of each element. It is nil where there are none.
func Map[A, B any](list []A, f func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

// Filter is the elements of which keep is true, in a slice of its own. It is nil where there are none.
func Filter[A any](list []A, keep func(A) bool) (out []A) {
	for _, a := range list {
		if keep(a) {
			out = append(out, a)
		}
	}
	return out
}

// Sum is the sum of f of each element.
func Sum[A any, N int | int64 | uint64 | uint32 | uint8](list []A, f func(A) N) (sum N) {
	for _, a := range list {
		sum += f(a)
	}
	return sum
}

// TryMap is [Map] with a function that may fail. It ends with the first error, and gives no elements then.
func TryMap[A, B any](list []A, f func(A) (B, error)) (out []B, err error) {
	for _, a := range list {
		b, err := f(a)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
