package catalog

import (
	"maps"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// Snapshots counts the statements that run on each snapshot of a table. What is
// resident of a snapshot's segments is released when the last snapshot that has them is
// neither a table's any more nor in use.
type Snapshots struct {
	sync.Mutex
	uses map[*table.Table]int
}

// Use counts a statement on a snapshot. With s's lock.
func (s *Snapshots) Use(t *table.Table) {
	if s.uses == nil {
		s.uses = map[*table.Table]int{}
	}
	s.uses[t]++
}

// EndUse ends a statement's use of a snapshot. It reports that no other statement uses it. With s's lock.
func (s *Snapshots) EndUse(t *table.Table) bool {
	if s.uses[t]--; s.uses[t] > 0 {
		return false
	}
	delete(s.uses, t)
	return true
}

// InUse is how many statements use a snapshot. With s's lock.
func (s *Snapshots) InUse(t *table.Table) int { return s.uses[t] }

// Len is how many snapshots are in use. With s's lock.
func (s *Snapshots) Len() int { return len(s.uses) }

// Free reports segments of a table's snapshot that no other table and no statement has. A change of the table may write to
// them in place. tables are those that there are now. With s's lock, until it has.
func (s *Snapshots) Free(t *table.Table, tables []*table.Table) table.Free {
	each := func(do func(*table.Segment)) {
		of := func(t *table.Table) {
			for _, c := range t.Chunks {
				for _, seg := range c.Segments {
					do(seg)
				}
			}
		}
		of(t) // of which two chunks may share one
		for _, other := range tables {
			if other != t {
				of(other)
			}
		}
		for other := range s.uses {
			of(other)
		}
	}
	var uses map[*table.Segment]int
	few := 4 // that are looked for one by one
	return func(seg *table.Segment) bool {
		if few--; few >= 0 {
			n := 0
			each(func(other *table.Segment) {
				if other == seg {
					n++
				}
			})
			return n == 1
		}
		if uses == nil {
			uses = map[*table.Segment]int{}
			each(func(seg *table.Segment) { uses[seg]++ })
		}
		return uses[seg] == 1
	}
}

// Unreferenced are the segments of a snapshot that neither one of tables, the present ones, nor a snapshot in use has. heirs are
// the segments that changes have made of them. With s's lock.
func (s *Snapshots) Unreferenced(t *table.Table, tables []*table.Table) (list []*table.Segment, heirs map[*table.Segment]*table.Segment) {
	dead, derived := map[*table.Segment]bool{}, map[*table.Segment]bool{}
	each := func(t *table.Table, dies bool) {
		for _, c := range t.Chunks {
			for _, seg := range c.Segments {
				switch {
				case seg == nil: // not read
				case dies:
					dead[seg] = true
				default:
					delete(dead, seg)
					if seg.Derived() {
						derived[seg] = true
					}
				}
			}
		}
	}
	each(t, true)
	for _, t := range tables {
		each(t, false)
	}
	for t := range s.uses {
		each(t, false)
	}
	if len(dead) == 0 {
		return nil, nil
	}
	return slices.Collect(maps.Keys(dead)), table.Heirs(dead, derived)
}
