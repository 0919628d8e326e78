//go:build duckdb && duckdb_arrow

package duckdb

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/oracle/harness"
)

// BenchmarkArrowBeside reports what two columns of selected rows take as Arrow batches, here and
// through DuckDB's Arrow interface, in turns. It gives ms of the median, and a multiple of DuckDB's.
//
//	go test -tags egl,duckdb,duckdb_arrow -run - -bench ArrowBeside -benchtime 15x ./internal/oracle/duckdb
func BenchmarkArrowBeside(b *testing.B) {
	ctx := context.Background()
	t := harness.ChunkTables(b, 1)[0]
	connector, err := driver.NewConnector("", func(c sqldriver.ExecerContext) error {
		_, err := c.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS t AS SELECT (random() * 524288)::BIGINT AS x, (random() * 524288)::BIGINT AS y FROM range(%d)", t.Rows()), nil)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer connector.Close()
	conn, err := connector.Connect(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	peer, err := driver.NewArrowFromConn(conn)
	if err != nil {
		b.Fatal(err)
	}
	db, err := engine.Open(engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Add(t); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, sql string }{
		{"1 %", "SELECT x, y FROM t WHERE x < 5243"},
		{"10 %", "SELECT x, y FROM t WHERE x < 52429"},
		{"all", "SELECT x, y FROM t"},
	} {
		b.Run(c.name, func(b *testing.B) {
			ours := func() (n int64, err error) {
				rows, err := db.Query(ctx, c.sql)
				if err != nil {
					return 0, err
				}
				for batch, err := range rows.Batches() {
					if err != nil {
						return n, err
					}
					n += batch.NumRows()
					batch.Release()
				}
				return n, nil
			}
			theirs := func() (n int64, err error) {
				reader, err := peer.QueryContext(ctx, c.sql)
				if err != nil {
					return 0, err
				}
				defer reader.Release()
				for reader.Next() {
					n += reader.RecordBatch().NumRows()
				}
				return n, reader.Err()
			}
			times := make([][]time.Duration, 2)
			for range b.N {
				var n [2]int64
				for i, run := range []func() (int64, error){ours, theirs} {
					start := time.Now()
					if n[i], err = run(); err != nil {
						b.Fatal(err)
					}
					times[i] = append(times[i], time.Since(start))
				}
				if off := n[0] - n[1]; off*off > int64(t.Rows()) { // both are random
					b.Fatalf("%d rows here, %d in DuckDB", n[0], n[1])
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(harness.Median(times[0]), "ms")
			b.ReportMetric(harness.Median(times[0])/harness.Median(times[1]), "of_DuckDB")
		})
	}
}
