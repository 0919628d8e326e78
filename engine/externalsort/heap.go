package externalsort

// Heap has runs that are merged, first the one whose row is the next (Knuth, vol. 3, 5.4.1).
type Heap[T any] struct {
	of   []T
	less func(a, b T) bool
}

// NewHeap makes a heap of what there is, which it changes; less is a total order.
func NewHeap[T any](of []T, less func(a, b T) bool) *Heap[T] {
	h := &Heap[T]{of, less}
	for i := len(of)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h
}

// Next finds the first run again when the one that was has gone to its next row, or has none: more is false then.
func (h *Heap[T]) Next(more bool) {
	if !more {
		last := len(h.of) - 1
		h.of[0] = h.of[last]
		h.of = h.of[:last]
	}
	h.down(0)
}

// First is the first of all; it is an error to ask for it where there is none.
func (h *Heap[T]) First() T { return h.of[0] }

// len is how many there are.
func (h *Heap[T]) len() int { return len(h.of) }

// down puts a run in its place among those below it.
func (h *Heap[T]) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(h.of) {
			return
		}
		if k+1 < len(h.of) && h.less(h.of[k+1], h.of[k]) {
			k++
		}
		if !h.less(h.of[k], h.of[i]) {
			return
		}
		h.of[i], h.of[k] = h.of[k], h.of[i]
		i = k
	}
}
