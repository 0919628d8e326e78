package gpujoin

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// Assignment says which backend runs each operator of a statement that joins tables. First come the joins, then what is done with the rows
// of the last one. A join comes after those whose rows it takes; those of a group of inner joins are in their expected order. This plan
// comes first, then the modes (GDB, section 5).
type Assignment struct {
	of     []operator
	modes  []cost.Mode
	Takes  float64           // in these, in seconds
	Source string            // of the costs
	Gains  []backends.Column // what operators lack on the device that would be the device's if it had that
}

// operator is one of a statement's.
type operator struct {
	cost.Operator
	name  string
	scans []int   // of a join those whose rows it joins, ascending; else nil
	rows  float64 // that are expected of it

	charge  float64           // the part of Takes on the device that is for columns which it lacks
	missing []backends.Column // these
}

// NewAssignment assigns the operators of a fragment with joins by the rows that are expected of them. way is the join algorithm that is asked for. only
// says that nothing but aggregates and groups are asked of the fragment's rows.
func NewAssignment(v backends.View, f *plan.Fragment, way string, only bool, e *stats.Estimates) (*Assignment, error) {
	known, err := v.Costs.Get()
	if err != nil {
		return nil, err
	}
	x := &assigning{Estimates: e, view: v, way: way, host: known.Profile.Backends["cpu"], gpu: known.Profile.Backends["compute"], opening: known.Profile.Opening}
	placed, fields := f.Join.OverScans()
	rows := x.node(f.Join, placed)
	joins := len(x.of)
	last := &x.of[joins-1]
	w := cost.OfRows(f, whole(last.rows), func(col int) (*table.Table, int) { return e.Column(rows.node, slices.Index(rows.columns, fields[col])) })
	var up cost.Prediction
	x.gpu.Lack(&up, w, func(cost.Column) bool { return false })
	both := v.Backend == "both"
	last.Up, last.Stays = up.Transfer, last.Stays && !both && only // else they are gathered in host memory
	top := operator{name: f.Tree.String(), rows: e.Rows(f.Tree)}
	switch {
	case f.Groups != nil:
		n := f.Groups.With(f.Tree)
		top.name, top.rows = n.String(), e.Rows(n)
	case f.Order != nil:
		top.name = f.Order.String()
	case len(f.Aggs) == 0:
		top.name = "Rows"
	}
	top.Inputs, top.Takes = []int{joins - 1}, [...]float64{cost.OnCPU: x.host.Run(w), cost.OnDevice: x.gpu.Run(w), cost.OnBoth: math.Inf(1)}
	out := &Assignment{of: append(x.of, top), Source: known.Source}
	if d, _, _ := v.Now(); both && d != nil && !d.Key.Software { // whose cores are cpu's
		o := &out.of[joins].Operator
		o.Takes[cost.OnBoth] = (1 + backends.InTurn) / (1/o.Takes[cost.OnCPU] + 1/(o.Takes[cost.OnDevice]+up.Transfer))
	}
	out.choose(v)
	out.findGains()
	return out, nil
}

// findGains notes what operators lack that the modes leave to cpu for that alone.
func (a *Assignment) findGains() {
	var list []cost.Operator
	for _, o := range a.of {
		o.Takes[cost.OnDevice] -= o.charge
		list = append(list, o.Operator)
	}
	modes, _ := cost.Assign(list)
	for i, o := range a.of {
		if modes[i] != cost.OnDevice || a.modes[i] != cost.OnCPU {
			continue
		}
		for _, c := range o.missing {
			if !slices.Contains(a.Gains, c) {
				a.Gains = append(a.Gains, c)
			}
		}
	}
}

// whole is an estimate as a number of rows, of which there are no more than numbers for them.
func whole(rows float64) int { return int(math.Round(min(rows, math.MaxUint32))) }

// choose finds the modes.
func (a *Assignment) choose(v backends.View) {
	var list []cost.Operator
	for _, o := range a.of {
		list = append(list, o.Operator)
	}
	a.modes, a.Takes = cost.Assign(list)
	if _, ok := v.Told(0); ok && v.Backend == "both" {
		for i := range a.modes {
			a.modes[i], _ = v.Told(i)
		}
		a.modes[len(a.modes)-1], _ = v.Told(math.MaxInt)
		a.Takes = cost.Takes(list, a.modes)
	}
}

