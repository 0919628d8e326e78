package engine

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/plan/pipeline/planner"
	"github.com/stencildb/stencildb/plan/rules"
)

// pipelinesNote says of the pipelines what they are not yet.
const pipelinesNote = "Joins and subqueries still choose orders and builds as they run: EXPLAIN ANALYZE shows what ran"

// explainPipelines explains a bound statement, whose columns are read, as the pipelines of its physical plan. Change takes the rows of one
// that changes a table.
func (s *Statement) explainPipelines(ctx context.Context, change *pipeline.Change) (*Explanation, error) {
	if _, err := s.read(ctx, false); err != nil {
		return nil, err
	}
	p, err := s.pipelines(change)
	if err != nil {
		return nil, s.described(err)
	}
	return &Explanation{SQL: s.parsed.Select(), Executor: &Executor{}, Pipelines: p, Note: pipelinesNote, Off: s.off.String()}, nil
}

// pipelineLines are the lines of an explanation that has pipelines.
func (x *Explanation) pipelineLines() (lines []string) {
	for _, l := range x.Pipelines.Lines() {
		lines = append(lines, shownNumber(l))
	}
	if x.Off != "" {
		lines = append(lines, "Disabled rules: "+x.Off)
	}
	return append(lines, x.Note)
}

// pipelines is the physical plan of a bound statement.
func (s *Statement) pipelines(change *pipeline.Change) (*pipeline.Plan, error) {
	of, done := s.estimates()
	defer done()
	pays := s.pays(of)
	tree := plan.RewriteQueries(rules.Uncut(s.tree), func(n plan.Node) plan.Node { return rules.PushAggregate(n, s.off, pays) })
	if s.arrays != nil {
		tree = &plan.Arrays{Input: tree, Sizes: s.arrays}
	}
	p, err := planner.New(tree, planner.Statistics{Estimates: of, Indexes: s.db.indexesOf, Batches: s.inBatches}, change)
	if err != nil {
		return nil, err
	}
	if err := p.Check(tree); err != nil {
		return nil, fmt.Errorf("the pipelines of this statement are wrong: %w", err)
	}
	return p, nil
}

// indexesOf are the keys of a scan's table, then its indexes.
func (db *DB) indexesOf(scan *plan.Scan) (list []planner.Index) {
	e := db.entry(scan.Table)
	if e == nil || scan.Of != nil {
		return nil
	}
	if e.Definition != nil {
		for _, k := range e.Definition.Keys {
			list = append(list, planner.Index{Name: k.Name, Columns: k.Columns, Unique: true})
		}
	}
	for _, x := range db.indexes.All() {
		if x.Table != scan.Table {
			continue
		}
		for i, f := range scan.Columns { // the first column finds the rows
			if f.Name == x.Columns[0].Name {
				list = append(list, planner.Index{Name: x.Name, Columns: []int{i}})
			}
		}
	}
	return list
}

// inBatches reports a table that the statement reads from its file in batches.
func (s *Statement) inBatches(scan *plan.Scan) bool {
	if s.scanPruning == nil || s.scanPruning.batches == nil {
		return false
	}
	return s.scanPruning.large == nil || s.scanPruning.large[s.db.entry(scan.Table)] != nil
}

// sink is the change as the sink of a pipeline.
func (m *mutation) sink() *pipeline.Change {
	out := &pipeline.Change{Verb: m.Verb, Table: m.Table}
	switch {
	case m.Conflict != nil && m.Conflict.Update != nil:
		out.OnConflict = "or update where a key is there"
	case m.Conflict != nil:
		out.OnConflict = "where no key is there"
	case m.Verb == "UPDATE":
		for _, col := range m.Set[:m.Assigned] {
			out.Set = append(out.Set, m.def.Fields[col].Name)
		}
	}
	return out
}
