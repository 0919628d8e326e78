package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stencildb/stencildb/table"
)

// layouts are the widths in bits at which classic stores codes differently: as
// integers in 24 bits of depth, as floats, in two limbs, in three.
var layouts = []int{22, 24, 48, 64}

// boundaries lists 0, the powers of two up to 2^bits and their neighbours as
// integers of bits bits, ascending. Those of 64 bits count from the smallest
// BIGINT, whose code is 0.
func boundaries(bits int) []int64 {
	codes := []uint64{0}
	for k := range bits {
		codes = append(codes, 1<<k-1, 1<<k, 1<<k+1)
	}
	last := ^uint64(0) >> (64 - bits)
	codes = append(codes, last-1, last)
	slices.Sort(codes)
	var list []int64
	for _, c := range slices.Compact(codes) {
		if bits == 64 {
			c ^= 1 << 63
		}
		list = append(list, int64(c))
	}
	return list
}

// boundaryTable has a column a layout, with each boundary in its turn at places
// that follow no line of a texture, and a tenth NULL.
func boundaryTable(rows int) (*table.Table, error) {
	var fields []table.Field
	for _, bits := range layouts {
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", bits), Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("boundaries", fields, 0)
	random := rand.New(rand.NewPCG(uint64(rows), 0))
	for i, bits := range layouts {
		values := boundaries(bits)
		for row := range rows {
			switch {
			case row < len(values): // each once, whatever the dice say
				b.Column(i).Int(values[row])
			case random.IntN(10) == 0:
				b.Column(i).Null()
			default:
				b.Column(i).Int(values[random.IntN(len(values))])
			}
		}
	}
	if err := b.EndRows(rows); err != nil {
		return nil, err
	}
	return b.Table(), nil
}

// boundaryPredicates compares a column with each constant by the six operators
// and as the start of a range.
func boundaryPredicates(column string, constants []int64) []string {
	list := []string{column + " IS NULL", column + " IS NOT NULL"}
	for i, c := range constants {
		for _, op := range []string{"<", "<=", "=", "<>", ">=", ">"} {
			list = append(list, fmt.Sprintf("%s %s %d", column, op, c))
		}
		end := constants[min(i+4, len(constants)-1)] // over the next power of two
		list = append(list, fmt.Sprintf("%s BETWEEN %d AND %d", column, c, end))
	}
	return list
}