// assigning finds the operators of a fragment's plan.
type assigning struct {
	*stats.Estimates
	view      backends.View
	way       string
	host, gpu cost.Backend
	opening   float64 // what opening the device takes, in seconds
	of        []operator
	scan      int // the next one
	width     int // the columns of those before it
}

// joinedPart is rows of some scans side by side, with their columns as an estimate knows them and as the conditions of all joins do.
type joinedPart struct {
	node    plan.Node
	columns []int // of the node, by their numbers among those of all scans
	scans   []int
	left    int   // how many of these a join's left side has
	by      []int // the operator that they are of; none for those of a table
}

// within is a condition over the columns of all scans as one over those of the part.
func (p *joinedPart) within(e expr.Expr) expr.Expr {
	return expr.Moved(e, func(c int) int { return slices.Index(p.columns, c) })
}

// node finds the operators of a node, whose conditions are those of placed: see [plan.Join.OverScans].
func (x *assigning) node(n, placed plan.Node) joinedPart {
	switch n := n.(type) {
	case *plan.Filter:
		if _, alone := n.Input.(*plan.Scan); alone {
			break
		}
		of := placed.(*plan.Filter)
		in := x.node(n.Input, of.Input)
		in.node = &plan.Filter{Input: in.node, Where: in.within(of.Where)}
		return in
	case *plan.Join:
		of := placed.(*plan.Join)
		if n.Kind == plan.Inner {
			var conditions []expr.Expr
			return x.inner(x.group(n, of, &conditions), conditions)
		}
		left := x.node(n.Left, of.Left)
		out := joinOf(n.Kind, left, x.node(n.Right, of.Right), plan.Conjuncts(of.On))
		x.add(&out)
		return out
	}
	out := joinedPart{node: n, scans: []int{x.scan}}
	for range n.Fields() {
		out.columns = append(out.columns, x.width)
		x.width++
	}
	x.scan++
	return out
}

// group collects the inputs of inner joins that stand above one another, and their conditions.
func (x *assigning) group(n, placed plan.Node, conditions *[]expr.Expr) []joinedPart {
	if inner, ok := n.(*plan.Join); ok && inner.Kind == plan.Inner {
		of := placed.(*plan.Join)
		left := x.group(inner.Left, of.Left, conditions)
		right := x.group(inner.Right, of.Right, conditions)
		*conditions = append(*conditions, plan.Conjuncts(of.On)...)
		return append(left, right...)
	}
	return []joinedPart{x.node(n, placed)}
}

// inner joins inputs in the order in which they are expected to be joined. It begins with the two inputs after which the fewest rows are
// expected. Then it takes each time the input after which the fewest are. Inputs that have a key come first.
func (x *assigning) inner(inputs []joinedPart, conditions []expr.Expr) joinedPart {
	have := joinedPart{}
	for first := true; len(inputs) > 0; first = false {
		var best joinedPart
		var taken []int
		least, keyed := 0., false
		try := func(left joinedPart, of ...int) {
			out := joinOf(plan.Inner, left, inputs[of[len(of)-1]], conditions)
			has := false
			if n := out.node.(*plan.Join); n.On != nil {
				_, has = x.KeyColumns(n)
			}
			if keyed && !has {
				return
			}
			if rows := x.Rows(out.node); taken == nil || has && !keyed || rows < least {
				best, taken, least, keyed = out, of, rows, has
			}
		}
		for i := range inputs {
			for k := 0; first && k < i; k++ {
				try(inputs[k], k, i)
			}
			if !first {
				try(have, i)
			}
		}
		have = best
		x.add(&have)
		slices.Reverse(taken)
		for _, i := range taken {
			inputs = slices.Delete(inputs, i, i+1)
		}
	}
	return have
}

