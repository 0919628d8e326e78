package aggregation

import (
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// distinctValues are the different values of each group.
type distinctValues interface {
	add(groups []uint32, x *expr.Vector)
	merge(o distinctValues, to []uint32)
	// each gives all of them, with the groups that they belong to.
	each(do func(groups []uint32, x *expr.Vector))
}

// distinct numbers the values, and the pairs of a group and such a number.
type distinct[T comparable] struct {
	by    *ordering[T]
	words hashtable.Table // the values, where they are words
	ids   map[T]uint32    // else these
	list  []T
	pairs hashtable.Table
}

func (d *distinct[T]) id(v T) uint32 {
	if w, ok := any(v).(int64); ok {
		id := d.words.ID(uint64(w))
		if int(id) == len(d.list) {
			d.list = append(d.list, v)
		}
		return id
	}
	id, ok := d.ids[v]
	if !ok {
		id = uint32(len(d.list))
		d.ids[v], d.list = id, append(d.list, v)
	}
	return id
}

func (d *distinct[T]) add(groups []uint32, x *expr.Vector) {
	for i, g := range groups {
		d.pairs.ID(uint64(g)<<32 | uint64(d.id(d.by.get(x, i))))
	}
}

func (d *distinct[T]) merge(o distinctValues, to []uint32) {
	other := o.(*distinct[T])
	d.by.mergeOrdering(other.by)
	ids := xslices.Map(other.list, d.id)
	for _, p := range other.pairs.Words {
		d.pairs.ID(uint64(to[p>>32])<<32 | uint64(ids[uint32(p)]))
	}
}

func (d *distinct[T]) each(do func(groups []uint32, x *expr.Vector)) {
	for part := range slices.Chunk(d.pairs.Words, vector.PieceRows) {
		x, groups := expr.Vector{}, make([]uint32, len(part))
		for i, p := range part {
			groups[i] = uint32(p >> 32)
			d.by.put(&x, d.list[uint32(p)])
		}
		do(groups, &x)
	}
}

// codeSet is the different values of a column whose codes mean the same in all chunks. It has a bit for each
// group and code, until these are too many. Then it has the words that occur.
type codeSet struct {
	*key
	t      *table.Table
	size   uint64 // codes
	bits   []uint64
	pairs  hashtable.Table
	hashed bool
}

// mostBits is up to how many bits a [codeSet] has.
const mostBits = 1 << 26

// codesOf is the key whose words are the codes of a column. It is nil where the expression is not a column,
// or where codes do not mean the same in all chunks.
func codesOf(t *table.Table, e expr.Expr) *key {
	c, ok := e.(*expr.Column)
	if !ok {
		return nil
	}
	k := &key{e: c}
	if k.ofColumn(t, c.Index); !k.direct || k.bits > 32 {
		return nil
	}
	return k
}

// vector is the words of rows in the place of their values.
func (k *key) vector(c *table.Chunk, b table.Block) (x expr.Vector) {
	s := c.Segments[k.e.(*expr.Column).Index]
	x.Ints = table.Gather(s.Codes, b, int64(s.Base-k.lo))
	x.Valid, _ = s.Validity(b)
	return x
}

func (s *codeSet) add(groups []uint32, x *expr.Vector) {
	if !s.hashed {
		most := uint32(0)
		for _, g := range groups {
			most = max(most, g)
		}
		s.reserve(most)
	}
	if s.hashed {
		for i, g := range groups {
			s.pairs.ID(uint64(g)*s.size + uint64(x.Ints[i]))
		}
		return
	}
	for i, g := range groups {
		at := uint64(g)*s.size + uint64(x.Ints[i])
		s.bits[at/64] |= 1 << (at % 64)
	}
}

// reserve makes room for groups up to one, as bits or else as words.
func (s *codeSet) reserve(group uint32) {
	n := (uint64(group) + 1) * s.size
	if n <= mostBits {
		s.bits = resized(s.bits, int(n+63)/64)
		return
	}
	s.hashed = true
	s.words(func(w uint64) { s.pairs.ID(w) })
	s.bits = nil
}

// words gives the words that there are, those of bits ascending.
func (s *codeSet) words(do func(w uint64)) {
	for i, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			do(uint64(64*i + bits.TrailingZeros64(word)))
		}
	}
	for _, w := range s.pairs.Words {
		do(w)
	}
}

func (s *codeSet) merge(o distinctValues, to []uint32) {
	if other := o.(*codeSet); s.size%64 == 0 && !other.hashed && len(to) > 0 {
		s.reserve(slices.Max(to))
		if !s.hashed {
			for g, part := range slices.Collect(slices.Chunk(other.bits, int(s.size/64))) {
				for i, word := range part {
					s.bits[uint64(to[g])*s.size/64+uint64(i)] |= word
				}
			}
			return
		}
	}
	x := expr.Vector{Ints: make([]int64, 1)}
	group := make([]uint32, 1)
	o.(*codeSet).words(func(w uint64) {
		group[0], x.Ints[0] = to[w/s.size], int64(w%s.size)
		s.add(group, &x)
	})
}

func (s *codeSet) each(do func(groups []uint32, x *expr.Vector)) {
	x, groups := expr.Vector{}, []uint32{}
	flush := func() {
		do(groups, &x)
		x, groups = expr.Vector{}, groups[:0]
	}
	t := s.e.Type()
	s.words(func(w uint64) {
		groups = append(groups, uint32(w/s.size))
		switch code := w % s.size; {
		case t.Kind == table.Varchar: // of one chunk
			x.Texts = append(x.Texts, s.t.Chunks[0].Segments[s.e.(*expr.Column).Index].Dict[code])
		case t.IsFloat():
			x.Floats = append(x.Floats, t.FloatFromOrdinal(s.lo+code))
		default:
			x.Ints = append(x.Ints, table.FromOrdinal(t, s.lo+code).I)
		}
		if len(groups) == vector.PieceRows {
			flush()
		}
	})
	flush()
}
