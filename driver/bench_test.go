package driver_test

import (
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

// BenchmarkDurableRows inserts and commits single rows, each synced to disk, by one goroutine and by 32. It goes through database/sql
// in a folder of stencildb. SQLite stands beside it, in its WAL mode with synchronous=FULL.
func BenchmarkDurableRows(b *testing.B) {
	for _, peer := range []struct{ name, driver, source string }{
		{"stencildb", "stencildb", "db?backend=cpu"},
		{"sqlite", "sqlite3", "db?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=60000&_txlock=immediate"},
	} {
		for _, clients := range []string{"alone", "32 at once"} {
			b.Run(peer.name+"/"+clients, func(b *testing.B) {
				db, err := sql.Open(peer.driver, filepath.Join(b.TempDir(), peer.source))
				if err != nil {
					b.Fatal(err)
				}
				defer db.Close()
				if _, err := db.Exec("CREATE TABLE t (k bigint PRIMARY KEY, v bigint, s text)"); err != nil {
					b.Fatal(err)
				}
				insert, err := db.Prepare("INSERT INTO t VALUES ($1, $2, 'a text')")
				if err != nil {
					b.Fatal(err)
				}
				defer insert.Close()
				var next atomic.Int64
				one := func() {
					k := next.Add(1)
					if _, err := insert.Exec(k, k*k); err != nil {
						b.Error(err)
					}
				}
				b.ResetTimer()
				if clients == "alone" {
					for b.Loop() {
						one()
					}
				} else {
					b.SetParallelism(16) // of two cores
					b.RunParallel(func(p *testing.PB) {
						for p.Next() {
							one()
						}
					})
				}
				b.ReportMetric(float64(next.Load())/b.Elapsed().Seconds(), "commits/s")
			})
		}
	}
}
