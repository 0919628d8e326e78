//go:build duckdb

package peer

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

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// DuckDB has as many threads as Go.
func init() {
	p := sqlPeer{name: "duckdb", driver: "duckdb", load: loadDuckDB, own: fromDuckDB, holds: func(t *table.Table, col int) bool {
		return duckDBType(t.Fields[col].Type) != ""
	}}
	duck := p.peer()
	duck.Script, duck.Read = p.script, readDuckDB
	Registry["duckdb"] = duck
}

// duckDBTypes are DuckDB's types of those that it is given.
var duckDBTypes = map[table.Kind]string{table.SmallInt: "SMALLINT", table.Integer: "INTEGER", table.BigInt: "BIGINT",
	table.Real: "REAL", table.Double: "DOUBLE", table.Date: "DATE", table.Timestamp: "TIMESTAMP", table.Boolean: "BOOLEAN", table.Varchar: "VARCHAR"}

// duckDBType is DuckDB's type of a column; "" where it has none.
func duckDBType(t table.Type) string {
	if t.Kind == table.Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	}
	return duckDBTypes[t.Kind]
}

// duckDBValue is a value as its appender takes it.
func duckDBValue(v table.Value) driver.Value {
	if v.Type.Kind == table.Decimal && !v.Null {
		return duckdb.Decimal{Width: uint8(v.Type.Precision), Scale: uint8(v.Type.Scale), Value: v.Unscaled()}
	}
	return sqlValue(v)
}

// fromDuckDB is a value of a type of the driver's own.
func fromDuckDB(v any) (table.Value, bool) {
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
func readDuckDB(l *workload.FileLoad) (c meter.Contender, err error) {
	from, err := duckDBQuery(l)
	if err != nil {
		return c, err
	}
	return meter.Contender{Run: func(ctx context.Context) (out meter.Outcome, err error) {
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
			return out, asCannot(err)
		}
		out.Wall = time.Since(start)
		rows := int64(0)
		err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&rows)
		out.Answer = answer.Answer{{table.Int(rows)}}
		return out, err
	}}, nil
}

// duckDBQuery is what a file load reads, in DuckDB's words.
func duckDBQuery(l *workload.FileLoad) (string, error) {
	paths, err := ingest.Files(l.From.Path)
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
	switch l.Format() {
	case ingest.Parquet:
		var names []string
		for _, col := range l.Columns {
			names = append(names, workload.Quoted(l.Fields[col].Name))
		}
		return "SELECT " + strings.Join(names, ", ") + " FROM read_parquet(" + list(paths) + ")", nil
	case ingest.CSV:
	default:
		return "", fmt.Errorf("%w: it reads CSV and Parquet", meter.ErrCannot)
	}
	args := list(paths)
	if l.From.Header != ingest.HeaderSniffed {
		args += fmt.Sprintf(", header = %v", l.From.Header == ingest.HeaderThere)
	}
	if l.From.Delim != 0 {
		args += ", delim = " + expr.Quote(string(l.From.Delim))
	}
	if l.From.Nulls != nil {
		args += ", nullstr = " + list(append([]string{""}, l.From.Nulls...))
	}
	var types []string
	for _, t := range l.From.Types {
		types = append(types, expr.Quote(t.Name)+": "+expr.Quote(duckDBType(t.Type)))
	}
	if types != nil {
		args += ", types = {" + strings.Join(types, ", ") + "}"
	}
	return "SELECT * FROM read_csv(" + args + ")", nil
}

// duckDBRows are as many as DuckDB keeps together.
const duckDBRows = 122_880

// loadDuckDB appends the rows on all threads. So they may change places, by blocks.
func loadDuckDB(ctx context.Context, db *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error {
	var fields []string
	for _, i := range columns {
		fields = append(fields, workload.Quoted(t.Fields[i].Name)+" "+duckDBType(t.Fields[i].Type))
	}
	for _, text := range []string{
		fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0)),
		"SET preserve_insertion_order = false",
		"SET integer_division = true", // as PostgreSQL
		"SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
		"CREATE TABLE " + workload.Quoted(t.Name) + "(" + strings.Join(fields, ", ") + ")",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range t.Compacted().Chunks {
		for from := 0; from < c.Rows; from += duckDBRows {
			g.Go(func() error { return appendDuckDB(ctx, db, t.Name, c, columns, from, min(from+duckDBRows, c.Rows)) })
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
				row[j] = duckDBValue(c.Segments[col].Value(i))
			}
			err = a.AppendRow(row...)
		}
		return errors.Join(err, a.Close())
	})
	return errors.Join(err, conn.Close())
}
