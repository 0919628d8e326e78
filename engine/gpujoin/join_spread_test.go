package gpujoin

import (
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/plan/physical"
)

// The pairs of several devices go one after the other. Rows of a table go by their numbers. Places in lists that devices have parts of
// go by those in the whole list. Where one device has only counted its pairs, all are only counted.
func TestMergedPairs(t *testing.T) {
	s := &backends.Devices{Pool: &devicepool.Pool{GPUs: []*devicepool.GPU{{}, {}, {}}}}
	list := keptList(s, []*physical.Held{{N: 10}, nil, {N: 5}})
	for _, c := range []struct {
		of   physical.RowIDs // the divided side's
		rows [2][]uint32     // of the last device
		want physical.JoinPairs
	}{
		{physical.RowIDs{}, [2][]uint32{{7, 8}, {9, 9}}, physical.JoinPairs{N: 3, Selected: [2]int{8, 3}, Rows: [2][]uint32{{1, 7, 8}, {2, 9, 9}}}},
		{physical.RowIDs{Held: list}, [2][]uint32{{3, 4}, {9, 9}}, physical.JoinPairs{N: 3, Selected: [2]int{8, 3}, Rows: [2][]uint32{{1, 13, 14}, {2, 9, 9}}}},
		{physical.RowIDs{Held: list}, [2][]uint32{}, physical.JoinPairs{N: 3, Selected: [2]int{8, 3}}},
	} {
		q := &physical.JoinQuery{RowIDs: [2]physical.RowIDs{c.of}}
		parts := []*pairPart{
			{Q: withLists(q, 0, func(l physical.RowIDs) physical.RowIDs { return onOne(l, 0) }), Found: physical.JoinPairs{N: 1, Selected: [2]int{4, 3}, Rows: [2][]uint32{{1}, {2}}}},
			{Device: 2, Q: withLists(q, 0, func(l physical.RowIDs) physical.RowIDs { return onOne(l, 2) }), Found: physical.JoinPairs{N: 2, Selected: [2]int{4, 3}, Rows: c.rows}},
		}
		if got := mergedPairs(s, q, parts, 0); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
