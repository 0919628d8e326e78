package joinorder

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// armBuild is the build of an arm on the device, and how its slots are read.
type armBuild struct {
	*physical.Build
	codes map[int]codeDigit // by column of the join that is read, where slots are combinations of codes
	byRow int               // else the scan whose rows they are; negative for none
	links map[int]starLink  // by scan how it is joined to its parent
}

// starLink is the columns of a table of an arm and of its parent.
type starLink struct{ probe, build *expr.Column }

// codeDigit is a digit of a slot: what it is multiplied by, and how many values it has. The last one is NULL where the column has NULLs.
type codeDigit struct{ factor, size int }

// mostCodes is how many codes a key may have for each row of a table below the one that tells rows apart. The host looks its rows up
// by their codes.
const mostCodes = 16

// seemsUnique is the least share of different values, which are estimated, in a column of rows that no two have the same of. Where two have, the
// device finds out.
const seemsUnique = 0.9

// findBuilds has the device build the arms that it can.
func (s *Star) findBuilds() {
	for i, t := range s.arms {
		d := s.Dimensions[i]
		if t.built = s.buildOf(t); t.built == nil {
			continue
		}
		of := s.Column(t.probe.Index)
		d.Build, d.Base, d.Share, d.Size = t.built.Build, of.Base, 1, t.built.Slots()
	}
}

// buildOf is the build of an arm. It is nil where the host makes the arm. Such an arm has conditions of several tables, joins of its own
// that are not by keys, or tables of several chunks.
func (s *Star) buildOf(t *starArm) *armBuild {
	of := s.Column(t.probe.Index)
	if of == nil || of.Max >= maxPlaces || t.kind == plan.Anti && of.HasNulls {
		return nil
	}
	if t.kind == plan.Inner {
		if len(t.conditions) != len(t.scans)-1 {
			return nil
		}
		b := &armBuild{codes: map[int]codeDigit{}, byRow: -1, links: map[int]starLink{}}
		if s.combinations(t) > physical.MaxBuildSlots {
			b.byRow = s.determines(t)
		}
		if b.Build = s.buildOfScan(t, b, t.scans[0], t.filters[t.scans[0]], t.build, of, true, 1); b.Build == nil {
			return nil
		}
		return b
	}
	b := &armBuild{byRow: -1}
	if b.Build = s.setOfKeys(t, b, t.of, t.build, of); b.Build == nil {
		return nil
	}
	return b
}

// setOfKeys is the build of a semi or an anti join with a table; nil where the host makes it.
func (s *Star) setOfKeys(t *starArm, b *armBuild, a attached, key *expr.Column, of *join.Column) *physical.Build {
	_, where, ok := selectedScan(a.right)
	if !ok {
		return nil
	}
	build := s.buildOfScan(t, b, a.scan, where, key, of, false, 1)
	if build != nil {
		build.Anti = a.kind == plan.Anti
	}
	return build
}

// attachedTo is the build of a semi or an anti join whose left side is a table of an arm. It is nil where the host makes the arm.
func (s *Star) attachedTo(t *starArm, b *armBuild, a attached, scan int, probe, build *expr.Column) *physical.Dimension {
	of := s.Column(probe.Index)
	if of == nil || of.Max >= maxPlaces || of.Type.Kind == table.Varchar || a.kind == plan.Anti && of.HasNulls {
		return nil
	}
	set := s.setOfKeys(t, b, a, build, of)
	if set == nil {
		return nil
	}
	return &physical.Dimension{Name: a.kind.String() + " " + s.scanName(a.scan), On: a.on[0].String(), Col: probe.Index - s.Scans[scan].First, Base: of.Base, Share: 1, Size: 1, Build: set}
}

// keysOf are the columns of the one equality of a semi or an anti join, that of the left side first.
func (s *Star) keysOf(a attached) (probe, build *expr.Column, ok bool) {
	if len(a.on) != 1 {
		return nil, nil, false
	}
	l, r, ok := plan.EquiJoinKey(a.on[0])
	if !ok {
		return nil, nil, false
	}
	probe, _ = l.(*expr.Column)
	build, _ = r.(*expr.Column)
	if probe == nil || build == nil || join.NewKey(probe, build, a.on[0]).How != join.ByOrdinal {
		return nil, nil, false
	}
	if s.ScanOf(build.Index) != a.scan {
		probe, build = build, probe
	}
	return probe, build, s.ScanOf(build.Index) == a.scan && s.ScanOf(probe.Index) != a.scan
}

