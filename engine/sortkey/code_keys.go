package sortkey

import (
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Coded is a key as codes, which order as its values do.
type Coded struct {
	expr.SortKey
	Column *CodedColumn // where it is a column of the table
	most   uint64       // its largest code
	nulls  bool         // it may be NULL
	long   bool         // behind its codes come 64 bits more
	Ranked bool         // its codes are ranks among all its values
}

// CodedColumn is a column of the table, in the code space that its chunks have in common.
type CodedColumn struct {
	index int
	delta []uint64   // by chunk: what its codes are less
	ranks [][]uint32 // by chunk: its codes; nil where they are less by delta
}

// OfColumn is a key that is a column.
func OfColumn(k expr.SortKey, t *table.Table, index int) Coded {
	space := physical.NewCodeSpace(t, index)
	out := Coded{SortKey: k, Column: &CodedColumn{index: index}, most: space.Max()}
	for _, c := range t.Chunks {
		delta, ranks := space.Translation(c.Segments[index])
		out.Column.delta, out.Column.ranks = append(out.Column.delta, delta), append(out.Column.ranks, ranks)
		out.nulls = out.nulls || c.Segments[index].Nulls > 0
	}
	return out
}

// OfValues is a key of values that are computed.
func OfValues(k expr.SortKey) Coded {
	out, t := Coded{SortKey: k, most: math.MaxUint64, nulls: true}, k.E.Type()
	if t.Kind == table.Varchar {
		out.most, out.Ranked = math.MaxUint32, true
	}
	out.long = t.Kind == table.Decimal && t.Precision > 18
	return out
}

// Codes are the codes of the column in a block's rows, and which of these have a value.
func (c *CodedColumn) Codes(chunk *table.Chunk, b table.Block) (codes []uint64, valid []byte) {
	s, ranks := chunk.Segments[c.index], c.ranks[b.Chunk]
	codes = table.Gather(s.Codes, b, c.delta[b.Chunk])
	if ranks != nil {
		for i, code := range codes {
			codes[i] = uint64(ranks[code])
		}
	}
	valid, _ = s.Validity(b)
	return codes, valid
}

// UpTo is a block of a chunk without the rows whose first column of arranged codes is above most; the key is a column.
func (k *Coded) UpTo(most uint64, chunk *table.Chunk, b table.Block) table.Block {
	segment := chunk.Segments[k.Column.index]
	if most == math.MaxUint64 || k.nulls && k.most == math.MaxUint64 || segment.Codes.Len() == 0 {
		return b
	}
	lo, hi, nulls := uint64(0), most, false // of the values, and whether NULLs stay
	switch {
	case k.nulls && k.NullsFirst && most == 0:
		return cpu.Between(segment, b, 1, 0, true)
	case k.nulls && k.NullsFirst:
		hi, nulls = most-1, true
	case k.nulls:
		nulls = most > k.most
	}
	if hi = min(hi, k.most); k.Desc {
		lo, hi = k.most-hi, k.most
	}
	delta, ranks := k.Column.delta[b.Chunk], k.Column.ranks[b.Chunk]
	switch {
	case ranks != nil:
		least, _ := slices.BinarySearch(ranks, uint32(lo))
		above := sort.Search(len(ranks), func(i int) bool { return uint64(ranks[i]) > hi })
		if above == 0 {
			return cpu.Between(segment, b, 1, 0, nulls)
		}
		lo, hi = uint64(least), uint64(above-1)
	case hi < delta:
		return cpu.Between(segment, b, 1, 0, nulls)
	default:
		lo, hi = max(lo, delta)-delta, hi-delta
	}
	return cpu.Between(segment, b, lo, hi, nulls)
}

// ordinals are codes of numbers, which order as these do.
func ordinals(x expr.Vector) []uint64 {
	codes := make([]uint64, x.Len())
	for i, v := range x.Ints {
		codes[i] = table.OrdinalInt(v)
	}
	for i, v := range x.Floats {
		codes[i] = table.OrdinalFloat64(v)
	}
	return codes
}

// Fitted is a key that has these values alone, and its codes, from 0 on; of texts their ranks.
func Fitted(k expr.SortKey, x expr.Vector) (Coded, [][]uint64) {
	out, codes := Coded{SortKey: k}, ordinals(x)
	if x.Texts != nil {
		codes = Ranks([][]string{x.Texts})[0]
	}
	least := uint64(math.MaxUint64)
	for i, c := range codes {
		if bitutil.BitIsSet(x.Valid, i) {
			least, out.most = min(least, c), max(out.most, c)
		} else {
			out.nulls = true
		}
	}
	if out.most -= least; least == math.MaxUint64 { // no value
		out.most = 0
	}
	for i := range codes {
		codes[i] -= least
	}
	return out, out.Arrange(codes, x.Valid)
}

// Add adds the key of a piece's rows.
func (k *Coded) Add(p *Piece, x expr.Vector) {
	if k.Ranked {
		p.Ranked, p.Columns = append(p.Ranked, x), append(p.Columns, nil)
		return
	}
	codes := ordinals(x)
	if k.long {
		for i, v := range x.Ints { // the upper halves
			if codes[i] = table.OrdinalInt(v >> 63); x.Highs != nil {
				codes[i] = table.OrdinalInt(x.Highs[i])
			}
		}
	}
	if p.Columns = append(p.Columns, k.Arrange(codes, x.Valid)...); !k.long {
		return
	}
	low := make([]uint64, len(x.Ints))
	for i, v := range x.Ints {
		switch {
		case x.IsNull(i):
		case k.Desc:
			low[i] = ^uint64(v)
		default:
			low[i] = uint64(v)
		}
	}
	p.Columns = append(p.Columns, low)
}

// VectorOf is values of a type as a vector. DECIMALs of one scale and intervals without months are integers
// of 64 bits; others are their ranks.
func VectorOf(n int, at func(i int) (table.Value, error), t table.Type) (x expr.Vector, err error) {
	x.Valid = make([]byte, bitutil.BytesForBits(int64(n)))
	switch {
	case t.Kind == table.Varchar:
		x.Texts = make([]string, n)
	case t.IsFloat():
		x.Floats = make([]float64, n)
	default:
		x.Ints = make([]int64, n)
	}
	alike, scale := true, -1 // of values that integers stand for
	for i := range n {
		v, err := at(i)
		if err != nil {
			return x, err
		}
		bitutil.SetBitTo(x.Valid, i, !v.Null)
		switch {
		case v.Null:
		case t.Kind == table.Varchar:
			x.Texts[i] = v.S
		case t.IsFloat():
			x.Floats[i] = v.F
		default:
			if x.Ints[i] = v.I; v.Big != nil {
				alike = alike && v.Big.IsInt64()
				x.Ints[i] = v.Big.Int64()
			}
			alike = alike && v.Months == 0 && (scale < 0 || scale == v.Type.Scale)
			scale = v.Type.Scale
		}
	}
	if alike {
		return x, nil
	}
	values := make([]table.Value, n)
	for i := range values {
		if values[i], err = at(i); err != nil {
			return x, err
		}
	}
	rankValues(values, x.Ints)
	return x, nil
}

// rankValues writes the ranks of values among themselves.
func rankValues(values []table.Value, ranks []int64) {
	order := make([]int, 0, len(values))
	for i, v := range values {
		if !v.Null {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return table.Compare(values[a], values[b]) })
	rank := int64(0)
	for i, at := range order {
		if i > 0 && table.Compare(values[order[i-1]], values[at]) != 0 {
			rank++
		}
		ranks[at] = rank
	}
}

// Bits are those of the columns of codes that the key gives.
func (k *Coded) Bits() []int {
	switch {
	case k.long:
		return []int{1, 64, 64}
	case !k.nulls:
		return []int{radixsort.Width(k.most)}
	case k.most < math.MaxUint64:
		return []int{radixsort.Width(k.most + 1)}
	}
	return []int{1, 64}
}

// Arrange is codes as the key wants them ordered, NULLs included: one column, or two where
// there is no code left for NULL. It changes the codes.
func (k *Coded) Arrange(codes []uint64, valid []byte) [][]uint64 {
	if k.Desc {
		for i, c := range codes {
			codes[i] = k.most - c
		}
	}
	if !k.nulls {
		return [][]uint64{codes}
	}
	out, null, more := [][]uint64{codes}, k.most+1, uint64(0)
	if k.most == math.MaxUint64 {
		out, null = [][]uint64{make([]uint64, len(codes)), codes}, 1
	}
	if k.NullsFirst {
		null, more = 0, 1
	}
	for i := range codes {
		if valid == nil || bitutil.BitIsSet(valid, i) {
			out[0][i] += more
		} else {
			codes[i], out[0][i] = 0, null
		}
	}
	return out
}

// Ranks are those of texts among all of the lists; equal ones have one.
func Ranks(lists [][]string) [][]uint64 {
	rank := map[string]uint64{}
	var distinct []string
	for _, list := range lists {
		for _, text := range list {
			if _, seen := rank[text]; !seen {
				rank[text] = 0
				distinct = append(distinct, text)
			}
		}
	}
	slices.Sort(distinct)
	for i, text := range distinct {
		rank[text] = uint64(i)
	}
	out := make([][]uint64, len(lists))
	for i, list := range lists {
		out[i] = make([]uint64, len(list))
		for j, text := range list {
			out[i][j] = rank[text]
		}
	}
	return out
}

// Piece is the keys of some rows.
type Piece struct {
	Worker  int
	Rows    int
	Columns [][]uint64    // what the sorter takes; nil where a key is ranked
	Ranked  []expr.Vector // of each key that is ranked
}
