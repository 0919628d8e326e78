package backends

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// CPU is package cpu with EXPLAIN. It has no passes: its steps are the
// operators of its one sweep over the codes.
type CPU struct{ *cpu.Backend }

// NewCPU is the backend cpu on all cores.
func NewCPU(options ...cpu.Option) Backend { return CPU{cpu.New(0, options...)} }

// Execute implements [Backend].
func (b CPU) Execute(ctx context.Context, q *physical.Query, _ *querystats.Collector) ([]table.Value, error) {
	return b.Backend.Execute(ctx, q)
}

// Rows implements [Backend].
func (b CPU) Rows(ctx context.Context, q *physical.Query, _ *querystats.Collector) iter.Seq2[table.Block, error] {
	return b.Backend.Rows(ctx, q)
}

// Explain lists the operators. Where chunks fold a predicate differently, the one
// with the most work left is shown.
func (b CPU) Explain(_ context.Context, q *physical.Query, _ bool) ([]Step, error) {
	if err := q.RequireColumns(); err != nil {
		return nil, err
	}
	steps := []Step{{Pass: "Scan(" + q.Table.Name + ")", Counts: scanWords(q)}}
	indexed, q := b.indexSteps(q)
	steps = append(steps, indexed...)
	var most []Step
	for _, c := range q.Chunks {
		var list []Step
		for _, check := range c.Checks {
			list = append(list, Step{
				Pass:   "Check(" + check.Pred.String() + ")",
				Counts: fmt.Sprintf("selects the records that raise %q: there must be none", check.Err),
			})
		}
		if list = appendPred(list, c.Pred, ""); len(list) > len(most) {
			most = list
		}
	}
	if most == nil && indexed == nil && q.Where != nil {
		most = []Step{{Pass: "Filter(" + q.Where.String() + ")", Counts: "decided from the columns' ranges alone: all records of a chunk or none"}}
	}
	steps = append(steps, most...)
	if len(q.Aggs) == 0 {
		steps = append(steps, Step{Pass: "Rows(" + columnNames(q, q.Columns) + ")", Counts: "lists the selected records, in the order of the table, and gathers these columns of them"})
	}
	for _, a := range q.Aggs {
		steps = append(steps, Step{Pass: "Aggregate(" + a.String() + ")", Counts: aggregateWords(a)})
	}
	return steps, nil
}

func scanWords(q *physical.Query) string {
	what := "no column"
	if cols := slices.Sorted(slices.Values(q.Reads())); len(cols) > 0 {
		what = "the codes of " + columnNames(q, cols)
	}
	return fmt.Sprintf("reads %s: records %d, chunks %d", what, q.Table.Rows(), len(q.Table.Chunks))
}

// columnNames are those of columns, as SQL has them.
func columnNames(q *physical.Query, cols []int) string {
	var names []string
	for _, i := range cols {
		names = append(names, expr.Ident(q.Table.Fields[i].Name))
	}
	return strings.Join(names, ", ")
}

// appendPred lists a predicate as a tree, two blanks a level.
func appendPred(steps []Step, p *predicate.Pred, indent string) []Step {
	switch p.Op {
	case predicate.Simple:
		return append(steps, Step{Pass: indent + "Filter(" + p.Leaf.String() + ")", Counts: "a bitmap of the records for which it is TRUE"})
	case predicate.And:
		steps = append(steps, Step{Pass: indent + "And", Counts: "the records that every one of these selects"})
	case predicate.Or:
		steps = append(steps, Step{Pass: indent + "Or", Counts: "the records that at least one of these selects"})
	}
	for _, k := range p.Kids {
		steps = appendPred(steps, k, indent+"  ")
	}
	return steps
}

// aggregateWords says what is gathered for an aggregate.
func aggregateWords(a expr.Aggregate) string {
	switch a.Kind {
	case expr.CountAll:
		return "counts the selected records"
	case expr.Count:
		return "counts the selected records whose " + a.Name + " is not NULL"
	case expr.Selectivity:
		return "counts the selected records, as a fraction of all"
	case expr.Min:
		return "keeps the smallest code of each chunk"
	case expr.Max:
		return "keeps the largest code of each chunk"
	case expr.Sum, expr.Avg:
		if a.Arg.IsFloat() {
			return "adds exactly, one integer sum of mantissas per exponent, and rounds once"
		}
		return "adds the codes exactly, in 128 bits"
	}
	return "counts the codes in ranges that narrow down on the one of the wanted rank"
}

// indexSteps are what the indexes do for a query, and the query without that.
func (b CPU) indexSteps(q *physical.Query) (steps []Step, rest *physical.Query) {
	uses := b.IndexesOf(q)
	if uses == nil {
		return nil, q
	}
	out := *q
	out.Chunks = slices.Clone(q.Chunks)
	at, found := map[string]int{}, map[string]int{}
	for i, use := range uses {
		if use == nil {
			continue
		}
		out.Chunks[i].Pred = use.Rest
		if _, seen := at[use.Name]; !seen {
			at[use.Name] = len(steps)
			steps = append(steps, Step{Pass: "Index(" + expr.Ident(use.Name) + ": " + use.By.String() + ")"})
		}
		found[use.Name] += use.Found
	}
	for name, i := range at {
		steps[i].Counts = fmt.Sprintf("finds %d of %d records", found[name], q.Table.Rows())
	}
	return steps, &out
}
