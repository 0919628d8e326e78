package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/gpujoin"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// findStar finds out whether the statement aggregates a star of joins, which a device that may be asked does in
// one sweep.
func (s *planned) findStar() bool {
	f, db := s.fragment, s.db
	if name := db.Backend(); name != "compute" && (name != "auto" || !db.backends.MayHaveHardware()) || db.now().join != "auto" {
		return false
	}
	if a := s.grouped(); a != nil && f.Where == nil {
		of, err := s.joining()
		if err != nil {
			return false // which the join says
		}
		if p := s.pushing.Load(); p != nil && p.star != nil && !p.star.Kept() && slices.Equal(p.tables, s.tables) {
			s.star = p.star
			return true
		}
		if db.stars.Len() > 0 {
			s.star, _ = db.stars.Get(starKey(f.Join, a, of.Tables))
		}
		if s.star == nil {
			s.star = joinorder.NewStar(db.backends.CPU.(backends.CPU).Backend, f.Join, a, of)
		} else if s.star.Declined() {
			s.star = nil
		}
	}
	return s.star != nil
}

// maxStars is how many stars of joins the devices keep arrays of.
const maxStars = 32

// stars are the stars that ran last, by [starKey]: a statement may be prepared anew each time, such as one that has
// run its subqueries. Of others the devices keep no arrays.
type stars = lru.Cache[string, *joinorder.Star]

func (db *DB) newStars() *stars {
	kept, _ := lru.NewWithEvict(maxStars, func(_ string, s *joinorder.Star) { db.dropArrays(s) }) // only a size below 1 is an error
	return kept
}

// dropArrays has the devices drop the arrays of a star. It does not wait for that.
func (db *DB) dropArrays(s *joinorder.Star) {
	if d, _, err := db.backends.Now(); d != nil && err == nil {
		db.backends.Background(func() { d.Drop(s.Arrays()) })
	}
}

// keepStar keeps the statement's star among those that ran last, where there is something to keep of it. That of subplans no other statement has.
func (s *planned) keepStar() {
	if s.ofSubplans() || !s.star.Kept() {
		return
	}
	if of, err := s.joining(); err == nil {
		s.db.keep(starKey(s.fragment.Join, s.grouped(), of.Tables), s.star)
	}
}

// keep keeps a star among those that ran last.
func (db *DB) keep(key string, s *joinorder.Star) {
	if old, ok := db.stars.Peek(key); ok && old != s { // which took its place meanwhile
		db.dropArrays(old)
	}
	db.stars.Add(key, s)
}

// starKey is a text that only aggregations of the same over the same joins of the same snapshots have in common.
func starKey(n *plan.Join, a *plan.Aggregate, tables []*table.Table) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "%p ", t)
	}
	plan.Walk(n, func(n plan.Node, depth int) {
		fmt.Fprintln(&b, depth, n)
		for _, e := range plan.Exprs(n) {
			fmt.Fprintln(&b, expr.Identity(e))
		}
	})
	for _, k := range a.Keys {
		fmt.Fprintln(&b, "by", k, expr.Identity(k))
	}
	for _, g := range a.Aggs {
		fmt.Fprintln(&b, g, g.Reads(), expr.Identity(g.Argument()), expr.Identity(g.Filter))
	}
	return b.String()
}

// ofSubplans reports that a star has the rows of subplans, which no other statement has.
func (s *planned) ofSubplans() bool {
	return slices.ContainsFunc(plan.Scans(s.fragment.Join), func(n *plan.Scan) bool { return n.Of != nil })
}

// grouped is the aggregation over the rows of the join; without aggregates and keys where there is none.
func (s *planned) grouped() *plan.Aggregate {
	if f := s.fragment; f.Groups == nil && len(f.Aggs) > 0 {
		return &plan.Aggregate{Aggs: f.Aggs}
	} else if f.Groups != nil {
		return f.Groups
	}
	return nil
}

