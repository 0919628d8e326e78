package trace

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
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
	Base   string   `json:"base"` // the value of code 0, the frame of reference
	// Bases is Base times Values. Line has places on a number line from 0 to 1: first that of 0, then that of
	// Bases, then what each bit adds.
	Bases string    `json:"bases"`
	Line  []float64 `json:"line"`
	Total string    `json:"total"`

	col int
}

// SumBit is a bit's part of a sum.
type SumBit struct {
	Bit     int     `json:"bit"`
	Pass    int     `json:"pass"`
	Records uint64  `json:"records"`
	Adds    string  `json:"adds"` // records * 2^bit
	Share   float64 `json:"share"`
	SoFar   string  `json:"soFar"` // what the base of all values and the bits up to this one make
	Words   string  `json:"words"`
}

// sums finds what the passes have added up. They do so bit by bit, or all bits of a chunk in one pass, or in
// one for each of its windows.
func (t *tracer) sums() {
	for i, l := range t.looks {
		switch op := l.pass.Op.(type) {
		case pass.TestBit:
			s := t.sum(l, op.Col, func(s *Sum) bool { return s.Bits[len(s.Bits)-1].Bit < op.Bit })
			s.Bits = append(s.Bits, SumBit{Bit: op.Bit, Pass: i, Records: l.Samples})
		case fused.Sum:
			t.hostSum(i, l, op.Col)
		case compute.Accumulate:
			t.hostSum(i, l, op.Col)
		}
	}
	for _, s := range t.trace.Sums {
		t.finish(s)
	}
}

// sum returns the sum of a column over a pass's chunk that the pass goes on with, or a
// new one.
func (t *tracer) sum(l *look, col int, goesOn func(*Sum) bool) *Sum {
	l.Sum = slices.IndexFunc(t.trace.Sums, func(s *Sum) bool { return s.col == col && s.Chunk == l.Chunk && goesOn(s) })
	if l.Sum < 0 {
		l.Sum = len(t.trace.Sums)
		t.trace.Sums = append(t.trace.Sums, &Sum{Column: t.columnName(col), Chunk: l.Chunk, Bits: []SumBit{}, col: col})
	}
	return t.trace.Sums[l.Sum]
}

// hostSum counts the bits of the selected codes on the host.
func (t *tracer) hostSum(i int, l *look, col int) {
	s := t.sum(l, col, func(*Sum) bool { return true })
	if s.Host {
		return
	}
	s.Host = true
	seg, selected := t.segment(l, col), t.selection(l.Chunk)
	for bit := range bits.Len64(seg.Max) {
		s.Bits = append(s.Bits, SumBit{Bit: bit, Pass: i})
	}
	for row := range seg.Rows() {
		if selected.Get(row) {
			for code := seg.Codes.At(row); code != 0; code &= code - 1 { // 0 for NULL
				s.Bits[bits.TrailingZeros64(code)].Records++
			}
		}
	}
}

// finish adds the bits of a sum up, and the base of each value.
func (t *tracer) finish(s *Sum) {
	seg, selected := t.plan.Table.Chunks[s.Chunk].Segments[s.col], t.selection(s.Chunk)
	adds := func(b SumBit) *big.Int { return new(big.Int).Lsh(new(big.Int).SetUint64(b.Records), uint(b.Bit)) }
	codes := new(big.Int)
	for _, b := range s.Bits {
		codes.Add(codes, adds(b))
	}
	for i, b := range s.Bits {
		s.Bits[i].Adds = adds(b).String()
		if codes.Sign() > 0 {
			s.Bits[i].Share, _ = new(big.Rat).SetFrac(adds(b), codes).Float64()
		}
	}
	for row := range seg.Rows() {
		if selected.Get(row) && !seg.IsNull(row) {
			s.Values++
		}
	}
	base := big.NewInt(table.IntFromOrdinal(seg.Base))
	sofar := new(big.Int).Mul(base, big.NewInt(int64(s.Values)))
	typ := table.Type{Kind: table.Decimal, Precision: 38, Scale: seg.Type.Scale}
	text := func(n *big.Int) string { return table.Dec(typ, n).String() }
	s.Codes, s.Base, s.Bases = text(codes), text(base), text(sofar)
	places := []*big.Int{new(big.Int), new(big.Int).Set(sofar)}
	for i, b := range s.Bits {
		sofar.Add(sofar, adds(b))
		places = append(places, new(big.Int).Set(sofar))
		s.Bits[i].SoFar = text(sofar)
		s.Bits[i].Words = fmt.Sprintf("%s of %s bit %d: they add %s × 2^%d = %s; with %s × %s for the frame of reference the sum so far is %s",
			numbers.Grouped(b.Records), numbers.Count(s.Values, "selected value has", "selected values have"), b.Bit,
			numbers.Grouped(b.Records), b.Bit, grouped(text(adds(b))), numbers.Grouped(s.Values), grouped(s.Base), grouped(s.Bits[i].SoFar))
	}
	s.Total, s.Line = text(sofar), line(places)
}

// grouped groups the digits of a number before its point.
func grouped(number string) string {
	whole, rest, point := strings.Cut(number, ".")
	if whole = numbers.GroupedText(whole); point {
		return whole + "." + rest
	}
	return whole
}

// line returns where numbers lie between the least and the greatest of them, 0 to 1.
func line(list []*big.Int) []float64 {
	least, greatest := slices.MinFunc(list, (*big.Int).Cmp), slices.MaxFunc(list, (*big.Int).Cmp)
	span := new(big.Int).Sub(greatest, least)
	out := make([]float64, len(list))
	for i, n := range list {
		if span.Sign() > 0 {
			out[i], _ = new(big.Rat).SetFrac(new(big.Int).Sub(n, least), span).Float64()
		}
	}
	return out
}
