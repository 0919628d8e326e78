package engine_test

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// A table of three rows in CSV, and one query over it.
func Example() {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	err = db.AttachBytes(ingest.Source{Name: "trips", Path: "trips.csv"}, []byte("miles,fare\n3,12.5\n10,31\n1,7.25\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := engine.Collect(db.Query(context.Background(), "SELECT COUNT(*), MAX(fare) AS highest FROM trips WHERE miles > 2"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, c := range r.Columns {
		fmt.Println(c.Name, "=", r.Rows[0][i])
	}
	// Output:
	// count = 2
	// highest = 31
}
