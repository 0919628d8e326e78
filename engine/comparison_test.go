package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// layouts are the widths in bits at which classic stores codes differently. There are integers in 24
// bits of depth, floats, two limbs and three.
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

// Comparisons and ranges around each power of two count on every backend what they count on cpu. Codes
// have each of the layouts that classic uses, with NULLs. Each operator takes one in nine of them in
// its turn, since the programs alone take seconds to compile.
func TestComparisonsAroundPowersOfTwoAreExact(t *testing.T) {
	built, err := boundaryTable(1000)
	if err != nil {
		t.Fatal(err)
	}
	dbs := map[string]*DB{}
	for _, name := range Backends()[1:] {
		dbs[name] = open(t, Options{Backend: name})
		if err := dbs[name].Add(built); err != nil {
			t.Fatal(err)
		}
	}
	for i, bits := range layouts {
		for j, where := range boundaryPredicates(built.Fields[i].Name, boundaries(bits)) {
			if j%9 != 0 {
				continue
			}
			text := "SELECT COUNT(*) FROM boundaries WHERE " + where
			want := inWords(Collect(dbs["cpu"].Query(context.Background(), text)))
			for name, db := range dbs {
				if got := inWords(Collect(db.Query(context.Background(), text))); got != want {
					t.Errorf("%s: %s: %s, cpu has %s", name, text, got, want)
				}
			}
		}
	}
}

func TestBoundaries(t *testing.T) {
	for _, bits := range layouts {
		list := boundaries(bits)
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%d bits: not ascending: %v", bits, list)
		}
	}
	b := boundaries(24)
	for _, want := range []int64{0, 1, 2, 3, 1<<22 - 1, 1 << 22, 1<<22 + 1, 1<<23 + 1, 1<<24 - 2, 1<<24 - 1} {
		if !slices.Contains(b, want) {
			t.Errorf("no %d among %v", want, b)
		}
	}
	b = boundaries(64)
	for _, want := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64} {
		if !slices.Contains(b, want) {
			t.Errorf("no %d among %v", want, b)
		}
	}
	built, err := boundaryTable(2000)
	if err != nil {
		t.Fatal(err)
	}
	for i, bits := range layouts {
		s := built.Chunks[0].Segments[i]
		if s.Bits != bits || s.Nulls == 0 {
			t.Errorf("column %s has %d bits and %d NULLs", built.Fields[i].Name, s.Bits, s.Nulls)
		}
	}
}
