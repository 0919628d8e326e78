package gpujoin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// pairPart is what one device joins of two tables: the rows that it has of the one, and all rows of the other.
type pairPart struct {
	g      *devicepool.GPU
	Device int // its place among the devices
	Q      *physical.JoinQuery

	Found   physical.JoinPairs
	buckets bool // joined bucket by bucket
	steps   []backends.Step
}

// dividePairs divides a join among the devices. The rows of one side are joined where they are. The rows of the other side are on every
// device that has rows of the first. The side that is divided is the larger one of those that are on several devices. Of a join that asks
// for one pair of each left row it is the left side. Lists of the other side stay as they are.
func dividePairs(s *backends.Devices, q *physical.JoinQuery) (parts []*pairPart, side int) {
	q.Fields() // which parts have in common
	if left, right := several(rowsOnDevices(s, q, 0)), several(rowsOnDevices(s, q, 1)); !q.Exists && (right && !left || right == left && q.Rows(1) > q.Rows(0)) {
		side = 1
	}
	part := func(d int, of *physical.JoinQuery) {
		parts = append(parts, &pairPart{g: s.GPUs[d], Device: d, Q: withLists(of, side, func(l physical.RowIDs) physical.RowIDs { return onOne(l, d) })})
	}
	rows := rowsOnDevices(s, q, side)
	for d, n := range rows {
		switch {
		case n == 0:
		case q.RowIDs[side].Held == nil && several(rows):
			part(d, q.Part(side, devicepool.Place(q.Sides[side].Table, len(s.GPUs))[d]))
		default:
			part(d, q)
		}
	}
	if len(parts) == 0 {
		part(0, q)
	}
	return parts, side
}

// rowsOnDevices is how many rows of a side of a join each device has. It counts the lists that devices keep, or the chunks that are placed there.
func rowsOnDevices(s *backends.Devices, q *physical.JoinQuery, side int) []int {
	if h := q.RowIDs[side].Held; h != nil {
		return h.Parts
	}
	rows := make([]int, len(s.GPUs))
	for d, chunks := range devicepool.Place(q.Sides[side].Table, len(s.GPUs)) {
		for _, i := range chunks {
			rows[d] += q.Sides[side].Table.Chunks[i].Rows
		}
	}
	return rows
}

// several reports that more than one device has rows.
func several(rows []int) bool {
	n := 0
	for _, r := range rows {
		n += min(r, 1)
	}
	return n > 1
}

// withLists is a join whose lists of a side are others.
func withLists(q *physical.JoinQuery, side int, other func(physical.RowIDs) physical.RowIDs) *physical.JoinQuery {
	of := *q
	of.RowIDs[side] = other(of.RowIDs[side])
	if q.KeepOnDevice != nil {
		taken := *q.KeepOnDevice
		taken[side] = nil
		for _, l := range q.KeepOnDevice[side] {
			taken[side] = append(taken[side], other(l))
		}
		of.KeepOnDevice = &taken
	}
	return &of
}

// onOne is what one device has of a list.
func onOne(l physical.RowIDs, device int) physical.RowIDs {
	if l.Held != nil {
		l.Held = l.Held.On.([]*physical.Held)[device]
	}
	return l
}

// keptList is a list of which the devices have parts, nil for none.
func keptList(s *backends.Devices, parts []*physical.Held) *physical.Held {
	h := &physical.Held{Parts: make([]int, len(parts)), On: parts, By: s}
	for d, p := range parts {
		if p == nil {
			p = &physical.Held{On: primitives.Vector{}}
			parts[d] = p
		}
		h.Parts[d], h.N = p.N, h.N+p.N
	}
	return h
}

// keptLists are lists of which the devices have found their parts, those of one device in the same order as those of another.
func keptLists(s *backends.Devices, found [][]*physical.Held) (lists []*physical.Held) {
	n := 0
	for _, of := range found {
		n = max(n, len(of))
	}
	for k := range n {
		parts := make([]*physical.Held, len(s.GPUs))
		for d, of := range found {
			if of != nil {
				parts[d] = of[k]
			}
		}
		lists = append(lists, keptList(s, parts))
	}
	return lists
}

// mergedPairs are the pairs that the parts of a join have found. Where some part has only counted its pairs, all are only counted.
func mergedPairs(s *backends.Devices, q *physical.JoinQuery, parts []*pairPart, side int) (out physical.JoinPairs) {
	counted, first := false, 0
	var held [2][][]*physical.Held
	for i := range held {
		held[i] = make([][]*physical.Held, len(s.GPUs))
	}
	for _, p := range parts {
		f := &p.Found
		out.N += f.N
		out.Selected[side], out.Selected[1-side] = out.Selected[side]+f.Selected[side], f.Selected[1-side]
		counted = counted || f.N > 0 && f.Rows[0] == nil && !tookLists(f)
		for i := range held {
			held[i][p.Device] = f.Held[i]
			rows := f.Rows[i]
			if q.RowIDs[side].Held != nil && i == side { // places in the device's part of the list
				rows = backends.Shifted(rows, first)
			}
			if len(parts) > 1 {
				rows = append(out.Rows[i], rows...)
			}
			out.Rows[i] = rows
		}
		first += p.Q.RowIDs[side].Len()
	}
	switch {
	case counted:
		out.Rows = [2][]uint32{}
	case q.KeepOnDevice != nil:
		for i := range held {
			out.Held[i] = keptLists(s, held[i])
		}
	}
	return out
}

// tookLists reports that the rows that were to be taken are there.
func tookLists(found *physical.JoinPairs) bool { return found.Held[0] != nil || found.Held[1] != nil }

// joinedBy says how the parts of a join were joined: by which algorithms, and, where there are several devices, by which of them.
func joinedBy(s *backends.Devices, q *physical.JoinQuery, parts []*pairPart, side int) string {
	var ways, devices []string
	for _, p := range parts {
		way := pairWays[p.Found.Algorithm]
		if p.buckets {
			way += " in buckets"
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		devices = append(devices, strconv.Itoa(p.g.Context.Device().Index))
	}
	how := strings.Join(ways, " and ") + " on compute"
	switch {
	case len(s.GPUs) == 1:
	case len(parts) == 1:
		how += ", device " + devices[0]
	default:
		how += ", rows of " + q.Sides[side].Table.Name + " on devices " + strings.Join(devices, ", ")
	}
	return how
}

// pairWays are the algorithms that find pairs, by name.
var pairWays = map[string]string{"perfect": "perfect hash join (PHJ)", "hash": "hash join (HJ)", "merge": "sort-merge join (SMJ)", "loops": "non-indexed nested loops (NINLJ)", "index": "indexed nested loops (INLJ)"}
