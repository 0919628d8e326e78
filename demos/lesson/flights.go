package lesson

import (
	"cmp"
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

// Flights returns the first rows of the embedded flights in an order that makes regions visible. They are
// sorted by delay and cut into lines of the picture, each line sorted by distance. So delay grows downwards,
// distance to the right.
func Flights(rows int) (*table.Table, error) {
	all, err := Load()
	if err != nil {
		return nil, err
	}
	order := make([]int, min(rows, all.Chunks[0].Rows))
	for i := range order {
		order[i] = i
	}
	return arranged(all, order)
}

// Sample returns rows of the embedded flights, 2 or more, spread evenly over all by
// delay, in the order of [Flights]. Those with the extremes of an attribute are among
// them, so that a value has the code that it has among all.
func Sample(rows int) (*table.Table, error) {
	all, err := Load()
	if err != nil {
		return nil, err
	}
	order := make([]int, all.Chunks[0].Rows)
	for i := range order {
		order[i] = i
	}
	by := func(col int) func(a, b int) int {
		codes := all.Chunks[0].Segments[col].Codes
		return func(a, b int) int { return cmp.Or(cmp.Compare(codes.At(a), codes.At(b)), a-b) }
	}
	slices.SortFunc(order, by(0))
	picked := make([]int, rows)
	for i := range picked {
		picked[i] = order[i*(len(order)-1)/(rows-1)]
	}
	for col := range all.Fields {
		for _, row := range []int{slices.MinFunc(order, by(col)), slices.MaxFunc(order, by(col))} {
			if !slices.Contains(picked, row) { // it takes the place of its neighbour by delay
				picked[slices.Index(order, row)*(rows-1)/(len(order)-1)] = row
			}
		}
	}
	return arranged(all, picked)
}

// arranged returns rows of a table of one chunk in the order of [Flights].
func arranged(all *table.Table, rows []int) (*table.Table, error) {
	s := all.Chunks[0].Segments
	by := func(col int) func(a, b int) int {
		return func(a, b int) int { return int(s[col].Codes.At(a)) - int(s[col].Codes.At(b)) }
	}
	slices.SortFunc(rows, by(0))
	for line := range slices.Chunk(rows, textures.ViewOf(len(rows)).Width) {
		slices.SortFunc(line, by(1))
	}
	b := table.NewBuilder(all.Name, all.Fields, 0)
	for _, row := range rows {
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
