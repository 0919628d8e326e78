package dictionary

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
)

// Builder has the distinct texts of some rows, numbered as they come.
type Builder struct {
	List  []string
	Bytes int  // about what they take
	Stay  bool // they stay where they are, and are not copied
	// slots is an open-addressing hash table of the texts. A slot has a text's hash in the upper 32 bits, and its
	// number plus 1 in the lower. At least half of the slots are 0.
	slots []uint64
	room  []byte // of texts to come: they lie one behind the other
	order []uint32
}

// wordOverhead is about what a distinct text takes besides its bytes: its header in the list,
// and its slots.
const wordOverhead = 48

var hashSeed = maphash.MakeSeed()

// find is the number of a text, and the slot that it has or would have.
func (w *Builder) find(s string, hash uint64) (slot int, k uint64, ok bool) {
	mask := len(w.slots) - 1
	for slot = int(hash>>32) & mask; ; slot = (slot + 1) & mask {
		at := w.slots[slot]
		if at == 0 {
			return slot, 0, false
		}
		if k := uint64(uint32(at)) - 1; at>>32 == hash>>32 && w.List[k] == s {
			return slot, k, true
		}
	}
}

// Known is the number of a text that was seen.
func (w *Builder) Known(s string) (k uint64, ok bool) {
	if w.slots == nil {
		return 0, false
	}
	_, k, ok = w.find(s, maphash.String(hashSeed, s))
	return k, ok
}

// Number is that of a text.
func (w *Builder) Number(s string) uint64 {
	if 2*len(w.List) >= len(w.slots) {
		w.grow()
	}
	hash := maphash.String(hashSeed, s)
	slot, k, ok := w.find(s, hash)
	if !ok {
		k = uint64(len(w.List))
		w.slots[slot] = hash>>32<<32 | (k + 1)
		if !w.Stay {
			s = w.keep(s)
		}
		w.List = append(w.List, s)
		w.Bytes += len(s) + wordOverhead
	}
	return k
}

// grow doubles the slots.
func (w *Builder) grow() {
	old := w.slots
	w.slots = make([]uint64, max(16, 2*len(old)))
	mask := len(w.slots) - 1
	for _, at := range old {
		if at != 0 {
			slot := int(at>>32) & mask
			for w.slots[slot] != 0 {
				slot = (slot + 1) & mask
			}
			w.slots[slot] = at
		}
	}
}

// keep is a copy of a text, which does not pin the reader's buffer.
func (w *Builder) keep(s string) string {
	const least, most = 64, 1 << 16 // bytes of room
	if len(s) > most/4 {
		return strings.Clone(s)
	}
	if cap(w.room)-len(w.room) < len(s) {
		w.room = make([]byte, 0, min(most, max(least, len(s), 2*cap(w.room))))
	}
	from := len(w.room)
	w.room = append(w.room, s...)
	return unsafe.String(unsafe.SliceData(w.room[from:]), len(s))
}

// Order are the numbers of the texts in the order of these. It puts them one behind the other, too.
func (w *Builder) Order() []uint32 {
	if len(w.order) == len(w.List) {
		return w.order
	}
	texts := make([]text, len(w.List))
	for k := range texts {
		texts[k].number = uint32(k)
	}
	sortTexts(texts, make([]text, len(texts)), w.List, 0)
	w.order = make([]uint32, len(texts))
	list := make([]string, len(texts))
	for i, t := range texts {
		w.order[i], list[i] = t.number, w.List[t.number]
	}
	Pack(list)
	for i, k := range w.order {
		w.List[k] = list[i]
	}
	return w.order
}

// text is one of a list, by its number.
type text struct {
	first  uint64 // of its bytes, from some place on, which decide mostly
	number uint32
}

// fewTexts are compared with one another.
const fewTexts = 32

// sortTexts sorts different texts of a list that have the same bytes before a place. room is as long as texts.
func sortTexts(texts, room []text, list []string, at int) {
	if len(texts) < 2 {
		return
	}
	at += len(commonPrefix(texts, list, at))
	differ := uint64(0)
	for i := range texts {
		var first [8]byte
		copy(first[:], list[texts[i].number][at:])
		texts[i].first = binary.BigEndian.Uint64(first[:])
		differ |= texts[i].first ^ texts[0].first
	}
	sortFirst(texts, room, differ)
	for from, to := 0, 0; from < len(texts); from = to {
		short := false // one ends here, so that another one has zeros
		for to = from; to < len(texts) && texts[to].first == texts[from].first; to++ {
			short = short || len(list[texts[to].number]) < at+8
		}
		if same := texts[from:to]; short || len(same) < fewTexts {
			slices.SortFunc(same, func(a, b text) int { return strings.Compare(list[a.number], list[b.number]) })
		} else {
			sortTexts(same, room, list, at+8)
		}
	}
}

