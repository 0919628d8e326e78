package externalsort

import (
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine/spill"
)

// Runs sorts batches that are added: what does not fit a part of the budget becomes runs in the temporary file.
type Runs struct {
	*Merge
	budget int64
	list   [][]arrow.Array
	bytes  int64 // of the list, with what sorting it takes
	runs   [][]spill.Extent
}

// NewRuns sorts in so many bytes.
func NewRuns(m *Merge, budget int64) *Runs { return &Runs{Merge: m, budget: budget} }

// Add adds a batch, which is released then.
func (r *Runs) Add(rows []arrow.Array) error {
	r.list = append(r.list, rows)
	r.bytes += int64(40+9*len(r.keys)) * int64(rows[0].Len())
	for _, c := range rows {
		r.bytes += int64(c.Data().SizeInBytes())
	}
	if r.bytes > r.budget/8 {
		return r.flush()
	}
	return nil
}

func (r *Runs) flush() error {
	var run []spill.Extent
	for _, rows := range r.sorted(r.list) {
		e, err := r.File.WriteBatch(rows)
		if err != nil {
			return err
		}
		run = append(run, e)
	}
	r.list, r.bytes, r.runs = nil, 0, append(r.runs, run)
	return nil
}

// Sorted are all rows in their order, once the last batch has been added.
func (r *Runs) Sorted() (iter.Seq2[[]arrow.Array, error], error) {
	if r.runs != nil {
		err := r.flush()
		return r.All(r.runs), err
	}
	return func(yield func([]arrow.Array, error) bool) {
		for _, rows := range r.sorted(r.list) {
			if !yield(rows, nil) {
				return
			}
		}
	}, nil
}
