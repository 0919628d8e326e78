//go:build duckdb

package bench

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/stencildb/stencildb/table"
)

// DuckDB has as many threads as Go.
func init() {
	p := sqlPeer{name: "duckdb", driver: "duckdb", load: loadDuckDB, holds: func(t *table.Table, col int) bool {
		return duckTypes[t.Fields[col].Type.Kind] != ""
	}}
	duck := p.peer()
	duck.script = p.script
	peers["duckdb"] = duck
}

// duckTypes are DuckDB's types of those that it is given.
var duckTypes = map[table.Kind]string{table.SmallInt: "SMALLINT", table.Integer: "INTEGER", table.BigInt: "BIGINT",
	table.Real: "REAL", table.Double: "DOUBLE", table.Date: "DATE", table.Timestamp: "TIMESTAMP"}

// duckRows are as many as DuckDB keeps together.
const duckRows = 122_880

// loadDuckDB appends the rows on all threads. So they may change places, by blocks.
func loadDuckDB(ctx context.Context, db *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error {
	var fields []string
	for _, i := range columns {
		fields = append(fields, quoted(t.Fields[i].Name)+" "+duckTypes[t.Fields[i].Type.Kind])
	}
	for _, text := range []string{
		fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0)),
		"SET preserve_insertion_order = false",
		"CREATE TABLE " + quoted(t.Name) + "(" + strings.Join(fields, ", ") + ")",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range t.Compacted().Chunks {
		for from := 0; from < c.Rows; from += duckRows {
			g.Go(func() error { return appendDuckDB(ctx, db, t.Name, c, columns, from, min(from+duckRows, c.Rows)) })
		}
	}
	return g.Wait()
}

// appendDuckDB appends rows from..to-1 of a chunk, on a connection of its own.
func appendDuckDB(ctx context.Context, db *sql.DB, name string, c *table.Chunk, columns []int, from, to int) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(raw any) error {
		a, err := duckdb.NewAppenderFromConn(raw.(driver.Conn), "", name)
		if err != nil {
			return err
		}
		row := make([]driver.Value, len(columns))
		for i := from; i < to && err == nil; i++ {
			for j, col := range columns {
				row[j] = sqlValue(c.Segments[col].Value(i))
			}
			err = a.AppendRow(row...)
		}
		return errors.Join(err, a.Close())
	})
	return errors.Join(err, conn.Close())
}
