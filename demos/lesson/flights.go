package lesson

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
	"github.com/stencildb/stencildb/textures"
)

// Load returns the embedded flights, in the order of the file.
var Load = sync.OnceValues(func() (*table.Table, error) {
	return ingest.Load(context.Background(), "flights", ingest.Source{Path: "flights.parquet", Data: testdata.Flights200k}, ingest.Options{})
})

// Flights returns the first rows of the embedded flights in an order that makes
// regions visible: sorted by delay and cut into lines of the texture, each line
// sorted by distance. So delay grows downwards, distance to the right.
func Flights(rows int) (*table.Table, error) {
	all, err := Load()
	if err != nil {
		return nil, err
	}
	s := all.Chunks[0].Segments
	order := make([]int, min(rows, all.Chunks[0].Rows))
	for i := range order {
		order[i] = i
	}
	by := func(col int) func(a, b int) int {
		return func(a, b int) int { return int(s[col].Codes.At(a)) - int(s[col].Codes.At(b)) }
	}
	slices.SortFunc(order, by(0))
	for line := range slices.Chunk(order, textures.ShapeOf(len(order)).Width) {
		slices.SortFunc(line, by(1))
	}
	b := table.NewBuilder(all.Name, all.Fields, 0)
	for _, row := range order {
		for col := range all.Fields {
			b.Column(col).Value(s[col].Value(row))
		}
		if err := b.EndRow(); err != nil {
			return nil, err
		}
	}
	return b.Table(), nil
}

// all is every flight, for the lessons.
var all = sync.OnceValues(func() (*table.Table, error) { return Flights(math.MaxInt) })
