package engine

import (
	"slices"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/gpujoin"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// assigned is an assignment, and what it was found by.
type assigned struct {
	*gpujoin.Assignment
	tables []*table.Table
	by     *configuration
	costs  *cost.Profile
	at     devicepool.Contents
}

// assigns reports that cpu and a device may each do a part of what the statement does with several tables.
func (db *DB) assigns() bool {
	name := db.Backend()
	return name == "both" || name == "auto" && db.backends.MayHaveHardware()
}

// assignment assigns the statement's operators: the same way as long as its tables, and what is resident, are the same.
func (s *planned) assignment() (*gpujoin.Assignment, error) {
	known, err := s.db.backends.Costs.Get()
	if err != nil {
		return nil, err
	}
	now := &assigned{tables: s.tables, by: s.db.now(), costs: known.Profile}
	if d, _, _ := s.db.backends.Now(); d != nil {
		now.at = d.Contents()
	}
	if old := s.assigned.Load(); old != nil && slices.Equal(old.tables, now.tables) && old.by == now.by && old.costs == now.costs && slices.Equal(old.at, now.at) {
		return old.Assignment, nil
	}
	tables := map[*plan.Scan]*table.Table{}
	for i, t := range s.scanned() {
		tables[plan.Scans(s.fragment.Join)[i]] = t
	}
	now.Assignment, err = s.assign(&stats.Estimates{Table: func(n *plan.Scan) *table.Table { return tables[n] }})
	if err != nil {
		return nil, err
	}
	if s.db.backends.Uploads.Add(now.Gains...); len(now.Gains) == 0 { // else the next execution is charged with less
		s.assigned.Store(now)
	}
	return now.Assignment, nil
}

// assign assigns the statement's operators by the rows that are expected of them.
func (s *Statement) assign(e *stats.Estimates) (*gpujoin.Assignment, error) {
	return gpujoin.NewAssignment(s.db.view(), s.fragment, s.db.now().join, s.aggregates(), e)
}
