package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
)

// prunedScan is a scan of which the statistics of files spare some reading.
type prunedScan struct {
	*catalog.Pruned
	batches *batches // how all of them are read; the table is an outline then; nil for those that are in the table
	// large are the tables of a join that come in batches, each read once; batches is the largest of them. table then has the join's
	// fields and no rows. Nil for a statement over one table.
	large map[*catalog.Entry]*batches
	way   *joinBeyond
}

// pruneScan looks for what can be spared; nil where that is nothing.
func (db *DB) pruneScan(ctx context.Context, e *catalog.Entry, f *plan.Fragment) (*prunedScan, error) {
	if f.Fallback != nil { // statistics tell no sum
		f = f.FallbackFragment()
	}
	if t := e.Table.Load(); !db.prunes(e) || t.Has(f.Reads()) || catalog.NeedsAllRows(f) {
		return nil, nil
	}
	conditions := catalog.ConditionsOf(f)
	return whatIsRead(ctx, db, e, func(o ingest.Options) (*prunedScan, error) {
		if e.Source == nil || e.Source.Changed() { // which is the error of reading it
			return nil, nil
		}
		p, err := e.AnswerFromStatistics(f, conditions)
		if p == nil && err == nil {
			p, err = e.ReadPruned(ctx, conditions, f.Reads(), rowBytes/2, o)
		}
		return prunedScanOf(p), err
	})
}

// pruneJoined looks for what conditions of tables alone spare a join of them; nil where that is nothing.
func (db *DB) pruneJoined(ctx context.Context, b *bound) (map[*catalog.Entry]*prunedScan, error) {
	if db.now().hostMemory > 0 {
		return nil, nil
	}
	spares := map[*catalog.Entry]*prunedScan{}
	var where expr.Expr
	at := 0
	conditions := map[*read]expr.Expr{}
	plan.Walk(b.fragment.Join, func(n plan.Node, _ int) {
		above := where
		where = nil
		switch n := n.(type) {
		case *plan.Filter:
			where = n.Where
		case *plan.Scan:
			if at++; n.Of == nil {
				conditions[b.scans[at-1]] = above
			}
		}
	})
	for r, where := range conditions {
		list := catalog.ConditionsIn(where)
		once := len(slices.DeleteFunc(slices.Clone(b.scans), func(o *read) bool { return o != r })) == 1
		if len(list.List) == 0 || !once || !db.prunes(r.Entry) || r.Table.Load().Has(r.columns) {
			continue
		}
		o, err := whatIsRead(ctx, db, r.Entry, func(o ingest.Options) (*prunedScan, error) {
			if r.Source == nil || r.Source.Changed() {
				return nil, nil
			}
			p, err := r.ReadPruned(ctx, list, r.columns, rowBytes/2, o)
			return prunedScanOf(p), err
		})
		if err != nil {
			return nil, err
		}
		if o != nil {
			spares[r.Entry] = o
		}
	}
	return spares, nil
}

// InGroups reports that a file has row groups of which some may be read alone.
func (db *DB) inGroups(ctx context.Context, e *catalog.Entry) bool {
	in, _ := whatIsRead(ctx, db, e, func(ingest.Options) (*bool, error) { // an error is that of reading it
		in := e.Source != nil && e.Source.Groups() > 1
		return &in, nil
	})
	return in != nil && *in
}

// prunedScanOf is a scan that spares reading; nil where p is, which spares none.
func prunedScanOf(p *catalog.Pruned) *prunedScan {
	if p == nil {
		return nil
	}
	return &prunedScan{Pruned: p}
}

// prunes reports whether statements read no more of a table than its file's statistics leave to them. The backends of devices read all of
// a column, so that it is resident. A damaged column is not read whole, so that a statement gives the same answer on all backends.
func (db *DB) prunes(e *catalog.Entry) bool { return db.onCPU() || e.Damaged.Load() }

// onCPU reports whether statements may run on cpu.
func (db *DB) onCPU() bool { return db.Backend() == "auto" || db.Backend() == "cpu" }

// steps are those of the execution, after what is spared.
func (o *prunedScan) steps(list []Step) []Step {
	if o.way != nil {
		list = append([]Step{o.way.step()}, list...)
	}
	if o.batches != nil {
		return append([]Step{o.batches.step()}, list...)
	}
	if o.Answer != nil {
		return []Step{{Pass: fmt.Sprintf("Statistics(%d row groups)", o.Groups), Counts: "nothing: what the file says of its row groups is the answer"}}
	}
	return slices.Insert(list, 0, o.skip(""))
}

// skip is the step of what is spared, of the table of a name.
func (o *prunedScan) skip(of string) Step {
	return Step{Pass: fmt.Sprintf("Skip(%d of %d row groups%s)", o.Groups-o.Left, o.Groups, of), Counts: "nothing: by what the file says of them they have no record that is selected"}
}

// skips are the steps of what is spared of tables that are joined.
func (s *planned) skips() (list []Step) {
	for i, r := range s.sources {
		if s.partly(r.Entry) && i < len(s.tables) && s.tables[i] == s.tablePruning[r.Entry].Table {
			list = append(list, s.tablePruning[r.Entry].skip(" of "+expr.Ident(r.Name)))
		}
	}
	return list
}