// combinations is how many combinations of codes what is read of an arm may have.
func (s *Star) combinations(t *starArm) float64 {
	all := 1.0
	for _, c := range t.reads {
		of := s.Column(c)
		if of == nil {
			return math.Inf(1)
		}
		if all *= float64(of.Max) + 1; of.HasNulls {
			all *= (float64(of.Max) + 2) / (float64(of.Max) + 1)
		}
	}
	return all
}

// buildOfScan is the build of a table of an arm by a column. Its places are those of the column of. What tells its slots apart is multiplied
// by a factor in those of the arm.
func (s *Star) buildOfScan(t *starArm, b *armBuild, scan int, where expr.Expr, key *expr.Column, of *join.Column, unique bool, factor int) *physical.Build {
	in := s.Scans[scan]
	if len(in.Chunks) != 1 || slices.ContainsFunc(in.Chunks[0].Segments, func(seg *table.Segment) bool { return seg != nil && away(seg) }) {
		return nil
	}
	local := func(c int) int { return c - in.First }
	chunk := in.Chunks[0]
	seg := chunk.Segments[local(key.Index)]
	if seg == nil || seg.Type.Kind == table.Varchar || seg.Codes.U64 != nil || unique && float64(seg.Distinct()) < seemsUnique*float64(seg.NonNull()) {
		return nil
	}
	a := &plan.Aggregate{}
	for _, c := range t.reads {
		if s.ScanOf(c) != scan || b.byRow >= 0 || slices.ContainsFunc(a.Keys, func(k expr.Expr) bool { return k.(*expr.Column).Index == local(c) }) {
			continue
		}
		seg := chunk.Segments[local(c)]
		if seg == nil || seg.Codes.U64 != nil || seg.NegativeZeros != nil {
			return nil
		}
		a.Keys = append(a.Keys, &expr.Column{Index: local(c), Name: s.Fields[c].Name, T: s.Fields[c].Type, P: -1})
	}
	q, err := physical.NewQuery(in.Table, &plan.Fragment{Table: in.Name, Where: where, Groups: a})
	if err != nil || q.RequireNoScalar() != nil || len(q.Chunks[0].Checks) > 0 {
		return nil
	}
	keys, err := q.GroupKeys(0)
	if err != nil {
		return nil
	}
	for _, k := range keys {
		b.codes[k.Col+in.First] = codeDigit{factor, k.Size}
		factor *= k.Size
	}
	for _, child := range t.scans {
		if parent, ok := t.parents[child]; !unique || !ok || parent != scan {
			continue
		}
		d := s.childOf(t, b, scan, child, factor)
		if d == nil {
			return nil
		}
		q.Star = append(q.Star, d)
		factor *= d.Size
	}
	for _, a := range t.attached {
		probe, build, ok := s.keysOf(a)
		if !ok {
			return nil
		}
		if !unique || s.ScanOf(probe.Index) != scan {
			continue
		}
		d := s.attachedTo(t, b, a, scan, probe, build)
		if d == nil {
			return nil
		}
		q.Star = append(q.Star, d)
	}
	return &physical.Build{Query: q, ByRow: scan == b.byRow && unique, Key: local(key.Index), Places: int(of.Max) + 1, Unique: unique}
}

// childOf is the build of a table of an arm that is joined to another one of it; nil where the host makes the arm.
func (s *Star) childOf(t *starArm, b *armBuild, parent, child, factor int) *physical.Dimension {
	for _, e := range t.conditions {
		l, r, _ := plan.EquiJoinKey(e)
		probe, _ := l.(*expr.Column)
		build, _ := r.(*expr.Column)
		if probe == nil || build == nil || join.NewKey(probe, build, e).How != join.ByOrdinal {
			continue
		}
		if s.ScanOf(probe.Index) != parent {
			probe, build = build, probe
		}
		if s.ScanOf(probe.Index) != parent || s.ScanOf(build.Index) != child {
			continue
		}
		of := s.Column(probe.Index)
		if of == nil || of.Max >= maxPlaces || of.Type.Kind == table.Varchar {
			return nil
		}
		b.links[child] = starLink{probe, build}
		below := s.buildOfScan(t, b, child, t.filters[child], build, of, true, factor)
		if below == nil {
			return nil
		}
		if key := s.segment(build.Index); b.byRow >= 0 && key.Max/mostCodes > uint64(key.Rows()) {
			return nil
		}
		return &physical.Dimension{Name: s.scanName(child), On: e.String(), Col: probe.Index - s.Scans[parent].First, Base: of.Base, Share: 1, Size: below.Slots(), Build: below}
	}
	return nil
}

