package kth

import (
	"context"
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

func TestTheMedianIsTheValueOfItsRank(t *testing.T) {
	for n := uint64(1); n < 7; n++ {
		b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 0)
		for i := range n {
			b.Column(0).Int(int64(i * i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		db, err := engine.Open(engine.Options{Backend: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := db.Add(b.Table()); err != nil {
			t.Fatal(err)
		}
		r, err := engine.Collect(db.Query(context.Background(), fmt.Sprintf("SELECT MEDIAN(x), kth_largest(x, %d) FROM t", medianRank(n))))
		if err != nil {
			t.Fatal(err)
		}
		if median, kth := r.Rows[0][0], r.Rows[0][1]; table.Compare(median, kth) != 0 {
			t.Errorf("of %d values the median is %v, but number %d from the top is %v", n, median, medianRank(n), kth)
		}
	}
}
