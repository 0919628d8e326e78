package engine

import (
	"context"
	"iter"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// maxSeries is the most values of a generate_series.
const maxSeries = 1 << 31

func tooLong(pos int) error {
	return expr.Coded(sqlstate.ProgramLimitExceeded, pos, "generate_series gives more than %s", numbers.Count(maxSeries, "row", "rows"))
}

// seriesValues are the values from start to stop, step apart: none where one of these is NULL. A step of zero is an error, and so is
// a series that is too long; pos is where the statement asks for it.
func seriesValues(start, stop, step table.Value, pos int) iter.Seq2[table.Value, error] {
	return func(yield func(table.Value, error) bool) {
		if start.Null || stop.Null || step.Null {
			return
		}
		way := table.Compare(step, table.Value{Type: step.Type})
		if way == 0 {
			yield(start, expr.Coded(sqlstate.InvalidParameterValue, pos, "step size cannot equal zero"))
			return
		}
		at, rows := start, 0
		for ; table.Compare(at, stop)*way <= 0 && rows < maxSeries; rows++ {
			if !yield(at, nil) {
				return
			}
			next, err := expr.Next(at, step)
			if err != nil { // behind the last value of the type
				return
			}
			at = next
		}
		if rows == maxSeries && table.Compare(at, stop)*way <= 0 {
			yield(at, tooLong(pos))
		}
	}
}

// series is the table of generate_series, or its rows spilled. A series of integers is refused before it is made if it is too long, or
// takes more memory than there is. The same holds beyond 16 times the host memory budget.
func (x *settling) series(ctx context.Context, n *plan.Series) (*table.Table, *spilled, error) {
	var ends [3]table.Value
	for i, e := range []expr.Expr{n.Start, n.Stop, n.Step} {
		v, err := expr.Eval(e, &expr.Env{})
		if err != nil {
			return nil, nil, err
		}
		ends[i] = v
	}
	start, stop, step := ends[0], ends[1], ends[2]
	budget, err := x.budget(ctx)
	if err != nil {
		return nil, nil, err
	}
	most := budget // bytes
	if x.mayLeave() {
		most *= 16
	}
	if exact := !start.Null && !stop.Null && !step.Null && stop.Type.Kind != table.Timestamp; exact && n.Limit < 0 && step.Unscaled().Sign() != 0 {
		span := new(big.Int).Sub(stop.Unscaled(), start.Unscaled())
		switch values := span.Quo(span, step.Unscaled()); {
		case values.Cmp(big.NewInt(maxSeries)) >= 0:
			return nil, nil, tooLong(n.Start.Pos())
		case values.Cmp(big.NewInt(most/8)) > 0: // of 64 bits while they are made
			return nil, nil, overBudget(aSubquery, budget)
		}
	}
	b := table.NewBuilder(x.name(), n.Fields(), x.db.chunkRows())
	var gone *spilled
	spill := func() error {
		if gone == nil {
			gone = x.leave(n.Fields(), []int{0})
		}
		err := gone.addTable(b.Table(), pieceOf(n.Fields(), budget))
		b = table.NewBuilder(x.name(), n.Fields(), x.db.chunkRows())
		return err
	}
	wanted, where := n.Limit, plan.Conjunction(n.Where)
	var at table.Value
	env := &expr.Env{Column: func(int) table.Value { return at }}
	rows := 0
	for v, err := range seriesValues(start, stop, step, n.Start.Pos()) {
		if wanted == 0 {
			break
		}
		if err == nil && rows%(1<<12) == 0 {
			err = ctx.Err()
			switch taken := int64(b.Bytes()); {
			case err != nil:
			case x.mayLeave() && taken > budget/2:
				err = spill()
			case taken > budget:
				err = overBudget(aSubquery, budget)
			}
		}
		if err == nil {
			at, err = stored(v, n.Field.Type)
		}
		if err != nil {
			return nil, nil, err
		}
		b.Column(0).Value(at)
		if err := b.EndRow(); err != nil {
			return nil, nil, err
		}
		switch holds, err := isTrue(where, env); {
		case err != nil: // which the rows raise when they are read
			wanted = 0
		case holds && wanted > 0:
			wanted--
		}
		rows++
	}
	if gone != nil {
		return nil, gone, spill()
	}
	return b.Table(), nil, nil
}

// seriesOfEach gives the values of each row's series, each before the rest of its row.
func (x *execution) seriesOfEach(n *plan.SeriesOfEach) stream {
	return func(yield func(batch, error) bool) {
		for b, err := range x.stream(n.Input) {
			if err != nil {
				yield(nil, err)
				return
			}
			var out valueRows
			for _, row := range valuesOf(b, n.Input.Fields()) {
				rest, ends := row[:len(row)-3], row[len(row)-3:]
				for v, err := range seriesValues(ends[0], ends[1], ends[2], n.Pos) {
					if err != nil {
						yield(nil, err)
						return
					}
					if out = append(out, append([]table.Value{v}, rest...)); len(out) == 1<<12 {
						if !yield(out, nil) {
							return
						}
						out = nil
					}
				}
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}
