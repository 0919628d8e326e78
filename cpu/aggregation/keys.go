package aggregation

import (
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// keys turns the keys of a row into one word of 64 bits, in which the words of the keys stand beside one
// another. All workers make the same word of the same keys. Where the keys have too many bits, the
// combinations of the first ones are numbered.
type keys struct {
	list  []*key
	folds map[int]*keyNumbers // what is before key i is numbered
	bits  int                 // of a word
}

// key is one key. A column's word is its code, counted from the smallest of all chunks, as long as codes mean
// the same in all. All other values are numbered as they come.
type key struct {
	e    expr.Expr
	bits int
	// Of a column whose codes are words:
	direct bool
	lo     uint64 // the ordinal whose word is 0
	null   uint64 // the word of NULL
	nulls  bool   // there are some
	signed bool   // some values are -0, whose word is that of 0
	keyNumbers
}

// keyNumbers numbers words, or texts, of several workers, from 1 on. 0 stands for NULL.
type keyNumbers struct {
	mu    sync.Mutex
	last  uint32 // number
	words map[uint64]uint32
	texts dictionary.Builder
	ids   []uint32 // the numbers of texts
}

func (d *keyNumbers) word(w uint64) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.words[w]
	if !ok {
		if d.words == nil {
			d.words = map[uint64]uint32{}
		}
		d.last++
		id = d.last
		d.words[w] = id
	}
	return id
}

func (d *keyNumbers) text(s string) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.textOf(s)
}

// textOf is text with mu. The text has to stay where it is.
func (d *keyNumbers) textOf(s string) uint32 {
	d.texts.Stay = true
	k := d.texts.Number(s)
	if int(k) == len(d.ids) {
		d.last++
		d.ids = append(d.ids, d.last)
	}
	return d.ids[k]
}

// numberBits is the width of a number of a [keyNumbers].
const numberBits = 32

func newKeys(t *table.Table, list []expr.Expr) *keys {
	out := &keys{folds: map[int]*keyNumbers{}}
	for i, e := range list {
		k := &key{e: e, bits: numberBits}
		if c, ok := e.(*expr.Column); ok {
			k.ofColumn(t, c.Index)
		}
		if out.bits+k.bits > 64 {
			out.folds[i] = &keyNumbers{}
			out.bits = numberBits
			if k.bits > 64-numberBits {
				k.direct, k.bits = false, numberBits
			}
		}
		out.list, out.bits = append(out.list, k), out.bits+k.bits
	}
	return out
}

// ofColumn makes the codes of a column the words, where they can be.
func (k *key) ofColumn(t *table.Table, col int) {
	if t.Fields[col].Type.Kind == table.Varchar && len(t.Chunks) > 1 {
		return
	}
	lo, hi, nulls := uint64(0), uint64(0), false
	first := true
	for _, c := range t.Chunks {
		s := c.Segments[col]
		nulls = nulls || s.Nulls > 0
		if s.NonNull() == 0 {
			continue
		}
		if first || s.Base < lo {
			lo = s.Base
		}
		if first || s.Base+s.Max > hi {
			hi = s.Base + s.Max
		}
		first = false
	}
	size := hi - lo
	if nulls {
		if size++; size == 0 {
			return
		}
	}
	k.signed = physical.HasNegativeZeros(t, col)
	k.direct, k.lo, k.null, k.nulls, k.bits = true, lo, size, nulls, bits.Len64(size)
}

// cache is what one worker keeps of a key, or of the keys before one.
type cache struct {
	codes map[*table.Segment][]uint32 // the numbers of codes, the last NULL's; 0 for those to come
	local hashtable.Table
	ids   []uint32 // the numbers of what local numbers
	texts map[string]uint32
	words []uint64              // of the rows at hand, where codes are words
	small [smallIntegers]uint32 // the numbers of small integers plus 1; 0 for those to come
}

// smallIntegers are the parts of times, years among them.
const smallIntegers = 1 << 12

// word is the number of a word.
func (c *cache) word(d *keyNumbers, w uint64) uint64 {
	i := c.local.ID(w)
	if int(i) == len(c.ids) {
		c.ids = append(c.ids, d.word(w))
	}
	return uint64(c.ids[i])
}

// text is the number of a text.
func (c *cache) text(d *keyNumbers, s string) uint64 {
	id, ok := c.texts[s]
	if !ok {
		if c.texts == nil {
			c.texts = map[string]uint32{}
		}
		s = strings.Clone(s) // it is in an arena
		id = d.text(s)
		c.texts[s] = id
	}
	return uint64(id)
}

// words are those of the rows of a block, and where a row raises an error those of the rows
// before it.
func (w *worker) words(c *table.Chunk, b table.Block) (words []uint64, err error) {
	shift := 0
	for i, k := range w.keys.list {
		if d := w.keys.folds[i]; d != nil {
			for r := range words {
				words[r] = w.folded[i].word(d, words[r])
			}
			shift = numberBits
		}
		next, failed := w.keyWords(k, &w.caches[i], c, b)
		if failed != nil {
			err, b = failed, b.Cut(0, len(next))
		}
		if i == 0 {
			words = next
		}
		words = words[:len(next)]
		if i > 0 {
			for r, x := range next {
				words[r] |= x << shift
			}
		}
		shift += k.bits
	}
	return words, err
}

