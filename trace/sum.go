package trace

import (
	"math/big"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// Sum is how a sum was put together from bits.
type Sum struct {
	Column string   `json:"column"`
	Chunk  int      `json:"chunk"`
	Host   bool     `json:"host"` // counted on the host: the program adds all bits up in one pass
	Bits   []SumBit `json:"bits"` // the lowest first
	Codes  string   `json:"codes"`
	Values int      `json:"values"`
	Base   string   `json:"base"` // the value of code 0
	Total  string   `json:"total"`

	col int
}

// SumBit is a bit's part of a sum.
type SumBit struct {
	Bit     int     `json:"bit"`
	Pass    int     `json:"pass"`
	Records uint64  `json:"records"`
	Adds    string  `json:"adds"` // records * 2^bit
	Share   float64 `json:"share"`
}

func (t *tracer) addBit(i int, l *look, col, bit int) {
	n := len(t.trace.Sums) - 1
	if n < 0 || t.trace.Sums[n].col != col || t.trace.Sums[n].Chunk != l.Chunk || t.trace.Sums[n].Bits[len(t.trace.Sums[n].Bits)-1].Bit >= bit {
		t.trace.Sums = append(t.trace.Sums, &Sum{Column: t.columnName(col), Chunk: l.Chunk, col: col})
		n++
	}
	t.trace.Sums[n].Bits = append(t.trace.Sums[n].Bits, SumBit{Bit: bit, Pass: i, Records: l.Samples})
	l.Sum = n
}

func (t *tracer) addSum(i int, l *look, col int) {
	for n, s := range t.trace.Sums {
		if s.col == col && s.Chunk == l.Chunk { // another window of the chunk
			l.Sum = n
			return
		}
	}
	s := &Sum{Column: t.columnName(col), Chunk: l.Chunk, Host: true, Bits: []SumBit{}, col: col}
	chunk := t.plan.Table.Chunks[l.Chunk]
	seg := chunk.Segments[col]
	counts := make([]uint64, bits.Len64(seg.Max))
	selected := t.selection(l.Chunk)
	for row := range chunk.Rows {
		if selected.Get(row) {
			for code := seg.Codes.At(row); code != 0; code &= code - 1 { // 0 for NULL
				counts[bits.TrailingZeros64(code)]++
			}
		}
	}
	for bit, n := range counts {
		s.Bits = append(s.Bits, SumBit{Bit: bit, Pass: i, Records: n})
	}
	t.trace.Sums = append(t.trace.Sums, s)
	l.Sum = len(t.trace.Sums) - 1
}

// finish adds the bits of a sum up, and the base of each value.
func (t *tracer) finish(s *Sum) {
	seg := t.plan.Table.Chunks[s.Chunk].Segments[s.col]
	codes := new(big.Int)
	adds := make([]*big.Int, len(s.Bits))
	for i, b := range s.Bits {
		adds[i] = new(big.Int).Lsh(new(big.Int).SetUint64(b.Records), uint(b.Bit))
		codes.Add(codes, adds[i])
	}
	for i, a := range adds {
		s.Bits[i].Adds = a.String()
		if codes.Sign() > 0 {
			s.Bits[i].Share, _ = new(big.Rat).SetFrac(a, codes).Float64()
		}
	}
	selected := t.selection(s.Chunk)
	for row := range seg.Rows() {
		if selected.Get(row) && !seg.IsNull(row) {
			s.Values++
		}
	}
	base := table.IntFromOrdinal(seg.Base)
	total := new(big.Int).Mul(big.NewInt(base), big.NewInt(int64(s.Values)))
	typ := table.Type{Kind: table.Decimal, Precision: 38, Scale: seg.Type.Scale}
	s.Codes, s.Base = table.Dec(typ, codes).String(), table.Dec(typ, big.NewInt(base)).String()
	s.Total = table.Dec(typ, total.Add(total, codes)).String()
}
