//go:build duckdb || sqlite

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// textFor returns the text for a peer.
func (q Query) textFor(peer string) string {
	if text, ok := q.Peers[peer]; ok {
		return text
	}
	return q.SQL
}

// sqlStatement is a prepared statement of a peer behind database/sql.
type sqlStatement struct {
	stmt   *sql.Stmt
	values []any // what Run scans into: pointers to fields
	fields []any
}

// lacking are the columns of a table that a peer does not hold.
type lacking []table.Field

// prepareSQL prepares a statement. Those over columns that the peer lacks it cannot.
func prepareSQL(ctx context.Context, conn *sql.Conn, text string, l lacking) (Statement, error) {
	for _, f := range l {
		if strings.Contains(text, quoted(f.Name)) {
			return nil, fmt.Errorf("%w: column %s of type %v is not loaded", ErrCannot, f.Name, f.Type)
		}
	}
	stmt, err := conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return &sqlStatement{stmt: stmt}, nil
}

// Run implements Statement. The peer's errors, such as an overflow where stencildb
// has wider arithmetic, mean that it cannot.
func (s *sqlStatement) Run(ctx context.Context) (Outcome, error) {
	rows, err := s.stmt.QueryContext(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	defer rows.Close()
	if s.values == nil {
		names, err := rows.Columns()
		if err != nil {
			return Outcome{}, err
		}
		s.fields, s.values = make([]any, len(names)), make([]any, len(names))
		for i := range s.fields {
			s.values[i] = &s.fields[i]
		}
	}
	var a Answer
	for rows.Next() {
		if err := rows.Scan(s.values...); err != nil {
			return Outcome{}, err
		}
		for _, v := range s.fields {
			a = append(a, text(v))
		}
	}
	if err := rows.Err(); err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return Outcome{Answer: a}, nil
}

// text writes a value that database/sql scanned as [table.Value.String] writes it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case int16:
		return strconv.FormatInt(int64(v), 10)
	case *big.Int:
		return v.String()
	case float64:
		return table.Float(v).String()
	}
	return fmt.Sprint(v)
}
