package engine

import (
	"sync"

	"github.com/stencildb/stencildb/table"
)

// uses counts the queries that would have gained from something that has its price
// once: a column on the device, the device being open. What n queries had a use for
// is expected to serve n more and this one, and this query is charged with one part
// in n + 1 of the price. So a column is uploaded about when the time that queries
// have lost without it is what the upload takes: in all, a workload takes at most
// about twice as long as if its queries had been known from the start.
type uses struct {
	mu      sync.Mutex
	columns map[tableColumn]int
	device  int
}

type tableColumn struct {
	table *table.Table
	col   int
}

// add counts a query that would have gained from columns, and from an open device.
func (u *uses) add(t *table.Table, cols []int, device bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.columns == nil {
		u.columns = map[tableColumn]int{}
	}
	for _, c := range cols {
		u.columns[tableColumn{t, c}]++
	}
	if device {
		u.device++
	}
}

// spread returns by how much to divide the price of the columns, of which the least
// used counts, and that of the device.
func (u *uses) spread(t *table.Table, cols []int) (columns, device float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	least := 0
	for i, c := range cols {
		if n := u.columns[tableColumn{t, c}]; i == 0 || n < least {
			least = n
		}
	}
	return float64(1 + least), float64(1 + u.device)
}
