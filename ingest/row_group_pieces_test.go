package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// A row group that the memory has no room for is read in pieces, in any order, some columns at a time. A sweep over all of them opens
// each column once.
func TestRowGroupsInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 50_000
	b := table.NewBuilder("t", []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}},
		{Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 12, Scale: 2}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}, {Name: "k", Type: table.Type{Kind: table.Integer}}}, 0)
	for row := range rows {
		for col, v := range []table.Value{table.Int(rng.Int64()), table.Float(rng.NormFloat64()), {Type: table.Type{Kind: table.Decimal, Precision: 12, Scale: 2}, I: rng.Int64N(1e12)},
			table.Str(fmt.Sprint("text ", rng.IntN(3000))), {Type: table.Type{Kind: table.Integer}, I: int64(row)}} {
			v.Null = col < 4 && rng.IntN(10) == 0
			b.Column(col).Value(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	want, dir := b.Table(), t.TempDir()
	for _, name := range []string{"t.parquet", "t.arrow"} {
		path := filepath.Join(dir, name)
		if err := WriteFile(context.Background(), path, want); err != nil {
			t.Fatal(err)
		}
		f, err := Open(context.Background(), "t", Source{Path: path}, Options{MemoryLimit: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		if f.Groups() < 5 {
			t.Fatalf("%s: %d groups", name, f.Groups())
		}
		starts, opened := []int{0}, map[int]int{}
		for i, g := range f.groups {
			starts = append(starts, starts[i]+g.Rows)
		}
		of := f.groups[0].Of
		column := of.Column
		var mu sync.Mutex
		tight := false
		of.Column = func(col int) (func(int) (arrow.Array, error), error) {
			mu.Lock()
			opened[col]++
			mu.Unlock()
			next, err := column(col)
			return func(n int) (arrow.Array, error) {
				if tight {
					_, _ = next(n / 2)
					panic(source.Damage("it asks for a piece that is too large"))
				}
				return next(n)
			}, err
		}
		check := func(groups, columns []int) {
			t.Helper()
			got, err := f.ReadGroups(context.Background(), groups, columns, Options{MemoryLimit: 10_000_000})
			if err != nil {
				t.Fatal(err)
			}
			first := 0
			for _, g := range groups {
				at := first
				for row := starts[g]; row < starts[g+1]; row, at = row+7, at+7 {
					for _, col := range columns {
						if a, b := got.Chunks[0].Segments[col].Value(at), want.Chunks[0].Segments[col].Value(row); a.String() != b.String() || a.Null != b.Null {
							t.Fatalf("%s: column %d of row %d is %v, not %v", name, col, row, a, b)
						}
					}
				}
				first += starts[g+1] - starts[g]
			}
		}
		all := want.All()
		tight = true
		if _, err := f.ReadGroups(context.Background(), []int{0}, []int{3}, Options{}); err == nil {
			t.Errorf("%s: a read without memory ends well", name)
		}
		tight = false
		check([]int{0}, []int{3})
		for range 2 {
			clear(opened)
			for g := range f.groups {
				check([]int{g}, all)
			}
			for col, n := range opened {
				if n > 1 && name == "t.parquet" {
					t.Errorf("%s: a sweep opens column %d %d times", name, col, n)
				}
			}
		}
		for range 20 {
			groups, columns := rng.Perm(f.Groups())[:1+rng.IntN(f.Groups())], rng.Perm(len(all))[:1+rng.IntN(len(all))]
			if slices.Sort(columns); rng.IntN(2) == 0 {
				slices.Sort(groups)
			}
			check(groups, columns)
		}
		var groups []int
		for g := range f.groups {
			groups = append(groups, g)
		}
		ctx, cancel := context.WithCancel(context.Background())
		if _, err := f.ReadGroups(ctx, groups, []int{1}, Options{Progress: func(Progress) { cancel() }}); err == nil {
			t.Error("a read that is ended ends well")
		}
		check(groups, []int{1})
		if whole, err := f.Read(context.Background(), all, Options{}); err != nil || whole.Rows() != rows || whole.Chunks[0].Segments[1].Value(777).String() != want.Chunks[0].Segments[1].Value(777).String() {
			t.Errorf("%s: %v", name, err)
		}
		if zones, ok := f.ZoneMaps([]int{4}); name == "t.parquet" && (!ok || len(zones.Chunks) != f.Groups()) {
			t.Errorf("the file tells of column k: %v", ok)
		}
		if zones, ok := f.ZoneMaps([]int{0}); ok {
			for i, c := range zones.Chunks {
				if s, want := c.Segments[0], table.InexactRange|table.InexactNulls; s.Inexact != want {
					t.Errorf("piece %d: inexact %d, want %d: the extremes and the NULLs are those of the whole group", i, s.Inexact, want)
				}
			}
		}
		f.Close()
		_ = os.Remove(path)
	}
}