// scanned are the snapshots of the tables, a scan each.
func (s *planned) scanned() (list []*table.Table) {
	for _, scan := range s.scans {
		for i, r := range s.sources {
			if r == scan {
				list = append(list, s.tables[i])
			}
		}
	}
	return list
}

// joining is what the fragment joins, without the columns that are wanted.
func (s *planned) joining() (of joinorder.Spec, err error) {
	of = joinorder.Spec{Spec: join.Spec{Tables: s.scanned(), Way: s.db.now().join, ChunkRows: s.db.chunkRows()}}
	budget, err := s.db.hostBudget()
	if of.Memory = s.db.freeBytes; budget > 0 {
		of.Memory = func() int64 { return budget }
	}
	return of, err
}

// withJoin is the statement for the table of the rows that its joins give, which stays on devices until done is called. What devices take
// for that is added to took. Where compute aggregates the rows, their columns may be on a device alone. They are not where another backend
// b is to aggregate; b is nil where none is chosen yet. Where a device fails on auto, or what it leaves there has no room in host memory,
// cpu joins.
func (s *planned) withJoin(ctx context.Context, b backends.Backend, took *querystats.Collector) (joined *planned, done func(), err error) {
	pairing := &gpujoin.Pairing{View: s.db.view(), Watch: s.watch, Took: took}
	if s.db.assigns() {
		if pairing.Plan, err = s.assignment(); err != nil {
			return nil, nil, err
		}
	}
	joined, done, err = s.joinedBy(ctx, pairing, b)
	fails := s.db.Backend() == "auto" && (errors.Is(err, glctx.ErrFault) || errors.Is(err, gpujoin.ErrRowsLost))
	if fails || pairing.Plan != nil && pairing.Holds != nil && errors.As(err, new(*join.TooLarge)) {
		return s.joinedBy(ctx, nil, b)
	}
	return joined, done, err
}

// joinedBy is withJoin with the pairs that a device finds, where who looks for them is not nil.
func (s *planned) joinedBy(ctx context.Context, pairing *gpujoin.Pairing, b backends.Backend) (joined *planned, done func(), err error) {
	of, err := s.joining()
	if err != nil {
		return nil, nil, err
	}
	of.Columns, of.AtMost, of.Above = s.fragment.Reads(), rules.LimitHint(s.tree), plan.Conjuncts(s.fragment.Where)
	seen, nodes := map[plan.Node]int{}, []plan.Node(nil)
	plan.Walk(s.fragment.Join, func(n plan.Node, _ int) { nodes = append(nodes, n) })
	of.RowCounts = func(at, rows int) { seen[nodes[at]] = rows }
	release := pairing.Close
	defer func() { release() }()
	if pairing != nil {
		pairing.Memory = of.Room()
	}
	name := s.db.Backend()
	switch {
	case pairing == nil:
	case name == "compute":
		of.Pairs, of.Declined = pairing.Find, pairing.Declined
	case pairing.Plan != nil:
		of.Pairs, of.Resumes = pairing.Chosen, pairing.Resumes
	}
	if of.Pairs != nil && s.watch == nil { // who looks at passes sees what one join gives to the next
		of.Hold = pairing
		if name != "both" && s.aggregates() && (b == nil || onDevice(b)) {
			of.Stays = func(t *table.Table) bool { return s.fitsDevice(ctx, t) }
		}
	}
	t, steps, away, err := joinorder.Join(ctx, s.db.backends.CPU.(backends.CPU).Backend, s.fragment.Join, of)
	if err != nil {
		return nil, nil, err
	}
	joined = &planned{Statement: s.Statement, tables: s.tables, joined: pairing.Steps(steps), joinedOn: "cpu", joinedRows: seen, away: away}
	if pairing != nil {
		joined.joined = slices.Concat(pairing.Plan.Steps(), joined.joined)
		switch {
		case pairing.Shared:
			joined.joinedOn = "compute and cpu"
		case len(pairing.Ran) > 0:
			joined.joinedOn = "compute"
		}
	}
	if err := joined.lower(t); err != nil {
		return nil, nil, err
	}
	done = s.db.pinned(t)
	if away != nil {
		done, release = both(done, pairing.Close), func() {}
	}
	return joined, done, nil
}

