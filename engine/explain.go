package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// ExplainOptions say what an explanation has.
type ExplainOptions struct {
	// Analyze executes the statement. It runs once for its uploads and programs, then pass by pass where the
	// backend can do that, then as a whole for the time. Without it nothing runs.
	Analyze bool
	// GLSL lists the programs of the passes.
	GLSL bool
	// Pipelines shows the physical plan instead, the pipelines that the planner makes. It goes with nothing else.
	Pipelines bool
	// Args are the values of the parameters $1, $2, ...
	Args []any
}

// Explanation is how a statement is answered. Its JSON is that of EXPLAIN (FORMAT JSON).
type Explanation struct {
	SQL  string    `json:"sql"` // the query, without EXPLAIN
	Plan *PlanNode `json:"plan,omitempty"`
	// Pipelines is the physical plan, where that was asked for; Plan is nil then.
	Pipelines *pipeline.Plan `json:"pipelines,omitempty"`
	Note      string         `json:"note,omitempty"` // what Pipelines does not tell
	*Executor `json:"-"`     // of the fragment; empty for a statement that reads no table
	// Subqueries are those of one value, which ran before it and are constants in Plan.
	Subqueries []*PlanNode `json:"subqueries,omitempty"`
	// Off are the rules that it was planned without.
	Off string `json:"disabled_rules,omitempty"`
	// Predictions is what each backend was predicted to take, the cheapest first, and
	// Costs where the predictions come from.
	Predictions []cost.Prediction `json:"predictions,omitempty"`
	Costs       string            `json:"-"`
	// Assignment is who is expected to run the operators of a statement that joins tables, where joins have not run; else nil.
	Assignment []Step `json:"assignment,omitempty"`
	// Stats is what the execution took and Rows how many rows it gave, for Analyze; else nil
	// and 0.
	Stats *Stats `json:"-"`
	Rows  int64  `json:"-"`
	// Changed is how many rows the statement changed, and ChangeTime what all of it took, for Analyze of one that changes tables.
	// Stats are those of the query that finds the rows.
	Changed    *int          `json:"changed_rows,omitempty"`
	ChangeTime time.Duration `json:"-"`
	// Resident is what was on the device after the execution; nil where none is open.
	Resident *Resident `json:"-"`

	assigned        float64       // what the operators are predicted to take together, in seconds
	first           time.Duration // what the first execution took
	prepared        Loading       // its uploads and programs besides, and the device
	otherwise       bool          // the backend selects the rows alone, where an aggregate is of an expression
	grouped, sorted bool          // it aggregates the rows by keys, too, or sorts them
	joined          string        // who has joined its rows; "" where nobody did
	unsettled       bool          // joins or subplans have not run, and who does the rest follows from their rows
	ran             *settling     // what its subplans took; nil where none ran
	estimates       *stats.Estimates
	pushed          func(plan.Node) plan.Node // what a subplan's tree is expected to become when it runs; nil for what it is
	rowCounts       *querystats.RowCounts     // of the parts of its fragment; nil without Analyze
	nodes           map[plan.Node]*PlanNode
	tree            plan.Node // that Plan shows
}

// PlanNode is a node of a plan.
type PlanNode struct {
	Node   string      `json:"node"`
	On     string      `json:"on,omitempty"` // who computes it, where that is not told by an Executor: cpu
	Inputs []*PlanNode `json:"inputs,omitempty"`
	// Expected is the estimate of its rows, and Rows how many it gave, for Analyze. Each is nil where it is not known.
	Expected *int `json:"expected_rows,omitempty"`
	Rows     *int `json:"rows,omitempty"`
	// Gave is how many rows it handed to the node above, Bytes what they took there, for Analyze. MS is how long it took with the nodes
	// below it. They are nil where another node does its work: a table is scanned where its rows are selected.
	Gave      *int     `json:"gave_rows,omitempty"`
	Bytes     *int64   `json:"gave_bytes,omitempty"`
	MS        *float64 `json:"ms,omitempty"`
	*Executor          // of the topmost node of a fragment; else nil

	apart bool // it ran by itself: the root of a subplan
}

