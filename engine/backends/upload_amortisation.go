package backends

import (
	"sync"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/table"
)

// UploadAmortisation counts the queries that would have gained from something that has its price once: a
// column on the device, the device being open. A use by n queries is expected to be followed by n more and
// this one. So this query is charged with one part in n + 1 of the price. So a column is uploaded about when
// the time that queries have lost without it equals the time of the upload. In all, a workload takes at most
// about twice as long as if its queries had been known from the start.
type UploadAmortisation struct {
	mu sync.Mutex
	of map[Column]int
}

// Column is a column of a table.
type Column struct{ Table, Column string }

// Device stands for the open device among the columns.
var Device = Column{}

// Missing are the columns of a table that a backend would have to upload.
func Missing(t *table.Table, p cost.Prediction) (list []Column) {
	for _, c := range p.Missing {
		list = append(list, Column{t.Name, c})
	}
	return list
}

// Add counts a query that would have gained from things.
func (u *UploadAmortisation) Add(things ...Column) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range things {
		if u.of == nil {
			u.of = map[Column]int{}
		}
		u.of[t]++
	}
}

// Share is the part of the price of things that a query is charged with, by the least used.
func (u *UploadAmortisation) Share(price float64, things ...Column) float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	most := 0.0
	for _, t := range things {
		most = max(most, price/float64(1+u.of[t]))
	}
	return most
}
