package aggregates

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
)

// Chunk is the selection of one chunk on the graphics pipeline. Its counts are in flight; one
// that cannot be fails with the error that Err returns.
type Chunk interface {
	For(pass.Part) // says what the passes that follow serve
	Err() error
	// CountAll counts the records that satisfy a predicate, whether selected or not.
	CountAll(p *predicate.Pred) pass.Count
	// Count counts the selected records, CountNotNull those of them that have a value of a column.
	Count() pass.Count
	CountNotNull(col int) pass.Count
}

// Chunks are the selections of all chunks of a query: what each way to draw them has in
// common.
type Chunks[C Chunk] struct {
	*physical.Query
	List []C
}

// Serve says which aggregates the passes that follow serve.
func (s *Chunks[C]) Serve(aggs []int) {
	for _, c := range s.List {
		c.For(pass.Part{Aggs: aggs})
	}
}

// Each starts a count of each chunk and waits when all are in flight.
func (s *Chunks[C]) Each(one func(chunk int, c C) pass.Count) ([]uint64, error) {
	flight := make([]pass.Count, len(s.List))
	for i, c := range s.List {
		flight[i] = one(i, c)
		if err := c.Err(); err != nil { // the other chunks draw nothing in vain
			return nil, err
		}
	}
	n := make([]uint64, len(flight))
	for i, c := range flight {
		var err error
		if n[i], err = c.Wait(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// total is the sum of what Each counts.
func (s *Chunks[C]) total(one func(chunk int, c C) pass.Count) (n uint64, err error) {
	list, err := s.Each(one)
	for _, k := range list {
		n += k
	}
	return n, err
}

// Count returns the number of selected records (the paper's COUNT).
func (s *Chunks[C]) Count() (uint64, error) {
	return s.total(func(_ int, c C) pass.Count { return c.Count() })
}

// CountNotNull returns the number of selected records where a column is not NULL.
func (s *Chunks[C]) CountNotNull(col int) (uint64, error) {
	return s.total(func(_ int, c C) pass.Count { return c.CountNotNull(col) })
}

// Check implements [partial.Selection].
func (s *Chunks[C]) Check() error {
	for i, q := range s.Query.Chunks {
		c := s.List[i]
		c.For(pass.Part{Check: true})
		defer c.For(pass.Part{})
		for j, k := range q.Checks {
			n, err := c.CountAll(k.Pred).Wait()
			if err != nil {
				return err
			}
			if n > 0 {
				return s.CheckFailed(i, j)
			}
		}
	}
	return nil
}
