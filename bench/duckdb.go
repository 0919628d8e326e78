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
	p := sqlPeer{name: "duckdb", driver: "duckdb", load: loadDuckDB, own: ofDuckDB, holds: func(t *table.Table, col int) bool {
		return duckType(t.Fields[col].Type) != ""
	}}
	duck := p.peer()
	duck.script = p.script
	peers["duckdb"] = duck
}

// duckTypes are DuckDB's types of those that it is given.
var duckTypes = map[table.Kind]string{table.SmallInt: "SMALLINT", table.Integer: "INTEGER", table.BigInt: "BIGINT",
	table.Real: "REAL", table.Double: "DOUBLE", table.Date: "DATE", table.Timestamp: "TIMESTAMP", table.Boolean: "BOOLEAN", table.Varchar: "VARCHAR"}

// duckType is DuckDB's type of a column; "" where it has none.
func duckType(t table.Type) string {
	if t.Kind == table.Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	}
	return duckTypes[t.Kind]
}

// toDuckDB is a value as its appender takes it.
func toDuckDB(v table.Value) driver.Value {
	if v.Type.Kind == table.Decimal && !v.Null {
		return duckdb.Decimal{Width: uint8(v.Type.Precision), Scale: uint8(v.Type.Scale), Value: v.Unscaled()}
	}
	return sqlValue(v)
}

// ofDuckDB is a value of a type of the driver's own.
func ofDuckDB(v any) (table.Value, bool) {
	switch v := v.(type) {
	case duckdb.Decimal:
		return table.Dec(table.Type{Kind: table.Decimal, Precision: int(v.Width), Scale: int(v.Scale)}, v.Value), true
	case duckdb.Interval:
		return table.Value{Type: table.Type{Kind: table.Interval}, Months: v.Months, I: int64(v.Days)*table.MicrosPerDay + v.Micros}, true
	}
	return table.Value{}, false
}

// duckRows are as many as DuckDB keeps together.
const duckRows = 122_880

// loadDuckDB appends the rows on all threads. So they may change places, by blocks.
func loadDuckDB(ctx context.Context, db *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error {
	var fields []string
	for _, i := range columns {
		fields = append(fields, quoted(t.Fields[i].Name)+" "+duckType(t.Fields[i].Type))
	}
	for _, text := range []string{
		fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0)),
		"SET preserve_insertion_order = false",
		"SET integer_division = true", // as PostgreSQL
		"SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
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
				row[j] = toDuckDB(c.Segments[col].Value(i))
			}
			err = a.AppendRow(row...)
		}
		return errors.Join(err, a.Close())
	})
	return errors.Join(err, conn.Close())
}
