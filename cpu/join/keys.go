package join

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/table"
)

// Key is a condition probe = build by which partners are found. It makes a number of each
// row's value, the same one of equal values.
type Key struct {
	e            expr.Expr
	Probe, Build expr.Expr
	How          KeyForm

	ranks    []uint32            // ByRank: of the probe side's codes those of the build side, NoRow where it has none
	words    []map[string]uint64 // ByWord: by the hashes of the texts
	pairs    map[[2]int64]uint64 // byPair: nil while 64 bits are enough for all of the build side
	wide     atomic.Bool         // they are not
	min, max uint64              // of the build side's numbers
}

// KeyForm is where the numbers of a key come from.
type KeyForm uint8

const (
	ByOrdinal KeyForm = iota // both sides are columns of one type: the ordinals
	ByRank                   // both are columns of text: the codes of the build side
	ByValue                  // numbers of 64 bits that are computed: their ordinals
	ByWord                   // texts that are computed, each of which has a number
	byPair                   // DECIMALs of up to 128 bits: their ordinals, or numbered as they come where 64 bits are not enough
)

// NewKey makes the key of a condition e, which compares probe = build.
func NewKey(probe, build, e expr.Expr) *Key {
	k := &Key{e: e, Probe: probe, Build: build}
	p, b := probe.Type(), build.Type()
	_, column := probe.(*expr.Column)
	_, other := build.(*expr.Column)
	same := p.Kind == b.Kind && p.Scale == b.Scale || p.IsInteger() && b.IsInteger()
	decimal := p.Kind == table.Decimal || b.Kind == table.Decimal
	switch plain := column && other; {
	case plain && same && p.Kind == table.Varchar:
		k.How = ByRank
	case plain && same:
		k.How = ByOrdinal
	case p.Kind == table.Varchar:
		k.How = ByWord
	case decimal:
		k.How = byPair
		scale := max(p.Scale, b.Scale)
		k.Probe, k.Build = scaledTo(probe, scale), scaledTo(build, scale)
	default:
		k.How = ByValue
	}
	return k
}

// scaledTo is an exact number with so many digits after the point.
func scaledTo(e expr.Expr, scale int) expr.Expr {
	if t := e.Type(); t.Kind == table.Decimal && t.Scale == scale {
		return e
	}
	return &expr.Cast{X: e, To: table.Type{Kind: table.Decimal, Precision: 38, Scale: scale}, P: e.Pos()}
}

// numbers are those of rows of one side.
func (j *Host) numbers(k *Key, b *joinBlock, eval *vector.Evaluator, building bool) (out hashtable.Keys, err error) {
	e := k.Probe
	if building {
		e = k.Build
	}
	out.Numbers = make([]uint64, b.n)
	if k.How == ByOrdinal || k.How == ByRank {
		col := e.(*expr.Column).Index
		c := j.Column(col)
		var valid table.Bitmap
		if c.HasNulls || b.isNullable(j.ScanOf(col)) || len(c.chunks) > 1 {
			valid = table.NewBitmap(b.n)
		}
		if fetch(c, b.rowsOf(j.ScanOf(col)), out.Numbers, valid) > 0 {
			out.Null = valid
			for w := range valid {
				valid[w] = ^valid[w]
			}
		}
		for i, code := range out.Numbers {
			switch {
			case k.How == ByOrdinal:
				out.Numbers[i] = c.Base + code
			case !building:
				if len(k.ranks) == 0 || k.ranks[code] == NoRow {
					out.SetNull(i)
				} else {
					out.Numbers[i] = uint64(k.ranks[code])
				}
			}
		}
		return out, nil
	}
	x, err := eval.Vector(e, j.chunkOf(b, expr.Columns(e)), table.Block{N: b.n})
	if err != nil {
		return out, err
	}
	for i := range out.Numbers {
		known := true
		switch {
		case x.IsNull(i):
			known = false
		case k.How == ByWord:
			out.Numbers[i], known = k.wordOf(x.Texts[i])
		case k.How == byPair:
			high := x.Ints[i] >> 63
			narrow := x.Highs == nil || x.Highs[i] == high
			if !narrow {
				high = x.Highs[i]
			}
			switch {
			case k.pairs != nil:
				out.Numbers[i], known = numbered(k.pairs, [2]int64{high, x.Ints[i]}, building)
			case narrow:
				out.Numbers[i] = table.OrdinalInt(x.Ints[i])
			default:
				known = false
				if building {
					k.wide.Store(true)
				}
			}
		case x.Floats != nil:
			out.Numbers[i] = table.OrdinalFloat64(x.Floats[i])
		default:
			out.Numbers[i] = table.OrdinalInt(x.Ints[i])
		}
		if !known {
			out.SetNull(i)
		}
	}
	return out, nil
}

// wordParts is how many parts the texts of a build side are dealt to by their hashes: each is numbered by one core.
const wordParts = 1 << 5