// Executor says who does a fragment of a plan: a backend on a device ("" for the CPU), and
// why, where auto chose it.
//
// For bench, trace and tests.
type Executor struct {
	Backend string `json:"backend,omitempty"`
	Device  string `json:"device,omitempty"`
	Why     string `json:"why,omitempty"`
	Steps   []Step `json:"passes,omitempty"`
}

// Explain tells how one statement (with or without EXPLAIN before it) is answered.
func (db *DB) Explain(ctx context.Context, text string, o ExplainOptions) (_ *Explanation, err error) {
	defer recovered(&err)
	if db.backends.IsClosed() {
		return nil, ErrClosed
	}
	ctx, cancel := db.limit(ctx)
	defer cancel()
	s, err := db.statement(ctx, text, false) // what it took before tells more
	if err != nil {
		return nil, ended(ctx, err)
	}
	o.Analyze, o.Pipelines = o.Analyze || s.parsed.Analyze, o.Pipelines || s.parsed.Pipelines
	x, err := s.explain(ctx, o)
	return x, ended(ctx, err)
}

func (s *Statement) explain(ctx context.Context, o ExplainOptions) (*Explanation, error) {
	if o.Pipelines && (o.Analyze || o.GLSL) {
		return nil, s.described(sqlstate.Errorf(sqlstate.FeatureNotSupported, "EXPLAIN shows pipelines before they run: leave out ANALYZE, and the programs of passes"))
	}
	if s.parsed.Changes() {
		return s.explainChange(ctx, o)
	}
	s, err := s.with(ctx, o.Args, false)
	if err != nil {
		return nil, err
	}
	if s.nested == nil { // else what is left of it is planned
		s = &Statement{db: s.db, script: s.script, parsed: s.parsed, watch: s.watch, bound: s.bound, looks: true, found: s.found}
	}
	return s.explainBound(ctx, o)
}

// explainChange explains how the rows of a statement that changes tables are found. Analyzed, it changes them, too.
func (s *Statement) explainChange(ctx context.Context, o ExplainOptions) (*Explanation, error) {
	if err := s.parsed.Err(); err != nil {
		return nil, s.described(err)
	}
	if o.Analyze {
		if err := s.db.writes(); err != nil {
			return nil, s.described(err)
		}
	}
	x, err := s.explainRows(ctx, o)
	if err != nil || !o.Analyze {
		return x, err
	}
	start := time.Now()
	r, err := s.change(ctx, o.Args)
	if err != nil {
		return nil, err
	}
	st, err := r.drain()
	if err != nil {
		return nil, err
	}
	x.Changed, x.ChangeTime = &st.Changed, time.Since(start)
	return x, nil
}

