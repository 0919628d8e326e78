package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// cpuBackend is package cpu with EXPLAIN. It has no passes: its steps are the
// operators of its one sweep over the codes.
type cpuBackend struct{ *cpu.Backend }

func newCPU() backend { return cpuBackend{cpu.New(0)} }

// Execute implements backend.
func (b cpuBackend) Execute(ctx context.Context, q *plan.Query, _ *took) ([]table.Value, error) {
	return b.Backend.Execute(ctx, q)
}

// Rows implements backend.
func (b cpuBackend) Rows(ctx context.Context, q *plan.Query, _ *took) iter.Seq2[table.Block, error] {
	return b.Backend.Rows(ctx, q)
}

// Explain lists the operators. Where chunks fold a predicate differently, the one
// with the most work left is shown.
func (cpuBackend) Explain(_ context.Context, q *plan.Query, _ bool) ([]Step, error) {
	steps := []Step{{Pass: "Scan(" + q.Table.Name + ")", Counts: scanWords(q)}}
	if busy := busiest(q.Chunks); busy != nil {
		for _, check := range busy.Checks {
			steps = append(steps, Step{
				Pass:   "Check(" + check.Pred.String() + ")",
				Counts: fmt.Sprintf("selects the records that raise %q: there must be none", check.Err),
			})
		}
		steps = appendPred(steps, busy.Pred, 0)
	} else if q.Where != nil {
		steps = append(steps, Step{
			Pass:   "Filter(" + q.Where.String() + ")",
			Counts: "decided from the columns' ranges alone: all records of a chunk or none",
		})
	}
	if len(q.Aggs) == 0 {
		var names []string
		for _, i := range q.Columns {
			names = append(names, expr.Ident(q.Table.Fields[i].Name))
		}
		steps = append(steps, Step{Pass: "Rows(" + strings.Join(names, ", ") + ")", Counts: "lists the selected records, in the order of the table, and gathers these columns of them"})
	}
	for _, a := range q.Aggs {
		steps = append(steps, Step{Pass: "Aggregate(" + a.String() + ")", Counts: aggregateWords(a)})
	}
	return steps, nil
}

// busiest is the first chunk with the most leaves to evaluate; nil where every
// predicate is folded to all or nothing.
func busiest(chunks []plan.ChunkPlan) *plan.ChunkPlan {
	var best *plan.ChunkPlan
	most := 0
	for i, c := range chunks {
		n := leaves(c.Pred)
		for _, check := range c.Checks {
			n += leaves(check.Pred)
		}
		if n > most {
			best, most = &chunks[i], n
		}
	}
	return best
}

// leaves counts those of a predicate.
func leaves(p *plan.Pred) int {
	if p.Op == plan.IsLeaf {
		return 1
	}
	n := 0
	for _, k := range p.Kids {
		n += leaves(k)
	}
	return n
}

func scanWords(q *plan.Query) string {
	var names []string
	for _, i := range columnsRead(q) {
		names = append(names, q.Table.Field(i).Name)
	}
	what := "no column"
	if len(names) > 0 {
		what = "the codes of " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("reads %s: records %d, chunks %d", what, q.Table.Rows(), len(q.Table.Chunks))
}

func columnsRead(q *plan.Query) []int {
	cols := slices.Clone(q.Columns)
	if q.Where != nil {
		cols = append(cols, expr.Columns(q.Where)...)
	}
	for _, a := range q.Aggs {
		if a.Col >= 0 {
			cols = append(cols, a.Col)
		}
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// appendPred lists a predicate as a tree, two blanks a level.
func appendPred(steps []Step, p *plan.Pred, depth int) []Step {
	indent := strings.Repeat("  ", depth)
	switch p.Op {
	case plan.IsLeaf:
		return append(steps, Step{
			Pass:   indent + "Filter(" + p.Leaf.String() + ")",
			Counts: "a bitmap of the records for which it is TRUE",
		})
	case plan.And, plan.Or:
		name, words := "And", "the records that every one of these selects"
		if p.Op == plan.Or {
			name, words = "Or", "the records that at least one of these selects"
		}
		steps = append(steps, Step{Pass: indent + name, Counts: words})
		for _, k := range p.Kids {
			steps = appendPred(steps, k, depth+1)
		}
	}
	return steps
}

// gathered says what is gathered for an aggregate.
var gathered = map[expr.AggKind]string{
	expr.CountAll:    "counts the selected records",
	expr.Count:       "counts the selected records whose %s is not NULL",
	expr.Selectivity: "counts the selected records, as a fraction of all",
	expr.Min:         "keeps the smallest code of each chunk",
	expr.Max:         "keeps the largest code of each chunk",
}

func aggregateWords(a expr.Aggregate) string {
	text, ok := gathered[a.Kind]
	switch {
	case a.Kind == expr.Count:
		return fmt.Sprintf(text, a.Name)
	case ok:
		return text
	case a.Kind != expr.Sum && a.Kind != expr.Avg:
		return "counts the codes in ranges that narrow down on the one of the wanted rank"
	case a.Arg.IsFloat():
		return "adds exactly, one integer sum of mantissas per exponent, and rounds once"
	}
	return "adds the codes exactly, in 128 bits"
}
