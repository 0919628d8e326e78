package engine

import (
	"sync"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/table"
)

// uploadAmortisation counts the queries that would have gained from something that has its price once: a
// column on the device, the device being open. A use by n queries is expected to be followed by n more and
// this one. So this query is charged with one part in n + 1 of the price. So a column is uploaded about when
// the time that queries have lost without it equals the time of the upload. In all, a workload takes at most
// about twice as long as if its queries had been known from the start.
type uploadAmortisation struct {
	mu sync.Mutex
	of map[columnOf]int
}

// columnOf is a column of a table.
type columnOf struct{ table, column string }

// device stands for the open device among the columns.
var device = columnOf{}

// missing are the columns of a table that a backend would have to upload.
func missing(t *table.Table, p cost.Prediction) (list []columnOf) {
	for _, c := range p.Missing {
		list = append(list, columnOf{t.Name, c})
	}
	return list
}

func (u *uploadAmortisation) add(things ...columnOf) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range things {
		u.of[t]++
	}
}

// share is the part of the price of things that a query is charged with, by the least used.
func (u *uploadAmortisation) share(price float64, things ...columnOf) float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	most := 0.0
	for _, t := range things {
		most = max(most, price/float64(1+u.of[t]))
	}
	return most
}