// columnOfSlots is a column of an arm that the device builds, by slot. It is a [plan.Declined] where a key does not tell which row it is of.
func (s *Star) columnOfSlots(t *starArm, c int, slots []uint32) (*table.Segment, error) {
	seg := s.segment(c)
	if t.built.byRow >= 0 {
		rows, err := s.rowsBelow(t, s.ScanOf(c), slots)
		if err != nil {
			return nil, err
		}
		return join.Picked(seg, rows), nil
	}
	digit := t.built.codes[c]
	out := &table.Segment{Type: seg.Type, Base: seg.Base, Max: seg.Max, Bits: seg.Bits, Dict: seg.Dict, Spans: seg.Spans, Codes: table.Codes{U32: make([]uint32, len(slots))}}
	if seg.Nulls > 0 {
		out.Valid = table.NewBitmap(len(slots))
	}
	for i, slot := range slots {
		code := slot / uint32(digit.factor) % uint32(digit.size)
		switch {
		case seg.Nulls == 0:
			out.Codes.U32[i] = code
		case int(code) == digit.size-1:
			out.Nulls++
		default:
			out.Codes.U32[i] = code
			out.Valid.Set(i)
		}
	}
	return out, nil
}

// segment is a column of a table of one chunk.
func (s *Star) segment(c int) *table.Segment {
	scan := s.Scans[s.ScanOf(c)]
	return scan.Chunks[0].Segments[c-scan.First]
}

// rowsBelow is the rows of a table of an arm that rows of the one that tells them apart are joined to.
func (s *Star) rowsBelow(t *starArm, scan int, rows []uint32) ([]uint32, error) {
	if scan == t.built.byRow {
		return rows, nil
	}
	link := t.built.links[scan]
	above, err := s.rowsBelow(t, t.parents[scan], rows)
	if err != nil {
		return nil, err
	}
	build, probe, chunk := s.segment(link.build.Index), s.segment(link.probe.Index), s.Scans[scan].Chunks[0]
	codes := make([]uint64, len(above))
	for i, row := range above {
		codes[i] = probe.Base + probe.Codes.At(int(row)) - build.Base
	}
	out, ok := rowsOfCodes(build, chunk, codes)
	if !ok {
		return nil, &plan.Declined{Why: fmt.Sprintf("%s has several rows of the same %s", s.scanName(scan), link.build)}
	}
	return out, nil
}

// rowsOfCodes are the rows that have some codes of a key in a chunk. ok is false where several rows have one of these codes. A code that no row has
// gives any row.
func rowsOfCodes(key *table.Segment, chunk *table.Chunk, codes []uint64) (rows []uint32, ok bool) {
	wanted := table.NewBitmap(int(key.Max) + 1)
	for _, code := range codes {
		wanted.Set(int(code))
	}
	before := make([]uint32, len(wanted)) // wanted codes before those of each word
	n := uint32(0)
	for i, word := range wanted {
		before[i] = n
		n += uint32(bits.OnesCount64(word))
	}
	place := func(code uint64) uint32 {
		return before[code>>6] + uint32(bits.OnesCount64(wanted[code>>6]&(1<<(code&63)-1)))
	}
	var live []uint8
	if chunk.Deleted > 0 {
		live = chunk.Segments[len(chunk.Segments)-1].Codes.U8
	}
	at, twice := make([]uint32, n), atomic.Bool{} // rows from 1 on
	table.InParts(key.Rows(), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			if key.IsNull(row) || live != nil && live[row] == 0 {
				continue
			}
			if code := key.Codes.At(row); wanted.Get(int(code)) && !atomic.CompareAndSwapUint32(&at[place(code)], 0, uint32(row)+1) {
				twice.Store(true)
			}
		}
	})
	if twice.Load() {
		return nil, false
	}
	rows = make([]uint32, len(codes))
	for i, code := range codes {
		rows[i] = max(1, at[place(code)]) - 1
	}
	return rows, true
}

// away reports a column that is on one of the devices alone.
func away(seg *table.Segment) bool {
	_, away := seg.Away()
	return away
}