// explainRows explains the query of a statement that changes tables, below a node for the change.
func (s *Statement) explainRows(ctx context.Context, o ExplainOptions) (*Explanation, error) {
	params, err := parameters(o.Args)
	if err == nil {
		err = s.db.tables.Writer.Acquire(ctx, 1)
	}
	if err != nil {
		return nil, s.described(err)
	}
	defer s.db.tables.Writer.Release(1)
	m := &mutation{Statement: s, params: params}
	defer m.unpin()
	c, view, err := m.bind(ctx)
	ahead := false
	if err == nil && m.target != "" {
		m.lookUp()
		ahead = m.update(c) != nil
		view, err = m.numbered(ctx)
	}
	if err != nil {
		return nil, s.described(err)
	}
	top := &PlanNode{Node: m.title()}
	if ahead {
		top.On = "compute"
	}
	if m.Rows == nil {
		return &Explanation{SQL: s.parsed.Select(), Executor: &Executor{}, Plan: top}, nil
	}
	b, err := view.planned(ctx, m.Rows, view.catalog(ctx), params)
	if err != nil {
		return nil, s.described(err)
	}
	rows := &Statement{db: view, script: s.script, parsed: s.parsed, bound: b, part: true, looks: m.lookup != nil}
	if o.Pipelines {
		return rows.explainPipelines(ctx, m.sink())
	}
	x, err := rows.explainBound(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range x.Steps {
		x.Steps[i].Pass = shownNumber(x.Steps[i].Pass)
		x.Steps[i].Counts = shownNumber(x.Steps[i].Counts)
	}
	top.Inputs = []*PlanNode{x.Plan}
	x.Plan = top
	return x, nil
}

// shownNumber is a text that may name the column of row numbers, whose name no statement can write.
func shownNumber(text string) string {
	return strings.ReplaceAll(text, expr.Ident(table.NumberField.Name), "row number")
}

// title names the change as a node of a plan.
func (m *mutation) title() string {
	name := expr.Ident(m.Table)
	switch {
	case m.Conflict != nil && m.Conflict.Update != nil:
		return "Insert into " + name + ", or update where a key is there"
	case m.Conflict != nil:
		return "Insert into " + name + " where no key is there"
	case m.Verb == "UPDATE":
		var columns []string
		for _, col := range m.Set[:m.Assigned] {
			columns = append(columns, expr.Ident(m.def.Fields[col].Name))
		}
		return "Update " + name + ": " + strings.Join(columns, ", ")
	case m.Verb == "DELETE":
		return "Delete from " + name
	case m.Verb == "INSERT":
		return "Insert into " + name
	}
	return m.Verb + " " + name
}

func (s *Statement) explainBound(ctx context.Context, o ExplainOptions) (*Explanation, error) {
	if o.Pipelines {
		return s.explainPipelines(ctx, nil)
	}
	if _, err := s.read(ctx, false); err != nil {
		return nil, err
	}
	x := &Explanation{SQL: s.parsed.Select(), Executor: &Executor{}}
	if (s.joins() || s.nested != nil) && !o.Analyze { // who does the rest depends on the rows of the join, or of a subplan
		estimates, done := s.estimates()
		defer done()
		x.estimates, x.unsettled = estimates, true
		p, err := s.pushed(ctx)
		if err != nil {
			return nil, s.described(err)
		}
		tree := s.tree
		if p.tree != nil {
			tree = p.tree
		}
		if s.nested != nil && !s.db.doesStars() { // else what is one depends on the rows of subplans
			x.pushed = func(n plan.Node) plan.Node { return rules.PushAggregate(n, s.off, s.pays(estimates)) }
			tree = x.pushed(tree)
		}
		x.Plan, x.Off = x.node(tree), s.off.String()
		if p.tree != nil { // whose parts are assigned when the groups are there
			return x, nil
		}
		return x, x.assign(ctx, s)
	}
	settled, ran, err := s.settled(ctx, &o)
	if err != nil {
		return nil, s.described(err)
	}
	defer ran.done()
	if _, err = settled.read(ctx, false); err != nil {
		return nil, err
	}
	x, err = settled.explainedTree(ctx, o, ran)
	if err == nil && o.Analyze {
		x.Subqueries = ran.subqueries(x)
		x.prepared = x.prepared.Plus(ran.before(nil).Snapshot().Loading)
		err = x.analyze(ctx, s)
	}
	if err != nil {
		return nil, s.described(err)
	}
	return x, nil
}

// assign says who is expected to run the operators of a statement whose joins have not run.
func (x *Explanation) assign(ctx context.Context, s *Statement) error {
	if !s.joins() || !s.db.assigns() {
		return nil
	}
	var entries []*catalog.Entry
	for _, r := range s.sources {
		entries = append(entries, r.Entry)
	}
	tables, unpin := s.db.pinAll(entries)
	defer unpin()
	if star, err := (&planned{Statement: s, tables: tables}).isStar(ctx); star || err != nil { // which is one operator
		return err
	}
	a, err := s.assign(x.estimates)
	if err != nil {
		return err
	}
	x.Assignment, x.Costs, x.assigned = a.Steps(), a.Source, a.Takes
	return nil
}

// explainedTree explains a statement whose subplans have run.
func (s *Statement) explainedTree(ctx context.Context, o ExplainOptions, ran *settling) (*Explanation, error) {
	estimates, done := s.estimates()
	defer done()
	x := &Explanation{SQL: s.parsed.Select(), Executor: &Executor{}, ran: ran, estimates: estimates, tree: s.tree}
	if o.Analyze {
		x.rowCounts = querystats.NewRowCounts()
	}
	now, unpin, err := s.pinned(ctx)
	if err != nil {
		return nil, err
	}
	defer unpin()
	x.prepared = now.before.Snapshot().Loading
	if s.fragment != nil {
		if err := x.fragment(ctx, now, o); err != nil {
			return nil, err
		}
	}
	x.Plan, x.Off = x.node(s.tree), s.off.String()
	return x, nil
}

func (x *Explanation) node(n plan.Node) *PlanNode {
	out := &PlanNode{}
	if x.nodes == nil {
		x.nodes = map[plan.Node]*PlanNode{}
	}
	x.nodes[n] = out
	if f, ok := n.(*plan.Fragment); ok {
		if x.otherwise && f.Fallback != nil {
			return x.node(f.Fallback)
		}
		n, out.Executor = f.Tree, x.Executor
	}
	out.Node, x.nodes[n] = shownNumber(n.String()), out
	if estimated(n) && x.estimates != nil {
		out.Expected = new(int(math.Round(x.estimates.Rows(n))))
		if rows, ok := x.rowCounts.Of(n); ok {
			out.Rows = &rows
		}
	}
	switch n.(type) {
	case *plan.Aggregate, *plan.Sort, *plan.Distinct, *plan.CountDistinct, *plan.GroupingSets:
		if out.Executor == nil && !x.unsettled {
			out.On = "cpu"
		}
		switch n.(type) {
		case *plan.Aggregate, *plan.GroupingSets:
			if x.grouped {
				out.On = x.Backend
			}
		}
		if s, ok := n.(*plan.Sort); ok && x.sorted {
			if _, ok := s.Input.(*plan.Fragment); ok {
				out.On = x.Backend
			}
		}
	}
	if _, ok := n.(*plan.Join); ok {
		out.On = cmp.Or(x.joined, x.Backend)
	}
	for _, in := range n.Inputs() {
		out.Inputs = append(out.Inputs, x.node(in))
	}
	out.Inputs = append(out.Inputs, x.subtrees(n, out)...)
	return out
}

// fragment explains what a backend does.
func (x *Explanation) fragment(ctx context.Context, s *planned, o ExplainOptions) error {
	if l := s.Statement.plannedLookup(); l != nil {
		x.Backend, x.Steps = "cpu", []Step{l.step()}
		if s.db.Backend() == "auto" {
			x.Why = "auto: a key gives the rows"
		}
		if x.rowCounts != nil {
			return s.countSelected(ctx, s.db.backends.CPU, x.rowCounts)
		}
		return nil
	}
	if s.pruning == nil && !s.stopsEarly() && (s.away == nil || s.db.Backend() != "auto") {
		if err := x.predict(ctx, s); err != nil {
			return err
		}
	}
	var opening time.Duration
	err := s.try(ctx, &opening, func(b backends.Backend) (err error) {
		x.Backend = b.Name()
		now, done, err := s.adapt(ctx, b, &querystats.Collector{})
		if err != nil {
			return err
		}
		defer done()
		s = now
		x.sorted = backends.Orders(b, s.plan)
		err = x.passes(ctx, b, s, o)
		if s.fallsBack(err) {
			here, unpin, failed := s.fetchToHost(ctx)
			if failed != nil {
				return failed
			}
			defer unpin()
			s = here
			err = x.passes(ctx, b, s, o)
		}
		if err == nil && x.rowCounts != nil {
			err = s.countSelected(ctx, b, x.rowCounts)
		}
		return err
	})
	x.prepared.Opening += opening
	if err != nil {
		return err
	}
	for n, rows := range s.joinedRows {
		x.rowCounts.Set(n, rows)
	}
	x.grouped = slices.ContainsFunc(x.Steps, func(s Step) bool {
		switch s.Op.(type) {
		case compute.Group, relational.MarkCodes:
			return true
		}
		return false
	})
	if s.pruning != nil {
		x.Steps = s.pruning.steps(x.Steps)
	}
	x.Steps, x.joined = slices.Concat(s.skips(), s.joined, x.Steps), s.joinedOn
	for i := range x.Steps {
		if step := &x.Steps[i]; !o.GLSL {
			step.GLSL, step.Fixed = "", false
		}
	}
	if s.db.Backend() == "auto" {
		x.Why = "auto: " + x.why(s)
	}
	if d, _, err := s.db.backends.Now(); err == nil && d != nil && x.Backend != "cpu" {
		x.Device = d.Key.Renderer + d.Numbers(s.plan)
	}
	return nil
}

// passes explains what a backend does of the fragment.
func (x *Explanation) passes(ctx context.Context, b backends.Backend, s *planned, o ExplainOptions) (err error) {
	if err := s.supports(b); err != nil || s.pruning != nil && s.pruning.Answer != nil {
		return err
	}
	if x.otherwise = s.otherwise == s.plan; !x.otherwise {
		x.Steps, err = x.steps(ctx, b, s.query(), o.Analyze && (s.pruning == nil || s.pruning.batches == nil)) // which is there for a while
		x.otherwise = s.otherwise != nil && plan.IsDeclined(err) && s.away == nil
	}
	if x.otherwise {
		x.Steps, err = x.steps(ctx, b, s.otherwise, o.Analyze)
	}
	return err
}

// steps are those of a backend for a plan. To analyze a plan of aggregates it first executes the plan, then
// times its passes one by one. The first execution uploads columns and compiles programs; some drivers
// compile only when a program runs.
func (x *Explanation) steps(ctx context.Context, b backends.Backend, q *physical.Query, analyze bool) ([]Step, error) {
	if analyze && len(q.Aggs) > 0 {
		start, first := time.Now(), &querystats.Collector{}
		if _, err := b.Execute(ctx, q, first); err != nil {
			return nil, err
		}
		load := first.Snapshot().Loading
		x.prepared = x.prepared.Plus(load)
		x.first = max(0, time.Since(start)-load.Total())
	}
	return b.Explain(ctx, q, analyze)
}

// predict asks what the statement would take, on all backends. It opens the backend that
// was asked for, or what auto needs.
func (x *Explanation) predict(ctx context.Context, s *planned) (err error) {
	var o *order
	var d *backends.Devices
	spent := &x.prepared.Opening
	if name := s.db.Backend(); name == "auto" {
		o, err = s.order(ctx, spent, false)
	} else if _, d, err = s.db.view().Open(ctx, name, spent); err == nil {
		o, err = s.predict(d, d == nil)
	}
	if err != nil {
		return err
	}
	x.Costs, x.Predictions = o.source, o.list
	return nil
}

// why says why auto took the backend that it took.
func (x *Explanation) why(s *planned) string {
	if s.pruning != nil {
		return "cpu reads no more of the file than it has to"
	}
	if s.away != nil {
		return "the rows of the joins are there"
	}
	if s.stopsEarly() {
		return "cpu stops as soon as the LIMIT is reached"
	}
	if len(x.Predictions) == 0 {
		return "the rows of the joins were on the device, which leaves them"
	}
	if first := x.Predictions[0]; first.Backend != x.Backend {
		return first.Backend + " cannot do this query, or failed"
	}
	if len(x.Predictions) == 1 {
		if _, _, err := s.db.backends.Now(); err != nil {
			return "no OpenGL device"
		}
		return "the only backend that can do this query"
	}
	return "predicted to be the fastest"
}

// analyze executes the statement for its numbers, on the backend that was explained.
func (x *Explanation) analyze(ctx context.Context, s *Statement) error {
	if x.Backend != "cpu" && x.first == 0 { // of rows and groups nothing has been executed: see [Explanation.steps]
		first, err := s.run(ctx, func(e *execution) { e.on = x.Backend })
		if err != nil {
			return err
		}
		for range first.rest() {
		}
		if err := first.Err(); err != nil {
			return err
		}
		stats := first.Stats()
		x.first, x.prepared = stats.Elapsed, x.prepared.Plus(stats.Loading)
	}
	if l := s.plannedLookup(); l != nil {
		r, err := (&Statement{db: s.db, script: s.script, parsed: s.parsed, bound: &bound{lookup: l}}).answerLookup(ctx)
		if err != nil {
			return err
		}
		if r != nil {
			if r.now != nil {
				x.Rows = int64(r.now.Len())
			}
			st, err := r.drain()
			x.Stats, x.Resident = &st, s.db.resident()
			return err
		}
	}
	var ran plan.Node
	seen := querystats.NewRowCounts()
	var of *planned
	rows, err := s.run(ctx, func(e *execution) { e.on, e.rowCounts, ran, of = x.Backend, seen, e.tree, e.planned })
	if err != nil {
		return err
	}
	for b := range rows.rest() {
		x.Rows += int64(b.Len())
	}
	if of.pruning != nil && of.pruning.batches != nil {
		x.Steps[0] = of.pruning.batches.step()
	}
	x.withSeen(x.tree, ran, seen)
	stats := rows.Stats()
	stats.Loading = stats.Loading.Plus(x.prepared)
	stats.Load = stats.Loading.Total()
	x.Stats, x.Resident = &stats, s.db.resident()
	return rows.Err()
}

// Lines is the explanation as text, a pass a line.
func (x *Explanation) Lines() []string {
	if x.Pipelines != nil {
		return x.pipelineLines()
	}
	shown := map[*PlanNode]bool{}
	lines, predicted := x.Plan.lines(0, 0, shown), ""
	for _, q := range x.Subqueries {
		lines = append(lines, q.lines(0, 0, shown)...)
	}
	if x.unsettled {
		lines = append(lines, "Backends and passes follow from the rows of joins and subqueries: EXPLAIN ANALYZE has them")
	}
	if len(x.Assignment) > 0 {
		lines = append(lines, "Assignment, "+numbers.Milliseconds(x.assigned)+" predicted (costs "+x.Costs+")")
		lines = append(lines, stepLines(x.Assignment)...)
	}
	if x.Off != "" {
		lines = append(lines, "Disabled rules: "+x.Off)
	}
	if len(x.Predictions) > 0 {
		lines = append(lines, "Predicted (costs "+x.Costs+")")
	}
	for _, p := range x.Predictions {
		if lines = append(lines, "  "+backends.Line(p)); p.Backend == x.Backend && p.Possible() {
			predicted = " (predicted " + numbers.Milliseconds(p.Run) + map[bool]string{true: " after the joins"}[x.joined != ""] + ")" // beside its measurement
		}
	}
	if r := x.Stats; r != nil {
		lines = append(lines, x.nodeLines()...)
		lines = append(lines, fmt.Sprintf("Rows: %d", x.Rows))
		if r.Passes > 0 {
			lines = append(lines, fmt.Sprintf("Passes: %d%s", r.Passes, x.inPasses()), fmt.Sprintf("Samples counted: %d", r.Samples))
		}
		lines = append(lines, "Execution time: "+numbers.Milliseconds(r.Elapsed.Seconds())+predicted)
		if r.Passes > 0 && x.first > r.Elapsed {
			lines = append(lines, "First execution: "+numbers.Milliseconds(x.first.Seconds()))
		}
		if r.Load > 0 {
			lines = append(lines, "Loading time: "+numbers.Milliseconds(r.Load.Seconds())+" ("+r.Loading.Parts()+")")
		}
	}
	if x.Changed != nil {
		lines = append(lines, fmt.Sprintf("Changed rows: %d", *x.Changed), "Change time: "+numbers.Milliseconds(x.ChangeTime.Seconds()))
	}
	if x.Resident != nil {
		lines = append(lines, x.Resident.Lines()...)
	}
	return lines
}

// inPasses is what the passes took together, in the execution in which each was timed. It also has the rest of the
// statement's time: the host's part, and waiting for counts.
func (x *Explanation) inPasses() string {
	total := 0.0
	for _, s := range x.Steps {
		if s.MS != nil {
			total += *s.MS
		}
	}
	switch rest := x.Stats.Elapsed.Seconds() - total/1000; {
	case total == 0:
		return ""
	case rest > 0:
		return fmt.Sprintf(" (%s, and %s beside them)", numbers.Milliseconds(total/1000), numbers.Milliseconds(rest))
	}
	return fmt.Sprintf(" (%s in an execution of their own, in which each is waited for)", numbers.Milliseconds(total/1000))
}

// lines are those of a node and of the nodes below it, then of who does them, as deep as the root of their subplan.
// A subplan that is read twice is shown once.
func (n *PlanNode) lines(depth, root int, shown map[*PlanNode]bool) []string {
	if n.apart {
		if shown[n] {
			return []string{strings.Repeat("  ", depth) + "as above"}
		}
		root, shown[n] = depth, true
	}
	lines := []string{strings.Repeat("  ", depth) + n.Node}
	if n.On != "" {
		lines[0] += " on " + n.On
	}
	lines[0] += n.rowsText()
	for _, in := range n.Inputs {
		lines = append(lines, in.lines(depth+1, root, shown)...)
	}
	if n.Executor != nil && n.Backend != "" {
		for _, l := range n.Executor.lines() {
			lines = append(lines, strings.Repeat("  ", root)+l)
		}
	}
	return lines
}

// lines say who does a fragment, and list the passes.
func (e *Executor) lines() []string {
	line := "Backend " + e.Backend
	if e.Device != "" {
		line += " on " + e.Device
	}
	if e.Why != "" {
		line += " (" + e.Why + ")"
	}
	return append([]string{line}, stepLines(e.Steps)...)
}

// stepLines are the lines of steps, which are numbered.
func stepLines(steps []Step) (lines []string) {
	width := 0
	for _, s := range steps {
		width = max(width, len([]rune(s.Pass)))
	}
	for i, s := range steps {
		line := fmt.Sprintf("%4d  %-*s", i+1, width, s.Pass)
		if s.Counts != "" {
			line += "  " + s.Counts
		}
		switch {
		case s.Samples != nil:
			line += fmt.Sprintf("  (samples %d, %.3f ms)", *s.Samples, *s.MS)
		case s.MS != nil:
			line += fmt.Sprintf("  (%.3f ms)", *s.MS)
		}
		lines = append(lines, strings.TrimRight(line, " "))
		if s.Fixed {
			lines = append(lines, "        | no program: the depth and stencil tests decide")
		}
		if s.GLSL != "" {
			for l := range strings.Lines(strings.TrimRight(s.GLSL, "\n")) {
				lines = append(lines, "        | "+strings.TrimRight(l, "\n"))
			}
		}
	}
	return lines
}

// WriteText writes the lines to w.
func (x *Explanation) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(x.Lines(), "\n")+"\n")
	return err
}

