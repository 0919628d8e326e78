package cpu

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Assign evaluates expressions for the records of a chunk that a predicate selects, and writes their codes to segments. The expressions
// are integers, or types that are stored as integers. None is NULL, and its codes fit its segment. The segment may have the codes of the
// same column in the chunk. The first error of a record ends it. It leaves some cores to other statements.
func Assign(p *predicate.Pred, c *table.Chunk, of []expr.Expr, to []*table.Segment) error {
	nd, err := prepare(p, c, kernels.Best())
	if err != nil {
		return err
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers parallel.Group
	for range max(1, runtime.GOMAXPROCS(0)*3/4) {
		workers.Go(func() {
			s := takeScratch()
			defer s.release()
			var eval vector.Evaluator
			values, rows := make([]expr.Vector, len(of)), make([]uint32, 0, vector.BlockRows)
			for failed.Load() == nil {
				row := int(next.Add(vector.BlockRows)) - vector.BlockRows
				if row >= c.Rows {
					return
				}
				marks := nd.all(s, row, min(vector.BlockRows, c.Rows-row))
				rows = rows[:0]
				for w, m := range marks {
					for ; m != 0; m &= m - 1 {
						rows = append(rows, uint32(row+64*w+bits.TrailingZeros64(m)))
					}
				}
				if s.put(marks); len(rows) == 0 {
					continue
				}
				for i, e := range of { // all of a block before some is written
					var err error
					if values[i], err = eval.Vector(e, c, table.Block{Rows: rows}); err != nil {
						failed.Store(&err)
						return
					}
				}
				for i, seg := range to {
					seg.Codes.SetOrdinals(rows, values[i].Ints, seg.Base)
				}
				runtime.Gosched()
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
