package hashtable

import "math/bits"

// Table numbers different words in the order in which they come first.
type Table struct {
	Words []uint64 // by their numbers
	slots []uint32 // by hash, open addressing: a number plus 1, 0 for a free slot
	shift uint     // of a hash, whose upper bits are a slot
}

// ID is the number of a word.
func (t *Table) ID(w uint64) uint32 {
	if 2*len(t.Words) >= len(t.slots) {
		t.grow()
	}
	for i := Hash(w) >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		switch n := t.slots[i]; {
		case n == 0:
			t.Words = append(t.Words, w)
			t.slots[i] = uint32(len(t.Words))
			return uint32(len(t.Words) - 1)
		case t.Words[n-1] == w:
			return n - 1
		}
	}
}

// Hash spreads words: its upper bits count (multiplicative hashing, Knuth, vol. 3, 6.4).
func Hash(w uint64) uint64 {
	w ^= w >> 32
	return w * 0x9e3779b97f4a7c15
}

func (t *Table) grow() {
	n := max(64, 4*len(t.slots), 4<<bits.Len(uint(len(t.Words))))
	t.slots, t.shift = make([]uint32, n), uint(64-bits.TrailingZeros(uint(n)))
	for k, w := range t.Words {
		i := Hash(w) >> t.shift
		for t.slots[i] != 0 {
			i = (i + 1) & uint64(n-1)
		}
		t.slots[i] = uint32(k + 1)
	}
}
