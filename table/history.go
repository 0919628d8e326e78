package table

import (
	"slices"
	"sync/atomic"
)

// lastNumber is of the segments that others were made of.
var lastNumber atomic.Uint64

// ownNumber is the segment's number, from now on if it had none.
func (s *Segment) ownNumber() uint64 {
	if s.number.Load() == 0 {
		s.number.CompareAndSwap(0, lastNumber.Add(1))
	}
	return s.number.Load()
}

// What is kept of a segment's history: so many steps, and of rows that they name this part of all.
const (
	historySteps = 64
	historyPart  = 4
)

// follow notes that the segment is another one with some rows written, or with rows behind it.
func (s *Segment) follow(of *Segment, rows []uint32) {
	if of.known.Load() {
		planes := of.planes
		for _, r := range rows {
			planes |= s.Codes.At(int(r))
		}
		for i := of.Rows(); i < s.Rows(); i++ {
			planes |= s.Codes.At(i)
		}
		s.varying.Do(func() { s.planes = planes })
		s.known.Store(true)
	}
	list := append(slices.Clone(of.history), step{of.ownNumber(), rows})
	named := 0
	for i := len(list) - 1; i >= 0; i-- {
		if named += len(list[i].rows); named > s.Rows()/historyPart || len(list)-i > historySteps {
			list = list[i+1:]
			break
		}
	}
	s.history = list
}

// Derived reports that the segment has a history.
func (s *Segment) Derived() bool { return len(s.history) > 0 }

// Heirs are, of some segments, those that others were made of, with one of these.
func Heirs(of map[*Segment]bool, derived map[*Segment]bool) map[*Segment]*Segment {
	numbers, heirs := map[uint64]*Segment{}, map[*Segment]*Segment{}
	for s := range of {
		if n := s.number.Load(); n > 0 {
			numbers[n] = s
		}
	}
	for s := range derived {
		for _, step := range s.history {
			if old := numbers[step.of]; old != nil {
				heirs[old] = s
			}
		}
	}
	return heirs
}

// Since lists the rows in which the segment may have other codes, or NULL, than an earlier segment. Changes made it of the
// earlier one, within the same code space. The rows are ascending; those behind the last row of the earlier segment are
// not listed. ok is false where the changes are not known, or are too many.
func (s *Segment) Since(earlier *Segment) (rows []uint32, ok bool) {
	number := earlier.number.Load()
	for i := len(s.history) - 1; i >= 0 && number > 0; i-- {
		if s.history[i].of != number {
			continue
		}
		if i == len(s.history)-1 {
			return s.history[i].rows, true
		}
		marks := NewBitmap(earlier.Rows())
		for _, step := range s.history[i:] {
			for _, r := range step.rows {
				if int(r) < earlier.Rows() {
					marks.Set(int(r))
				}
			}
		}
		return marks.Rows(), true
	}
	return nil, false
}
