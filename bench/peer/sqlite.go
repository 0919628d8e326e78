//go:build sqlite

package peer

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/table"
)

// SQLite has one thread. Its median of a million rows takes seconds.
func init() {
	Registry["sqlite"] = sqlPeer{name: "sqlite", driver: "sqlite3", source: ":memory:", most: 1_000_000, holds: sqliteHolds, load: loadSQLite}.peer()
}

// sqliteHolds reports whether SQLite has the values of a column: integers, BOOLEAN as 0 and 1,
// text, and floating-point numbers, but no NaN.
func sqliteHolds(t *table.Table, col int) bool {
	typ := t.Fields[col].Type
	return typ.IsInteger() || typ.Kind == table.Boolean || typ.Kind == table.Varchar || typ.IsFloat() && !slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool {
		seg := c.Segments[col]
		return seg.NonNull() > 0 && math.IsNaN(table.FromOrdinal(typ, seg.Base+seg.Max).F)
	})
}

func loadSQLite(ctx context.Context, _ *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error {
	var names, marks []string
	for _, i := range columns {
		names, marks = append(names, workload.Quoted(t.Fields[i].Name)), append(marks, "?")
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA case_sensitive_like = ON"); err != nil { // as elsewhere
		return err
	}
	if _, err := conn.ExecContext(ctx, "CREATE TABLE "+workload.Quoted(t.Name)+"("+strings.Join(names, ", ")+")"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil { // the database goes where this fails
		return err
	}
	insert, err := conn.PrepareContext(ctx, "INSERT INTO "+workload.Quoted(t.Name)+" VALUES("+strings.Join(marks, ", ")+")")
	if err != nil {
		return err
	}
	defer insert.Close()
	row := make([]any, len(columns))
	for _, c := range t.Compacted().Chunks {
		for i := range c.Rows {
			for j, col := range columns {
				row[j] = sqlValue(c.Segments[col].Value(i))
			}
			if _, err := insert.ExecContext(ctx, row...); err != nil {
				return err
			}
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
