package wisconsin

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// The ways of package bench, which may import the engine: the same query as SQL on columns.
const (
	SQLCompute     = "sql-compute"
	SQLComputeCold = "sql-compute-cold" // with the upload of the columns
	SQLCPU         = "sql-cpu"
)

// Question is what a case asks in SQL. Table t1 has so many tuples and the seed; t2 has the second number of tuples and the next
// seed.
type Question struct {
	SQL           string
	First, Second int
	Seed          uint64

	of     *caseQuery
	width  int // words of a tuple of the answer; 0 for a number
	column int // the word of each that is compared
}

// Compare is an error where numbers are not those of the first column of the answer, in any order.
func (q *Question) Compare(first []float64) error {
	if q.width == 0 {
		if len(first) != 1 {
			return fmt.Errorf("%d rows in the place of one number", len(first))
		}
		got, err := words(first[0], nil)
		if err != nil {
			return err
		}
		return q.of.compare(got)
	}
	var want []float64
	for i := q.column; i < len(q.of.want); i += q.width {
		want = append(want, float64(int32(q.of.want[i])))
	}
	got := slices.Clone(first)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		return fmt.Errorf("%d rows, which are not the %d of the answer", len(got), len(want))
	}
	return nil
}

// Nothing is what the answer is where it is NULL: the maximum of nothing.
func (q *Question) Nothing() float64 { return math.MinInt32 }

// Digest is that of the right answer.
func (q *Question) Digest() lab.Digest { return lab.Ordered(q.of.want) }
