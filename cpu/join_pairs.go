package cpu

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// FindPairs finds the pairs of an inner join on a device, and says how; a [plan.Declined] leaves them to cpu.
type FindPairs func(context.Context, *plan.PairQuery) (found plan.Pairs, how string, err error)

// pairs is a join of two tables whose pairs a device finds: those of which two columns compare. The other
// conditions of an inner join are looked at afterwards. It is nil for a join that is none.
func (j *joiner) pairs(n *plan.Join, first int) (*relation, error) {
	left, where, ok := selectedScan(n.Left)
	right, of, too := selectedScan(n.Right)
	if j.Pairs == nil || j.Way == "perfect" || !ok || !too {
		return nil, nil
	}
	scans, filters := [2]int{j.next, j.next + 1}, [2]expr.Expr{where, of}
	conditions := plan.Conjuncts(n.On)
	for i, e := range conditions {
		conditions[i] = moved(e, first)
	}
	at := slices.IndexFunc(conditions, func(e expr.Expr) bool { return j.paired(e, scans, expr.EQ) })
	for op := expr.LT; at < 0 && op <= expr.GT && j.Way == "loops"; op++ {
		at = slices.IndexFunc(conditions, func(e expr.Expr) bool { return j.paired(e, scans, op) })
	}
	if at < 0 {
		return nil, nil
	}
	on := conditions[at].(*expr.Compare)
	rest := slices.Delete(conditions, at, at+1)
	if n.Kind != plan.Inner && len(rest) > 0 {
		return nil, nil
	}
	q := &plan.PairQuery{Cmp: on.Op, Way: j.Way, Columns: [2]int{on.L.(*expr.Column).Index, on.R.(*expr.Column).Index}}
	if q.Way == "auto" {
		q.Way = "hash"
	}
	if j.scanOf(q.Columns[0]) == scans[1] {
		q.Columns[0], q.Columns[1] = q.Columns[1], q.Columns[0]
		q.Cmp = on.Op.Swap()
	}
	rel := &relation{scans: scans[:], ids: make([][]uint32, 2)}
	for i, n := range [2]*plan.Scan{left, right} {
		s := j.scans[scans[i]]
		q.Columns[i] -= s.first
		value := expr.Expr(&expr.IsNull{X: &expr.Column{Index: q.Columns[i], Name: n.Columns[q.Columns[i]].Name, T: n.Columns[q.Columns[i]].Type, P: -1}, Not: true, P: -1})
		if filters[i] != nil {
			value = &expr.And{Kids: []expr.Expr{filters[i], value}, P: -1}
		}
		var err error
		if q.Sides[i], err = plan.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: value}); err != nil {
			return nil, err
		}
		if s.rows() >= noRow {
			return nil, nil
		}
		rel.base = max(rel.base, s.Rows())
	}
	rel.name = j.scans[scans[0]].name + ", " + j.scans[scans[1]].name
	rowBytes := j.rowBytes(rel.scans)
	most := uint64(noRow - 1)
	if rowBytes > 0 {
		most = min(most, uint64(j.Memory)/uint64(rowBytes))
	}
	wanted := len(j.Columns) > 0 || len(rest) > 0 || n != j.root || n.Kind != plan.Inner
	if wanted {
		q.Most = most
	}
	start := time.Now()
	found, how, err := j.Pairs(j.ctx, q)
	switch {
	case errors.As(err, new(*plan.Declined)):
		return nil, nil
	case err != nil:
		return nil, err
	case found.N > most:
		return nil, j.tooLarge(float64(found.N), rowBytes, true)
	case wanted && found.N > 0 && found.Rows[0] == nil: // more than a device has room for
		return nil, nil
	}
	rel.rows, rel.ids = int(found.N), found.Rows[:]
	if found.N == 0 {
		rel.ids = [][]uint32{{}, {}}
	}
	if n.Kind != plan.Inner {
		how = n.Kind.String() + " join " + how
		if err := j.alone(rel, filters, [2]bool{n.Kind.KeepsLeft(), n.Kind.KeepsRight()}); err != nil {
			return nil, err
		}
		if uint64(rel.rows) > most {
			return nil, j.tooLarge(float64(rel.rows), rowBytes, true)
		}
	}
	j.next += 2
	j.steps = append(j.steps,
		JoinStep{Table: selectedName(j.scans[scans[0]].name, where), Out: found.Selected[0]},
		JoinStep{Table: selectedName(j.scans[scans[1]].name, of), On: on.String(), Way: how, In: found.Selected[1], Out: rel.rows, Elapsed: time.Since(start)})
	if len(rest) > 0 {
		return j.pipeline(rel, nil, rest)
	}
	return rel, nil
}

// alone adds the selected rows of a side that is kept which are in no pair.
func (j *joiner) alone(rel *relation, filters [2]expr.Expr, kept [2]bool) error {
	rel.loose = map[int]bool{}
	pairs := rel.rows
	for i, scan := range rel.scans {
		if !kept[i] {
			continue
		}
		in := table.NewBitmap(j.scans[scan].rows())
		for _, row := range rel.ids[i][:pairs] {
			in.Set(int(row))
		}
		selected, err := j.selected(scan, filters[i])
		if err != nil {
			return err
		}
		for k := range selected.rows {
			row := uint32(k)
			if list := selected.ids[0]; list != nil {
				row = list[k]
			}
			if !in.Get(int(row)) {
				rel.ids[i], rel.ids[1-i] = append(rel.ids[i], row), append(rel.ids[1-i], noRow)
			}
		}
		rel.loose[rel.scans[1-i]] = true
	}
	rel.rows = len(rel.ids[0])
	return nil
}

// paired reports whether a condition compares two columns by an operator, one of each scan, whose codes
// compare as they do.
func (j *joiner) paired(e expr.Expr, scans [2]int, op expr.CmpOp) bool {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != op {
		return false
	}
	l, ok := c.L.(*expr.Column)
	r, too := c.R.(*expr.Column)
	if !ok || !too {
		return false
	}
	if how := newJoinKey(l, r, e).how; how != byOrdinal && how != byRank {
		return false
	}
	of := [2]int{j.scanOf(l.Index), j.scanOf(r.Index)}
	return of == scans || of == [2]int{scans[1], scans[0]}
}

// selectedScan is a node as a scan and what selects of its rows.
func selectedScan(n plan.Node) (s *plan.Scan, where expr.Expr, ok bool) {
	if f, is := n.(*plan.Filter); is {
		n, where = f.Input, f.Where
	}
	s, ok = n.(*plan.Scan)
	return s, where, ok
}
