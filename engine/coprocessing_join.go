package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// joinedTogether is joinedBy on backend both: compute joins some windows of a table to all rows of the other tables, and cpu the other
// windows, at the same time (GDB, section 5: EXEC_COP). The table is the largest of those whose rows are joined each by itself. It is nil
// where none is divided, where a side cannot do its part, or a row of it has an error: cpu joins all then.
func (s *planned) joinedTogether(ctx context.Context, p *pairing) (joined *planned, done func(), err error) {
	of, err := s.joining()
	scan := -1
	for _, i := range plan.Apart(s.fragment.Join) {
		if scan < 0 || of.Tables[i].Rows() > of.Tables[scan].Rows() {
			scan = i
		}
	}
	if err != nil || scan < 0 || s.watch != nil || plan.Wanted(s.tree) > 0 {
		return nil, nil, err
	}
	p.memory = of.Memory
	d, err := s.db.openDevice(ctx, &p.opening)
	if err != nil { // which the statement says when it comes to the device
		return nil, nil, nil
	}
	whole := d.inPieces(of.Tables[scan])
	if len(whole.Chunks) < 2 {
		return nil, nil, nil
	}
	of.Columns, of.Above = s.fragment.Reads(), plan.Conjuncts(s.fragment.Where)
	of.Tables[scan] = whole
	seen, gave := s.gave(plan.Scans(s.fragment.Join)[scan])
	of.Gave = gave
	all, t, alone, err := s.asked(ctx, d, of)
	if again(ctx, err) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	if t != nil {
		return s.over(t, slices.Concat(p.plan.steps(), p.steps(alone)), "cpu", seen)
	}
	n := len(whole.Chunks)
	part := func(side int) func(k int) float64 {
		return func(k int) float64 { return all[side] * float64(k) / float64(n) }
	}
	known := !math.IsInf(all[onDevices], 1) && !math.IsInf(all[onHost], 1) // costs may say nothing of joins
	k := d.balanced(n, known, part(onDevices), part(onHost))
	clear(seen)
	var parts [2]*table.Table
	var steps [2][]cpu.JoinStep
	var times [2]time.Duration
	sides, inner := errgroup.WithContext(ctx)
	for side, chunks := range [2][]*table.Chunk{onDevices: whole.Chunks[:k], onHost: whole.Chunks[k:]} {
		sides.Go(func() (err error) {
			part, of := *whole, of
			part.Chunks = chunks
			of.Tables = slices.Clone(of.Tables)
			of.Tables[scan] = &part
			if side == onDevices {
				of.Pairs, of.Declined = p.find, p.declined
			}
			start := time.Now()
			parts[side], steps[side], _, err = s.db.cpu.(cpuBackend).Join(inner, s.fragment.Join, of)
			times[side] = time.Since(start)
			return err
		})
	}
	if err := sides.Wait(); again(ctx, err) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	t = parts[0]
	t.Chunks = slices.Concat(parts[0].Chunks, parts[1].Chunks)
	said := func(by string, k, side int) string {
		text := fmt.Sprintf("%s %d in %s", by, k, inMS(times[side].Seconds()))
		if known {
			text += fmt.Sprintf(" (%s predicted)", inMS(part(side)(k)))
		}
		return text
	}
	divided := Step{Pass: "Divide(" + whole.Name + ")", Counts: fmt.Sprintf("windows %d: %s, %s", n, said("compute", k, onDevices), said("cpu", n-k, onHost))}
	return s.over(t, slices.Concat(p.plan.steps(), []Step{divided}, p.steps(steps[onDevices]), (*pairing)(nil).steps(steps[onHost])), "compute and cpu", seen)
}

// errAsked ends a join when it asks for pairs.
var errAsked = errors.New("engine: a join asked for its pairs")

// asked is what compute and cpu are predicted to take for the first join that compute is asked for, in seconds. Where it is asked for none, cpu
// has joined all.
func (s *planned) asked(ctx context.Context, d *gpus, of cpu.Joining) (takes [2]float64, t *table.Table, steps []cpu.JoinStep, err error) {
	known, err := s.db.costs.get()
	if err != nil {
		return takes, nil, nil, err
	}
	device, host := known.Profile.Backends["compute"], known.Profile.Backends["cpu"]
	of.Pairs = func(_ context.Context, q *plan.PairQuery) (plan.Pairs, string, error) {
		w, at, p := cost.OfPairs(q), d.contents(), cost.Prediction{}
		device.Lack(&p, w, func(c cost.Column) bool { return at.has("compute", c) })
		takes = [2]float64{onDevices: device.Run(w) + p.Transfer, onHost: host.Run(w)}
		return plan.Pairs{}, "", errAsked
	}
	t, steps, _, err = s.db.cpu.(cpuBackend).Join(ctx, s.fragment.Join, of)
	if errors.Is(err, errAsked) {
		return takes, nil, nil, nil
	}
	return takes, t, steps, err
}

// inPieces is a table whose chunks are its windows, the same each time, so that what compute has of them stays resident.
func (s *gpus) inPieces(t *table.Table) *table.Table {
	if pieces, ok := s.pieces.Get(t); ok {
		return pieces
	}
	pieces, rows := *t, s.windowRows(t)
	pieces.Chunks = nil
	for _, c := range t.Chunks {
		pieces.Chunks = append(pieces.Chunks, c.Windows(rows)...)
	}
	s.pieces.Add(t, &pieces)
	return &pieces
}
