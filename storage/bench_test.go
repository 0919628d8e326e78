package storage

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// begun is a store with an empty table t of each type.
func begun(b *testing.B, dir string) *database {
	b.Helper()
	db, err := openIn(dir)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkCommit commits rows one by one, each synced, from one goroutine and from many.
func BenchmarkCommit(b *testing.B) {
	work := func(b *testing.B, each func(b *testing.B, commit func())) {
		db := begun(b, filepath.Join(b.TempDir(), "db"))
		row := db.rows(rand.New(rand.NewPCG(1, 1)), db.tables["t"], 1)
		b.ResetTimer()
		each(b, func() {
			p, err := db.Append([]Change{{Table: "t", Append: []*table.Chunk{row}}})
			if err == nil {
				err = p.Wait()
			}
			if err != nil {
				b.Error(err)
			}
		})
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		work(b, func(b *testing.B, commit func()) {
			for b.Loop() {
				commit()
			}
		})
	})
	b.Run("many", func(b *testing.B) {
		work(b, func(b *testing.B, commit func()) {
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					commit()
				}
			})
		})
	})
}

// BenchmarkOpen reads a log of commits of one row.
func BenchmarkOpen(b *testing.B) {
	const commits = 20_000
	for name, change := range map[string]func(i int) Change{
		"inserted": func(int) Change { return Change{} },
		"deleted":  func(i int) Change { return Change{Delete: []int{i}} },
		"updated": func(i int) Change {
			return Change{Update: []Update{{Column: 0, Rows: []int{i}, Values: table.SegmentOf(table.Int(0).Type, table.Int(int64(i)))}}}
		},
	} {
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "db")
			db := begun(b, dir)
			r := rand.New(rand.NewPCG(1, 1))
			err := db.commit(Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], 200_000)}})
			one := db.rows(r, db.tables["t"], 1)
			for i := 0; i < commits && err == nil; i++ {
				c := change(i)
				if c.Table = "t"; len(c.Delete)+len(c.Update) == 0 {
					c.Append = []*table.Chunk{one}
				}
				_, err = db.Append([]Change{c})
			}
			if err == nil {
				err = db.Close()
			}
			for b.Loop() {
				if err == nil {
					db, err = openIn(dir)
				}
				if err == nil {
					err = db.Close()
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/commits, "ns/commit")
		})
	}
}