// keyWords are the words of one key.
func (w *worker) keyWords(k *key, at *cache, c *table.Chunk, b table.Block) ([]uint64, error) {
	if k.direct {
		at.words = slices.Grow(at.words[:0], b.Len())[:b.Len()]
		k.codes(at.words, c.Segments[k.e.(*expr.Column).Index], b)
		return at.words, nil
	}
	s, few := vector.OfKeptCodes(k.e, c)
	if col, ok := k.e.(*expr.Column); ok {
		s, few = c.Segments[col.Index], s.Type.Kind == table.Varchar || few
	}
	if few {
		return w.ofCodes(k, at, s, c, b)
	}
	x, err := w.eval.Vector(k.e, c, b)
	words := make([]uint64, x.Len())
	if x.Texts == nil && x.Floats == nil && x.Highs == nil && x.Valid == nil {
		for i, v := range x.Ints {
			id := uint32(0)
			if uint64(v) < uint64(len(at.small)) {
				id = at.small[v]
			}
			if words[i] = uint64(id) - 1; id == 0 {
				words[i] = at.value(&k.keyNumbers, &x, i)
			}
		}
		return words, err
	}
	for i := range words {
		words[i] = at.value(&k.keyNumbers, &x, i)
	}
	return words, err
}

// value is the number of a value of a vector.
func (c *cache) value(d *keyNumbers, x *expr.Vector, i int) uint64 {
	switch {
	case x.IsNull(i):
		return 0
	case x.Texts != nil:
		return c.text(d, x.Texts[i])
	case x.Floats != nil:
		f := x.Floats[i]
		if v := int64(f); uint64(v) < uint64(len(c.small)) && float64(v) == f { // -0 is 0
			if c.small[v] == 0 {
				c.small[v] = uint32(c.word(d, table.OrdinalFloat64(f))) + 1
			}
			return uint64(c.small[v] - 1)
		}
		return c.word(d, table.OrdinalFloat64(f))
	case x.Highs != nil && x.Highs[i] != x.Ints[i]>>63: // as text, beside the words of 64 bits
		return c.text(d, int128.Int{Hi: x.Highs[i], Lo: uint64(x.Ints[i])}.Big().String())
	}
	v := uint64(x.Ints[i])
	if v >= uint64(len(c.small)) {
		return c.word(d, v)
	}
	if c.small[v] == 0 {
		c.small[v] = uint32(c.word(d, v)) + 1
	}
	return uint64(c.small[v] - 1)
}

// directWords are the words of a block's rows by keys that are alike, made on all cores.
func (k *keys) directWords(c *table.Chunk, b table.Block) []uint64 {
	words := make([]uint64, b.Len())
	table.InParts(b.Len(), func(from, to int) {
		part, shift := make([]uint64, to-from), 0
		for _, key := range k.list {
			key.codes(part, c.Segments[key.e.(*expr.Column).Index], b.Cut(from, to))
			for i, x := range part {
				words[from+i] |= x << shift
			}
			shift += key.bits
		}
	})
	return words
}

// codes writes the words of a column's rows.
func (k *key) codes(words []uint64, s *table.Segment, b table.Block) {
	table.GatherInto(words, s.Codes, b, s.Base-k.lo)
	if s.Nulls > 0 {
		for i := range words {
			if s.IsNull(b.Row(i)) {
				words[i] = k.null
			}
		}
	}
}

// ofCodes are the words of an expression over one column of few codes, or of a column of text. Each code's
// number is looked up once.
func (w *worker) ofCodes(k *key, at *cache, s *table.Segment, c *table.Chunk, b table.Block) ([]uint64, error) {
	known := at.codes[s]
	if known == nil {
		known = make([]uint32, s.Max+2)
		if at.codes == nil {
			at.codes = map[*table.Segment][]uint32{}
		}
		at.codes[s] = known
	}
	words := make([]uint64, b.Len())
	column, _ := k.e.(*expr.Column)
	if column != nil && s.Type.Kind == table.Varchar {
		k.keyNumbers.ofTexts(known, words, s, b)
		return words, nil
	}
	for i := range words {
		row := b.Row(i)
		code := s.Codes.At(row)
		if s.IsNull(row) {
			code = s.Max + 1
		}
		if known[code] == 0 {
			one, err := w.eval.Vector(k.e, c, b.Cut(i, i+1))
			if err != nil {
				return words[:i], err
			}
			known[code] = uint32(at.value(&k.keyNumbers, &one, 0)) + 1
		}
		words[i] = uint64(known[code] - 1)
	}
	return words, nil
}

// ofTexts writes the words of rows of a column of text. known has the words of the codes that were looked up, plus 1; its last
// entry is NULL's.
func (d *keyNumbers) ofTexts(known []uint32, words []uint64, s *table.Segment, b table.Block) {
	locked := false
	for i := range words {
		row := b.Row(i)
		code := s.Codes.At(row)
		if s.IsNull(row) {
			continue // 0
		}
		if known[code] == 0 {
			if !locked {
				d.mu.Lock()
				locked = true
			}
			known[code] = d.textOf(s.Dict[code]) + 1
		}
		words[i] = uint64(known[code] - 1)
	}
	if locked {
		d.mu.Unlock()
	}
}