func (x *Explanation) json() any {
	type fields Explanation // without its methods
	out := struct {
		*fields
		Rows   *int64   `json:"rows,omitempty"`
		Passes *int     `json:"passes,omitempty"`
		MS     *float64 `json:"ms,omitempty"`
		LoadMS *float64 `json:"load_ms,omitempty"`

		ReadingMS   *float64 `json:"reading_ms,omitempty"` // this and what follows add up to load_ms
		OpeningMS   *float64 `json:"opening_ms,omitempty"`
		UploadingMS *float64 `json:"uploading_ms,omitempty"`
		CompilingMS *float64 `json:"compiling_ms,omitempty"`
	}{fields: (*fields)(x)}
	if s := x.Stats; s != nil {
		out.Rows, out.Passes = &x.Rows, &s.Passes
		ms := func(d time.Duration) *float64 { return new(float64(d) / 1e6) }
		out.MS, out.LoadMS = ms(s.Elapsed), ms(s.Load)
		out.ReadingMS, out.OpeningMS, out.UploadingMS, out.CompilingMS = ms(s.Loading.Reading), ms(s.Loading.Opening), ms(s.Loading.Uploading), ms(s.Loading.Compiling)
	}
	return out
}

// MarshalJSON implements json.Marshaler.
func (x *Explanation) MarshalJSON() ([]byte, error) { return json.Marshal(x.json()) }

// explained is the explanation of an EXPLAIN statement as rows of text, as PostgreSQL
// gives them: one a line, or one of JSON.
func (s *Statement) explained(ctx context.Context, args []any) (*Rows, error) {
	x, err := s.explain(ctx, ExplainOptions{Analyze: s.parsed.Analyze, Pipelines: s.parsed.Pipelines, Args: args})
	if err != nil {
		return nil, err
	}
	lines := x.Lines()
	if s.parsed.JSON {
		var text strings.Builder
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false) // conditions have < and >
		if err := enc.Encode([]any{x.json()}); err != nil {
			return nil, s.described(err)
		}
		lines = []string{strings.TrimSpace(text.String())}
	}
	out := make(valueRows, len(lines))
	for i, l := range lines {
		out[i] = []table.Value{table.Str(l)}
	}
	stats := Stats{Backend: x.Backend}
	if x.Stats != nil {
		stats = *x.Stats
	}
	return &Rows{of: s, columns: []Column{{Name: "QUERY PLAN", Type: table.Type{Kind: table.Varchar}}}, now: out, at: -1, ctx: ctx,
		next: func() (batch, error, bool) { return nil, nil, false }, collector: querystats.NewCollector(stats)}, nil
}
