//go:build sqlite

package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"github.com/stencildb/stencildb/table"
)

// Its median of a million rows takes seconds.
func init() { peers["sqlite"] = peer{open: openSQLite, most: 1_000_000} }

// sqlite is SQLite in memory. It has one thread.
type sqlite struct {
	db    *sql.DB
	conn  *sql.Conn
	lacks lacking
}

func openSQLite() (System, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqlite{db: db, conn: conn}, nil
}

// Close implements System.
func (s *sqlite) Close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// Load implements System.
func (s *sqlite) Load(ctx context.Context, t *table.Table) error {
	var names, marks []string
	var columns []int
	for i, f := range t.Fields {
		if !holds(t, i) {
			s.lacks = append(s.lacks, f)
			continue
		}
		columns, names, marks = append(columns, i), append(names, quoted(f.Name)), append(marks, "?")
	}
	if len(columns) == 0 {
		return nil
	}
	if _, err := s.conn.ExecContext(ctx, "CREATE TABLE "+quoted(t.Name)+"("+strings.Join(names, ", ")+")"); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if err := insertAll(ctx, tx, "INSERT INTO "+quoted(t.Name)+" VALUES("+strings.Join(marks, ", ")+")", t, columns); err != nil {
		return fmt.Errorf("sqlite: %w", errors.Join(err, tx.Rollback()))
	}
	return tx.Commit()
}

// holds reports whether SQLite has the values of a column: integers and floating-point
// numbers, but no NaN.
func holds(t *table.Table, col int) bool {
	typ := t.Fields[col].Type
	return typ.IsInteger() || typ.IsFloat() && !slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool {
		seg := c.Segments[col]
		return seg.NonNull() > 0 && math.IsNaN(table.FromOrdinal(typ, seg.Base+seg.Max).F)
	})
}

func insertAll(ctx context.Context, tx *sql.Tx, text string, t *table.Table, columns []int) error {
	insert, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer insert.Close()
	row := make([]any, len(columns))
	for _, c := range t.Compacted().Chunks {
		for i := range c.Rows {
			for j, col := range columns {
				seg := c.Segments[col]
				switch v := table.FromOrdinal(seg.Type, seg.Base+seg.Codes.At(i)); {
				case seg.IsNull(i):
					row[j] = nil
				case v.Type.IsFloat():
					row[j] = v.F
				default:
					row[j] = v.I
				}
			}
			if _, err := insert.ExecContext(ctx, row...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prepare implements System.
func (s *sqlite) Prepare(ctx context.Context, q Query) (Statement, error) {
	return prepareSQL(ctx, s.conn, q.textFor("sqlite"), s.lacks)
}
