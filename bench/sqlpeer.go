//go:build duckdb || sqlite

package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/stencildb/stencildb/table"
)

// sqlPeer is a database in memory behind database/sql.
type sqlPeer struct {
	name   string
	driver string // of database/sql
	source string
	most   int // of [peer]
	// holds reports whether it has the values of a column as they are.
	holds func(t *table.Table, col int) bool
	// load makes the table with those columns, by way of conn or of others of db.
	load func(ctx context.Context, db *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error
}

// peer is the peer as the suites take it.
func (p sqlPeer) peer() peer { return peer{open: p.open, most: p.most} }

// script runs statements on a database of its own.
func (p sqlPeer) script(ctx context.Context, statements []string) (a Answer, err error) {
	db, err := sql.Open(p.driver, p.source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	last := len(statements) - 1
	for _, text := range statements[:last] {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	rows, err := db.QueryContext(ctx, statements[last])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	if rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for _, v := range values {
			a = append(a, written(v))
		}
	}
	return a, rows.Err()
}

// open opens the database, on one connection, and loads a table. Statements over columns
// that it does not hold it cannot run, nor those with an error of its own, such as an
// overflow where stencildb has wider arithmetic.
func (p sqlPeer) open(ctx context.Context, t *table.Table) (System, error) {
	db, err := sql.Open(p.driver, p.source)
	if err != nil {
		return System{}, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return System{}, errors.Join(err, db.Close())
	}
	closing := func() error { return errors.Join(conn.Close(), db.Close()) }
	var columns []int
	var lacks []table.Field
	for i, f := range t.Fields {
		if p.holds(t, i) {
			columns = append(columns, i)
		} else {
			lacks = append(lacks, f)
		}
	}
	if len(columns) > 0 {
		if err := p.load(ctx, db, conn, t, columns); err != nil {
			return System{}, errors.Join(fmt.Errorf("%s: %w", p.name, err), closing())
		}
	}
	return System{Close: closing, Prepare: func(ctx context.Context, q Query) (Contender, error) {
		text, ok := q.Peers[p.name]
		if !ok {
			text = q.SQL
		}
		for _, f := range lacks {
			if strings.Contains(text, quoted(f.Name)) {
				return Contender{}, fmt.Errorf("%w: column %s of type %v is not loaded", ErrCannot, f.Name, f.Type)
			}
		}
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return Contender{}, fmt.Errorf("%w: %w", ErrCannot, err)
		}
		return Contender{Run: func(ctx context.Context) (Outcome, error) {
			var v any
			if err := stmt.QueryRowContext(ctx).Scan(&v); err != nil {
				return Outcome{}, fmt.Errorf("%w: %w", ErrCannot, err)
			}
			return Outcome{Answer: Answer{written(v)}}, nil
		}}, nil
	}}, nil
}

// sqlValue is a value as database/sql takes it.
func sqlValue(v table.Value) any {
	switch {
	case v.Null:
		return nil
	case v.Type.IsFloat():
		return v.F
	case v.Type.Kind == table.Date:
		return time.Unix(86400*v.I, 0).UTC()
	case v.Type.Kind == table.Timestamp:
		return time.UnixMicro(v.I).UTC()
	}
	return v.I
}

// written writes a value that database/sql scanned as [table.Value.String] writes it.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case *big.Int:
		return v.String()
	case float64:
		return table.Float(v).String()
	}
	return fmt.Sprint(v)
}
