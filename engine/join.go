package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// joinWay is the algorithm of joins: see [cpu.JoinWays].
type joinWay struct{ atomic.Value }

func (w *joinWay) get() string {
	if way, ok := w.Load().(string); ok {
		return way
	}
	return cpu.JoinWays[0]
}

// join is the table of the rows that the statement's joins give, of snapshots of its sources.
func (s *planned) join(ctx context.Context, sources []*table.Table) (*table.Table, error) {
	of := cpu.Joining{Columns: s.fragment.Reads(), Way: s.db.joinWay.get(), ChunkRows: s.db.chunkRows()}
	for _, scan := range s.scans {
		for i, r := range s.sources {
			if r == scan {
				of.Tables = append(of.Tables, sources[i])
			}
		}
	}
	var err error
	if of.Memory, err = s.db.hostBudget(); err != nil {
		return nil, err
	}
	if of.Memory == 0 {
		of.Memory = glctx.FreeHostMemory()
	}
	t, steps, err := s.db.cpu.(cpuBackend).Join(ctx, s.fragment.Join, of)
	s.joined = steps
	return t, err
}

// joinSteps are what joins did, one after the other.
func joinSteps(list []cpu.JoinStep) (steps []Step) {
	for i, s := range list {
		ms := 1e3 * s.Elapsed.Seconds()
		step := Step{Pass: s.Table, Counts: numbers.Count(int64(s.Out), "row", "rows"), MS: &ms}
		if i > 0 && s.On != "" {
			step.Pass = "Join(" + s.Table + ": " + s.On + ")"
			if s.Way != "" {
				step.Pass += " by " + s.Way
			}
			step.Counts = fmt.Sprintf("%s there, %s", numbers.Count(int64(s.In), "row", "rows"), step.Counts)
		}
		steps = append(steps, step)
	}
	return steps
}
