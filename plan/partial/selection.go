package partial

import (
	"math/big"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Partial is what aggregates need to know of selected records. One goroutine at a time
// calls its methods. Columns are field indexes.
type Partial interface {
	// Check returns the *CheckError of the first check that selects a record. It is
	// called before the other methods.
	Check() error
	// Count returns the number of selected records.
	Count() (uint64, error)
	// CountNotNull returns how many of them have a value of a column.
	CountNotNull(col int) (uint64, error)
	// Sum returns the exact sum of a column; that of an expression: see [ExpressionSums].
	Sum(col int) (Sum, error)
	// Kth returns the k-th largest or smallest of the n values that CountNotNull
	// has told; 1 <= k <= n. A part (see Query.Part) is asked for what is its MIN or
	// MAX only.
	Kth(col int, k uint64, largest bool) (table.Value, error)
}

// Selection is the selected records of all chunks on one device. It is made for a query
// and may compute beforehand what the query's aggregates will ask. The selections of parts
// of a query look for an order statistic together.
type Selection interface {
	Partial
	// CountAtLeast counts the values of a column at or above each of a digit's thresholds. The first digit of
	// a search is the highest, and each further digit follows the one before. No digit has bits both below
	// and above bit 32.
	CountAtLeast(col int, s *physical.CodeSpace, d Digit) ([]uint64, error)
	// DigitBits is the most bits that a digit may have when that many values of the whole query may still be
	// the wanted one.
	DigitBits(left uint64) int
	// VisitBits is the most bits of a digit whose N is 0, and which is decided by itself. Deciding more bits
	// than that costs more than another pass over the records.
	VisitBits() int
}

// Sum is the exact sum of N values: an unscaled integer, or Float for REAL and DOUBLE.
type Sum struct {
	N     uint64
	Int   big.Int
	Float FloatSum
}

// Add adds another sum.
func (s *Sum) Add(o *Sum) {
	s.N += o.N
	s.Int.Add(&s.Int, &o.Int)
	s.Float.Merge(&o.Float)
}

// AddCodes adds n values of a segment of integers whose codes have that sum: each adds
// what code 0 stands for (frame of reference).
func (s *Sum) AddCodes(seg *table.Segment, sum *big.Int, n uint64) {
	base := big.NewInt(table.IntFromOrdinal(seg.Base))
	s.N += n
	s.Int.Add(&s.Int, sum)
	s.Int.Add(&s.Int, base.Mul(base, new(big.Int).SetUint64(n)))
}

// ExpressionSums is a [Partial] that adds up expressions, those of [physical.ChunkPlan.Sums].
type ExpressionSums interface {
	Partial
	// SumOf returns the exact sum of what an aggregate of the query is of, and of how many values.
	SumOf(agg int) (Sum, error)
}
