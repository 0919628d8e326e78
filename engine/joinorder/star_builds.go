package joinorder

import (
	"slices"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// armBuild is the build of an arm on the device, and how a combination of codes is read.
type armBuild struct {
	*physical.Build
	codes map[int]codeDigit // by column of the join that is read
}

// codeDigit is a digit of a combination: what it is multiplied by, and how many values it has. The last one is NULL where the column has NULLs.
type codeDigit struct{ factor, size int }

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
	if of == nil || of.Max >= maxPlaces || len(t.attached) > 0 || t.kind == plan.Anti && of.HasNulls {
		return nil
	}
	if t.kind == plan.Inner {
		if len(t.conditions) != len(t.scans)-1 {
			return nil
		}
		return s.buildOfScan(t, t.scans[0], t.filters[t.scans[0]], t.build, of, true)
	}
	n, where := t.of.right, expr.Expr(nil)
	if f, ok := n.(*plan.Filter); ok {
		n, where = f.Input, f.Where
	}
	if _, ok := n.(*plan.Scan); !ok {
		return nil
	}
	return s.buildOfScan(t, t.of.scan, where, t.build, of, false)
}

// buildOfScan is the build of a table of an arm by a column, whose places are those of the column of.
func (s *Star) buildOfScan(t *starArm, scan int, where expr.Expr, key *expr.Column, of *join.Column, unique bool) *armBuild {
	in := s.Scans[scan]
	if len(in.Chunks) != 1 || slices.ContainsFunc(in.Chunks[0].Segments, func(seg *table.Segment) bool { return seg != nil && away(seg) }) {
		return nil
	}
	local := func(c int) int { return c - in.First }
	chunk := in.Chunks[0]
	if seg := chunk.Segments[local(key.Index)]; seg == nil || seg.Type.Kind == table.Varchar || seg.Codes.U64 != nil {
		return nil
	}
	a := &plan.Aggregate{}
	for _, c := range t.reads {
		if s.ScanOf(c) != scan || slices.ContainsFunc(a.Keys, func(k expr.Expr) bool { return k.(*expr.Column).Index == local(c) }) {
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
	b := &armBuild{Build: &physical.Build{Query: q, Key: local(key.Index), Places: int(of.Max) + 1, Unique: unique, Anti: t.kind == plan.Anti}, codes: map[int]codeDigit{}}
	keys, err := q.GroupKeys(0)
	if err != nil {
		return nil
	}
	size := 1
	for _, k := range keys {
		b.codes[k.Col+in.First] = codeDigit{size, k.Size}
		size *= k.Size
	}
	for _, child := range t.scans {
		if parent, ok := t.parents[child]; !unique || !ok || parent != scan {
			continue
		}
		d, more := s.childOf(t, scan, child)
		if d == nil {
			return nil
		}
		for c, digit := range more.codes {
			b.codes[c] = codeDigit{size * digit.factor, digit.size}
		}
		q.Star = append(q.Star, d)
		size *= d.Size
	}
	if size > physical.MaxBuildSlots {
		return nil
	}
	return b
}

// childOf is the build of a table of an arm that is joined to another one of it; nil where the host makes the arm.
func (s *Star) childOf(t *starArm, parent, child int) (*physical.Dimension, *armBuild) {
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
			return nil, nil
		}
		b := s.buildOfScan(t, child, t.filters[child], build, of, true)
		if b == nil {
			return nil, nil
		}
		return &physical.Dimension{Name: s.scanName(child), On: e.String(), Col: probe.Index - s.Scans[parent].First, Base: of.Base, Share: 1, Size: b.Slots(), Build: b.Build}, b
	}
	return nil, nil
}

// codesOf is a column of an arm that the device builds, by combination.
func (s *Star) codesOf(t *starArm, c int, combos []uint32) *table.Segment {
	scan := s.Scans[s.ScanOf(c)]
	seg, digit := scan.Chunks[0].Segments[c-scan.First], t.built.codes[c]
	out := &table.Segment{Type: seg.Type, Base: seg.Base, Max: seg.Max, Bits: seg.Bits, Dict: seg.Dict, Spans: seg.Spans, Codes: table.Codes{U32: make([]uint32, len(combos))}}
	if seg.Nulls > 0 {
		out.Valid = table.NewBitmap(len(combos))
	}
	for i, combo := range combos {
		code := combo / uint32(digit.factor) % uint32(digit.size)
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
	return out
}

// away reports a column that is on one of the devices alone.
func away(seg *table.Segment) bool {
	_, away := seg.Away()
	return away
}
