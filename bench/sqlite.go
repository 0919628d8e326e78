//go:build sqlite

package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"github.com/stencildb/stencildb/table"
)

// Its median of a million rows takes seconds.
func init() { peers["sqlite"] = peer{open: openSQLite, most: 1_000_000} }

// sqlite is SQLite in memory. It has one thread.
type sqlite struct {
	db   *sql.DB
	conn *sql.Conn
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
	return &sqlite{db, conn}, nil
}

// Close implements System.
func (s *sqlite) Close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// Load implements System.
func (s *sqlite) Load(ctx context.Context, t *table.Table) error {
	var names, marks []string
	for _, f := range t.Fields {
		names, marks = append(names, quoted(f.Name)+" INTEGER"), append(marks, "?")
	}
	if _, err := s.conn.ExecContext(ctx, "CREATE TABLE "+quoted(t.Name)+"("+strings.Join(names, ", ")+")"); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if err := insertAll(ctx, tx, "INSERT INTO "+quoted(t.Name)+" VALUES("+strings.Join(marks, ", ")+")", t); err != nil {
		return fmt.Errorf("sqlite: %w", errors.Join(err, tx.Rollback()))
	}
	return tx.Commit()
}

func insertAll(ctx context.Context, tx *sql.Tx, text string, t *table.Table) error {
	insert, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer insert.Close()
	row := make([]any, len(t.Fields))
	for _, c := range t.Chunks {
		for i := range c.Rows {
			for col, seg := range c.Segments {
				if row[col] = nil; !seg.IsNull(i) {
					row[col] = table.IntFromOrdinal(seg.Base + seg.Codes.At(i))
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
	return prepareSQL(ctx, s.conn, q.textFor("sqlite"))
}