// fetchToHost is the statement for the same rows in host memory, where their columns are on a device alone. Those that a device has lost are
// joined again on auto.
func (s *planned) fetchToHost(ctx context.Context) (now *planned, done func(), err error) {
	t, err := s.away.Table(ctx)
	if err != nil && ctx.Err() == nil && s.db.Backend() == "auto" {
		return (&planned{Statement: s.Statement, tables: s.tables}).joinedBy(ctx, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	now = &planned{Statement: s.Statement, tables: s.tables, joined: s.joined, joinedOn: s.joinedOn, joinedRows: s.joinedRows}
	if err := now.lower(t); err != nil {
		return nil, nil, err
	}
	return now, s.db.pinned(t), nil
}

// aggregates reports that nothing but aggregates and groups are asked of the fragment's rows.
func (s *Statement) aggregates() bool {
	only := len(s.fragment.Aggs) > 0 || s.fragment.Groups != nil
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		switch n.(type) {
		case *plan.GroupingSets, *plan.CountDistinct:
			only = false
		}
	})
	return only
}

// fitsDevice reports that compute does the statement as a whole over a table whose columns are on a device alone, within its memory.
func (s *planned) fitsDevice(ctx context.Context, t *table.Table) (does bool) {
	q, err := physical.NewQuery(t, s.fragment)
	if err != nil || s.fragment.Fallback != nil && len(q.Aggs) == 0 {
		return false
	}
	var opening time.Duration
	err = s.db.view().On(ctx, "compute", &opening, func(b backends.Backend) error {
		p := b.(*backends.Passes)
		for _, of := range p.PartsOnce(q) {
			if q.Groups != nil {
				if done, err := p.FindGroups(&pass.Recorder{}, of.GPU, of.Query); !done || err != nil {
					return err
				}
			}
			if need, err := p.Footprint(of); err != nil || need > p.Room() {
				return err
			}
		}
		does = true
		return nil
	})
	return err == nil && does
}

// onDevice reports that a backend is compute, which has the columns that are on a device alone.
func onDevice(b backends.Backend) bool {
	v, ok := b.(*backends.Passes)
	return ok && v.Name() == "compute"
}

// supports is a [plan.Declined] where a backend does not have the statement's rows.
func (s *planned) supports(b backends.Backend) error {
	if s.away != nil && !onDevice(b) {
		return &plan.Declined{Why: "the rows of the joins are on a device"}
	}
	return nil
}

// fallsBack reports an error of a statement over rows on devices after which it runs over rows in host memory. The error of a row on one of
// several devices is such an error: only the host knows which row is first.
func (s *planned) fallsBack(err error) bool {
	ofRow := s.away != nil && len(s.plan.Table.Chunks) > 1 && errors.As(err, new(*expr.Error))
	return s.away != nil && (ofRow || plan.IsDeclined(err) || backends.Lacks(err) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDeviceMemory))
}

// adapt is the statement as a backend does it: of a star it takes the largest table, or the rows of the join.
func (s *planned) adapt(ctx context.Context, b backends.Backend, took *querystats.Collector) (now *planned, done func(), err error) {
	if s.star == nil {
		return s, func() {}, nil
	}
	if v, ok := b.(*backends.Passes); ok && devicepool.Algorithms[v.Name()].Groups != nil {
		err := s.star.Prepare(ctx)
		s.keepStar() // nor is what is declined looked at again
		if !plan.IsDeclined(err) {
			return s, func() {}, err
		}
	}
	return s.withJoin(ctx, b, took)
}
