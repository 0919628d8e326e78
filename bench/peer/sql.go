//go:build duckdb || sqlite

package peer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/table"
)

// sqlPeer is a database in memory behind database/sql.
type sqlPeer struct {
	name   string
	driver string // of database/sql
	source string
	most   int // of [Peer]
	// holds reports whether it has the values of a column as they are.
	holds func(t *table.Table, col int) bool
	// own, where not nil, is a value of a type of the driver's own.
	own func(any) (v table.Value, ok bool)
	// load makes the table with those columns, by way of conn or of others of db.
	load func(ctx context.Context, db *sql.DB, conn *sql.Conn, t *table.Table, columns []int) error
}

// peer is the peer as the suites take it.
func (p sqlPeer) peer() Peer { return Peer{Open: p.open, MaxRows: p.most} }

// script runs statements on a database of its own.
func (p sqlPeer) script(ctx context.Context, statements []string) (a answer.Answer, err error) {
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
	return p.answer(rows)
}

// answer reads rows to their end.
func (p sqlPeer) answer(rows *sql.Rows) (a answer.Answer, err error) {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := make([]table.Value, len(values))
		for i, v := range values {
			row[i] = p.value(v)
		}
		a = append(a, row)
	}
	return a, rows.Err()
}

// open opens the database, on one connection, and loads tables. It cannot run statements over columns that it
// does not hold. Neither can it run those with an error of its own, such as an overflow where stencildb has
// wider arithmetic.
func (p sqlPeer) open(ctx context.Context, tables []*table.Table) (meter.System, error) {
	db, err := sql.Open(p.driver, p.source)
	if err != nil {
		return meter.System{}, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return meter.System{}, errors.Join(err, db.Close())
	}
	closing := func() error { return errors.Join(conn.Close(), db.Close()) }
	holds := map[string][]int{} // of each table
	for _, t := range tables {
		var columns []int
		for i := range t.Fields {
			if p.holds(t, i) {
				columns = append(columns, i)
			}
		}
		if len(columns) > 0 {
			if err := p.load(ctx, db, conn, t, columns); err != nil {
				return meter.System{}, errors.Join(fmt.Errorf("%s: %w", p.name, err), closing())
			}
		}
		holds[t.Name] = columns
	}
	return meter.System{Close: closing, Prepare: func(ctx context.Context, q meter.Query) (meter.Contender, error) {
		text, ok := q.Peers[p.name]
		if !ok {
			text = q.SQL
		}
		for _, t := range tables {
			for _, col := range q.Reads[t.Name] {
				if f := t.Fields[col]; !slices.Contains(holds[t.Name], col) {
					return meter.Contender{}, fmt.Errorf("%w: column %s of type %v is not loaded", meter.ErrCannot, f.Name, f.Type)
				}
			}
		}
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return meter.Contender{}, asCannot(err)
		}
		outcome := func(rows *sql.Rows, err error) (meter.Outcome, error) {
			var a answer.Answer
			if err == nil {
				a, err = p.answer(rows)
			}
			if err != nil {
				return meter.Outcome{}, asCannot(err)
			}
			return meter.Outcome{Answer: a}, nil
		}
		say := q.Said[p.name]
		return meter.Contender{Loose: true,
			Run: func(ctx context.Context) (meter.Outcome, error) { return outcome(stmt.QueryContext(ctx)) },
			Fresh: func(ctx context.Context, text string) (meter.Outcome, error) {
				if say != nil {
					text = say(text)
				}
				return outcome(conn.QueryContext(ctx, text))
			},
		}, nil
	}}, nil
}

// asCannot marks the error of a peer, of which the first line says what is wrong.
func asCannot(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%w: %s", meter.ErrCannot, line)
}

// sqlValue is a value as database/sql takes it.
func sqlValue(v table.Value) any {
	switch {
	case v.Null:
		return nil
	case v.Type.IsFloat():
		return v.F
	case v.Type.Kind == table.Varchar:
		return v.S
	case v.Type.Kind == table.Boolean:
		return v.I != 0
	case v.Type.Kind == table.Date:
		return time.Unix(86400*v.I, 0).UTC()
	case v.Type.Kind == table.Timestamp:
		return time.UnixMicro(v.I).UTC()
	}
	return v.I
}

// value is what database/sql scanned.
func (p sqlPeer) value(v any) table.Value {
	switch v := v.(type) {
	case nil:
		return table.Null(table.Type{})
	case int64:
		return table.Int(v)
	case int32:
		return table.Int(int64(v))
	case int16:
		return table.Int(int64(v))
	case *big.Int:
		return table.Dec(table.Type{Kind: table.Decimal, Precision: 38}, v)
	case float64:
		return table.Float(v)
	case float32:
		return table.Value{Type: table.Type{Kind: table.Real}, F: float64(v)}
	case bool:
		return table.Bool(v)
	case string:
		return table.Str(v)
	case []byte:
		return table.Str(string(v))
	case time.Time:
		return table.Value{Type: table.Type{Kind: table.Timestamp}, I: v.UnixMicro()}
	}
	if p.own != nil {
		if w, ok := p.own(v); ok {
			return w
		}
	}
	return table.Str(fmt.Sprint(v))
}