var wordSeed = maphash.MakeSeed()

func wordPart(word string) int { return int(maphash.String(wordSeed, word) % wordParts) }

// wordOf is the number of a text of the build side.
func (k *Key) wordOf(word string) (n uint64, ok bool) {
	part := wordPart(word)
	n, ok = k.words[part][word]
	return n, ok
}

// wordNumbers are the numbers of the texts of all rows of the build side. All cores compute the texts, then partition them, then number
// them.
func (j *Host) wordNumbers(k *Key, build *Relation) (hashtable.Keys, error) {
	out := hashtable.Keys{Numbers: make([]uint64, build.Rows)}
	words, parts := make([]string, build.Rows), make([]uint8, build.Rows)
	const none = wordParts
	err := j.InBlocks(build, k.Build, func(lo int, x *expr.Vector) {
		for i, word := range x.Texts {
			if parts[lo+i] = none; !x.IsNull(i) {
				words[lo+i], parts[lo+i] = word, uint8(wordPart(word))
			}
		}
	})
	if err != nil {
		return out, err
	}
	for i, p := range parts {
		if p == none {
			out.SetNull(i)
		}
	}
	k.words = make([]map[string]uint64, wordParts)
	ordered.Each(wordParts, func(p int) {
		known := map[string]uint64{}
		for i, of := range parts {
			if int(of) != p {
				continue
			}
			n, ok := known[words[i]]
			if !ok {
				n = uint64(len(known)*wordParts + p)
				known[words[i]] = n
			}
			out.Numbers[i] = n
		}
		k.words[p] = known
	})
	return out, nil
}

// InBlocks computes an expression in the rows of a relation, block by block on all cores. A block begins at a multiple of 64.
func (j *Host) InBlocks(of *Relation, e expr.Expr, do func(lo int, x *expr.Vector)) error {
	columns := expr.Columns(e)
	for _, c := range columns {
		j.Column(c) // before others ask for it
	}
	var failed atomic.Pointer[error]
	table.InParts(of.Rows, func(lo, hi int) {
		for eval := new(vector.Evaluator); lo < hi && failed.Load() == nil; lo += joinRows {
			b := j.block(of, lo, min(hi, lo+joinRows))
			x, err := eval.Vector(e, j.chunkOf(b, columns), table.Block{N: b.n})
			if err = cmp.Or(err, j.Ctx.Err()); err != nil {
				failed.Store(&err)
				return
			}
			do(lo, &x)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// numbered is the number of a value; one that is new gets the next while the build side is numbered.
func numbered[K comparable](known map[K]uint64, v K, building bool) (n uint64, ok bool) {
	n, ok = known[v]
	if !ok && building {
		n, ok = uint64(len(known)), true
		known[v] = n
	}
	return n, ok
}

// ranked finds the codes of the build side's texts for those of the probe side's.
func (k *Key) ranked(probe, build *Column) {
	at := 0
	for _, word := range probe.Dict {
		for at < len(build.Dict) && build.Dict[at] < word {
			at++
		}
		rank := uint32(NoRow)
		if at < len(build.Dict) && build.Dict[at] == word {
			rank = uint32(at)
		}
		k.ranks = append(k.ranks, rank)
	}
}

// packed puts the numbers of several keys into one, each less its minimum, in as many bits as
// the build side needs. What lies outside has no partner.
func packed(keys []*Key, lists []hashtable.Keys) hashtable.Keys {
	if len(keys) == 1 { // its numbers stay as they are: the index knows their bounds
		return lists[0]
	}
	n := len(lists[0].Numbers)
	all := hashtable.Keys{Numbers: make([]uint64, n), Null: table.NewBitmap(n)}
	var some atomic.Bool // have none
	pack := func(lo, hi int) {
		shift := 0
		for n, k := range keys {
			list, span := lists[n], k.max-k.min
			for i, x := range list.Numbers[lo:hi] {
				if x -= k.min; x > span || list.IsNull(lo+i) {
					all.Null.Set(lo + i)
					some.Store(true)
					continue
				}
				all.Numbers[lo+i] |= x << shift
			}
			shift += bits.Len64(span)
		}
	}
	if n <= joinRows { // one worker's
		pack(0, n)
	} else {
		table.InParts(n, pack)
	}
	if !some.Load() {
		all.Null = nil
	}
	return all
}

// bounded notes the smallest and the largest number of the build side.
func (k *Key) bounded(list hashtable.Keys) {
	k.min, k.max = math.MaxUint64, 0
	var mu sync.Mutex
	table.InParts(len(list.Numbers), func(lo, hi int) {
		least, most := uint64(math.MaxUint64), uint64(0)
		for i, x := range list.Numbers[lo:hi] {
			if !list.IsNull(lo + i) {
				least, most = min(least, x), max(most, x)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		k.min, k.max = min(k.min, least), max(k.max, most)
	})
	k.min = min(k.min, k.max)
}
