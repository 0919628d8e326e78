package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"slices"
)

// Recursion gives the rows of WITH RECURSIVE: what First left, then what Step leaves, which runs again and again until it leaves none. Of
// the pipelines before Step those run again that read its [WorkingTable], or what such a one left.
type Recursion struct {
	First, Step *Pipeline
	All         bool // a row that was there before comes again: UNION ALL
	// Limit is after how many rows for which all of Where is TRUE it may end; -1 for never. Where is over the rows' columns.
	Limit int64
	Where []expr.Expr
}

// Fields, Reads, Exprs and String implement [Source].
func (r *Recursion) Fields() []table.Field { return r.First.Fields() }
func (r *Recursion) Reads() []*Pipeline    { return []*Pipeline{r.First, r.Step} }
func (r *Recursion) Exprs() []expr.Expr    { return nil }

func (r *Recursion) String() string {
	of := &plan.Recursion{All: r.All, Limit: r.Limit, Where: r.Where}
	return of.String() + " of " + r.First.name() + ", then " + r.Step.name() + " again and again"
}

// WorkingTable gives the rows that came last in a recursion: at first those that its First left.
type WorkingTable struct{ Of *Recursion }

// Fields, Reads, Exprs and String implement [Source].
func (w *WorkingTable) Fields() []table.Field { return w.Of.First.Fields() }
func (w *WorkingTable) Reads() []*Pipeline    { return []*Pipeline{w.Of.First} }
func (w *WorkingTable) Exprs() []expr.Expr    { return nil }

func (w *WorkingTable) String() string {
	return "WorkingTable(" + w.Of.First.name() + " at first)"
}

// Repeats reports that a pipeline runs in each step of a recursion: it reads the working table, or what a pipeline left that does.
func (p *Pipeline) Repeats(of *Recursion) bool {
	if w, ok := p.Source.(*WorkingTable); ok && w.Of == of {
		return true
	}
	return slices.ContainsFunc(p.Reads(), func(r *Pipeline) bool { return r != of.First && r.Repeats(of) })
}