// commonPrefix is what all of the texts have from a place on.
func commonPrefix(texts []text, list []string, at int) string {
	common := list[texts[0].number][at:]
	for _, t := range texts[1:] {
		s := list[t.number][at:]
		if strings.HasPrefix(s, common) {
			continue
		}
		n := 0
		for n < len(common) && n < len(s) && common[n] == s[n] {
			n++
		}
		if common = common[:n]; n == 0 {
			break
		}
	}
	return common
}

// sortFirst sorts texts by their first bytes, of which some bits differ: byte by byte where they are many.
func sortFirst(texts, room []text, differ uint64) {
	const many = 1 << 10
	if len(texts) < many {
		slices.SortFunc(texts, func(a, b text) int { return cmp.Compare(a.first, b.first) })
		return
	}
	from, to := texts, room[:len(texts)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var begin [257]int
		for i := range from {
			begin[from[i].first>>shift&0xff+1]++
		}
		for i := range 256 {
			begin[i+1] += begin[i]
		}
		for _, t := range from {
			digit := t.first >> shift & 0xff
			to[begin[digit]] = t
			begin[digit]++
		}
		from, to = to, from
	}
	copy(texts, from) // where they are not there
}

// Ranks are the places of the texts, by their numbers, in a dictionary that has them all.
func (w *Builder) Ranks(dict []string) []uint64 {
	rank, at := make([]uint64, len(w.List)), 0
	for _, k := range w.Order() {
		s, step := w.List[k], 1
		for at+step < len(dict) && dict[at+step] <= s { // the next ones are near
			at += step
			step *= 2
		}
		more, _ := slices.BinarySearch(dict[at:min(at+step, len(dict))], s)
		at += more
		rank[k] = uint64(at)
	}
	return rank
}

// Merge is the distinct texts of several lists in their order, one behind the other. It is made by all cores.
func Merge(of []*Builder) []string {
	lists, most := make([][]string, len(of)), 0
	for i, w := range of {
		for _, k := range w.Order() {
			lists[i] = append(lists[i], w.List[k])
		}
		if len(lists[i]) > len(lists[most]) {
			most = i
		}
	}
	if len(lists) == 0 {
		return nil
	}
	const least = 1 << 12 // texts of the largest list that a goroutine takes
	parts := make([][]string, max(1, min(4*runtime.GOMAXPROCS(0), len(lists[most])/least)))
	var wg parallel.Group
	begin := func(list []string, part int) int { // of the part in a list
		switch part {
		case 0:
			return 0
		case len(parts):
			return len(list)
		}
		at, _ := slices.BinarySearch(list, lists[most][len(lists[most])*part/len(parts)])
		return at
	}
	merge := func(p int) {
		some := xslices.Map(lists, func(list []string) []string { return list[begin(list, p):begin(list, p+1)] })
		for len(some) > 1 {
			some = append(some[2:], mergeTwo(some[0], some[1]))
		}
		parts[p] = some[0]
	}
	for p := range len(parts) - 1 {
		wg.Go(func() { merge(p) })
	}
	merge(len(parts) - 1)
	wg.Wait()
	dict := slices.Concat(parts...)
	Pack(dict)
	return dict
}

// mergeTwo is the texts of two lists in order, each once.
func mergeTwo(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := strings.Compare(a[0], b[0])
		if c <= 0 {
			out = append(out, a[0])
			a = a[1:]
		} else {
			out = append(out, b[0])
		}
		if c >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Pack puts the texts of a list one behind the other in memory. So reading them in order does not wait for
// the memory.
func Pack(list []string) {
	var b strings.Builder
	n := xslices.Sum(list, func(s string) int { return len(s) })
	b.Grow(n)
	for _, s := range list {
		b.WriteString(s)
	}
	all := b.String()
	for i, s := range list {
		list[i], all = all[:len(s)], all[len(s):]
	}
}

// Packed is a list's texts as one, where they lie one behind the other as [Pack] leaves them. It is there as long as the list.
func Packed(list []string) (all string, ok bool) {
	var base *byte
	n := 0
	for _, s := range list {
		if s == "" {
			continue
		}
		if base == nil {
			base = unsafe.StringData(s)
		}
		if uintptr(unsafe.Pointer(unsafe.StringData(s))) != uintptr(unsafe.Pointer(base))+uintptr(n) {
			return "", false
		}
		n += len(s)
	}
	return unsafe.String(base, n), true
}