// joinOf joins two parts by conditions: inner ones by those that read both and no others.
func joinOf(kind plan.JoinKind, left, right joinedPart, conditions []expr.Expr) joinedPart {
	out := joinedPart{columns: slices.Concat(left.columns, right.columns), scans: slices.Concat(left.scans, right.scans), left: len(left.scans), by: slices.Concat(left.by, right.by)}
	var on []expr.Expr
	for _, e := range conditions {
		ofLeft, ofRight, all := 0, 0, expr.Columns(e)
		for _, c := range all {
			if slices.Contains(left.columns, c) {
				ofLeft++
			} else if slices.Contains(right.columns, c) {
				ofRight++
			}
		}
		if kind != plan.Inner || ofLeft > 0 && ofRight > 0 && ofLeft+ofRight == len(all) {
			on = append(on, out.within(e))
		}
	}
	out.node = &plan.Join{Kind: kind, Left: left.node, Right: right.node, On: plan.Conjunction(on)}
	return out
}

// add adds the join of a part as an operator.
func (x *assigning) add(p *joinedPart) {
	n := p.node.(*plan.Join)
	sides, keyed := x.KeyColumns(n)
	o := operator{name: n.String(), scans: slices.Sorted(slices.Values(p.scans)), rows: x.Rows(n)}
	var of [2]cost.Side
	for i, in := range n.Inputs() {
		of[i] = cost.Side{Rows: whole(x.Rows(in)), Table: sides[i].Table, Keys: sides[i].Columns}
	}
	pairs := whole(o.rows)
	if n.Kind.LeftOnly() {
		pairs = of[0].Rows
	}
	o.Inputs, o.Takes = p.by, [...]float64{cost.OnCPU: 0, cost.OnDevice: math.Inf(1), cost.OnBoth: math.Inf(1)} // nested loops have no costs
	if w := cost.OfJoin(of, pairs); keyed && x.way != "loops" {
		lacks, missing := x.view.Charged(&x.gpu, w, x.opening)
		o.charge, o.missing = lacks.Share, missing
		here, there := x.host.Run(w), x.gpu.Run(w)+lacks.Share
		if !math.IsInf(here, 1) || !math.IsInf(there, 1) {
			o.Takes = x.view.InModes(here, there)
			if of[0].Table == nil || of[1].Table == nil { // rows are dealt by columns
				o.Takes[cost.OnBoth] = math.Inf(1)
			}
		}
		if o.Stays = n.Kind == plan.Inner; o.Stays { // its pairs do not leave the device
			o.Takes[cost.OnDevice] = x.gpu.Run(w.Over([]int{0})) + lacks.Share
		}
	}
	lists := x.gpu.Upload.Time(4 * int64(pairs) * int64(len(p.scans)))
	o.Up, o.Down = lists, lists
	x.of = append(x.of, o)
	p.by = []int{len(x.of) - 1}
	if n.Kind.LeftOnly() { // its rows are those of the left side
		p.columns, p.scans = p.columns[:plan.Width(n.Left)], p.scans[:p.left]
	}
}

// from are the operators from a join on, with a new prediction of that join. It is that join alone where no operator has these scans.
func (a *Assignment) from(scans []int, now cost.Operator) []cost.Operator {
	at := a.at(scans)
	if at < 0 {
		return []cost.Operator{now}
	}
	now.Up, now.Down = a.of[at].Up, a.of[at].Down
	list := []cost.Operator{now}
	for _, o := range a.of[at+1:] {
		o := o.Operator
		var inputs []int
		for _, k := range o.Inputs {
			if k >= at {
				inputs = append(inputs, k-at)
			}
		}
		o.Inputs = inputs
		list = append(list, o)
	}
	return list
}

// at is the place of the join of some scans; negative where none is expected.
func (a *Assignment) at(scans []int) int {
	if a == nil {
		return -1
	}
	return slices.IndexFunc(a.of, func(o operator) bool { return o.scans != nil && slices.Equal(o.scans, scans) })
}

// Steps are the operators as lines of EXPLAIN.
func (a *Assignment) Steps() (list []backends.Step) {
	if a == nil {
		return nil
	}
	for i, o := range a.of {
		text := numbers.Count(int64(whole(o.rows)), "row", "rows") + " expected: " + backends.ModesText(&o.Operator)
		moving := 0.
		for _, k := range o.Inputs {
			moving += a.of[k].Moving(a.modes[k], a.modes[i])
		}
		if moving > 0 {
			text += ", its rows come in " + numbers.Milliseconds(moving)
		}
		list = append(list, backends.Step{Pass: fmt.Sprintf("Assign(%s to %v)", o.name, a.modes[i]), Counts: text})
	}
	return list
}
