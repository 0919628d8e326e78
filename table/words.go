package table

import (
	"slices"
	"strings"
)

// Words are the distinct texts of some rows, numbered as they come.
type Words struct {
	List  []string
	Bytes int // about what they take
	index map[string]uint64
}

// wordOverhead is about what a distinct text takes besides its bytes: its header in the list,
// and its key and value in the index.
const wordOverhead = 64

// Known is the number of a text that was seen.
func (w *Words) Known(s string) (k uint64, ok bool) {
	k, ok = w.index[s]
	return k, ok
}

// Number is that of a text.
func (w *Words) Number(s string) uint64 {
	k, ok := w.Known(s)
	if !ok {
		if w.index == nil {
			w.index = map[string]uint64{}
		}
		k, s = uint64(len(w.List)), strings.Clone(s) // it does not pin the reader's buffer
		w.index[s], w.List = k, append(w.List, s)
		w.Bytes += len(s) + wordOverhead
	}
	return k
}

// sorted is the texts in their order; rank[k] is the place of the k-th.
func (w *Words) sorted() (dict []string, rank []uint64) {
	order := make([]int, len(w.List))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(w.List[a], w.List[b]) })
	dict, rank = make([]string, len(order)), make([]uint64, len(order))
	for r, k := range order {
		dict[r], rank[k] = w.List[k], uint64(r)
	}
	Pack(dict)
	return dict, rank
}

// Pack puts the texts of a list one behind the other in memory, so that who reads one after the other
// does not wait for the memory.
func Pack(list []string) {
	var b strings.Builder
	n := 0
	for _, s := range list {
		n += len(s)
	}
	b.Grow(n)
	for _, s := range list {
		b.WriteString(s)
	}
	all := b.String()
	for i, s := range list {
		list[i], all = all[:len(s)], all[len(s):]
	}
}
