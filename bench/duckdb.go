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
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// DuckDB has as many threads as Go.
func init() {
	p := sqlPeer{name: "duckdb", driver: "duckdb", load: loadDuckDB, own: ofDuckDB, holds: func(t *table.Table, col int) bool {
		return duckType(t.Fields[col].Type) != ""
	}}
	duck := p.peer()
	duck.script, duck.read = p.script, readDuckDB
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
		us := int64(v.Days)*table.MicrosPerDay + v.Micros
		return table.Value{Type: table.Type{Kind: table.Interval}, I: us, Span: table.Span{Months: v.Months, Carried: int32(us/table.MicrosPerDay - int64(v.Days))}}, true
	}
	return table.Value{}, false
}

// readDuckDB makes a table of a file, each time in a database of its own.
func readDuckDB(l *intake) (c Contender, err error) {
	from, err := duckFile(l)
	if err != nil {
		return c, err
	}
	return Contender{Run: func(ctx context.Context) (out Outcome, err error) {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if _, err := db.ExecContext(ctx, fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0))); err != nil {
			return out, err
		}
		start := time.Now()
		if _, err := db.ExecContext(ctx, "CREATE TABLE t AS "+from); err != nil {
			return out, cannotSay(err)
		}
		out.Wall = time.Since(start)
		rows := int64(0)
		err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&rows)
		out.Answer = Answer{{table.Int(rows)}}
		return out, err
	}}, nil
}

// duckFile is what an intake reads, in DuckDB's words.
func duckFile(l *intake) (string, error) {
	paths, err := ingest.Files(l.from.Path)
	if err != nil {
		return "", err
	}
	list := func(texts []string) string {
		var out []string
		for _, t := range texts {
			out = append(out, expr.Quote(t))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	switch l.format() {
	case ingest.Parquet:
		var names []string
		for _, col := range l.columns {
			names = append(names, quoted(l.fields[col].Name))
		}
		return "SELECT " + strings.Join(names, ", ") + " FROM read_parquet(" + list(paths) + ")", nil
	case ingest.CSV:
	default:
		return "", fmt.Errorf("%w: it reads CSV and Parquet", ErrCannot)
	}
	args := list(paths)
	if l.from.Header != ingest.HeaderSniffed {
		args += fmt.Sprintf(", header = %v", l.from.Header == ingest.HeaderThere)
	}
	if l.from.Delim != 0 {
		args += ", delim = " + expr.Quote(string(l.from.Delim))
	}
	if l.from.Nulls != nil {
		args += ", nullstr = " + list(append([]string{""}, l.from.Nulls...))
	}
	var types []string
	for _, t := range l.from.Types {
		types = append(types, expr.Quote(t.Name)+": "+expr.Quote(duckType(t.Type)))
	}
	if types != nil {
		args += ", types = {" + strings.Join(types, ", ") + "}"
	}
	return "SELECT * FROM read_csv(" + args + ")", nil
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
