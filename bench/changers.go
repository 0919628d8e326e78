package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine"
)

// changer is a database whose tables are changed: in memory, or in a folder. Statements have parameters $1, $2, in this order.
type changer struct {
	name string
	// exec runs a statement to the last of its rows. One with parameters is prepared once.
	exec func(ctx context.Context, text string, args ...any) error
	// integers is the answer of a query, a slice a column, the lower 32 bits of each value and 0 for NULL.
	integers func(ctx context.Context, text string, args ...any) ([][]int32, error)
	// load makes rows of integers in a table that is there.
	load   func(ctx context.Context, table string, columns [][]int32) error
	close  func() error
	settle string // the statement that writes what has changed to files
}

// changingEngine is stencildb, with its table in the folder that o names, or in memory.
func changingEngine(o engine.Options) (changer, error) {
	db, err := engine.Open(o)
	if err != nil {
		return changer{}, err
	}
	// auto would weigh the opening of the device.
	if err := engine.Inspect(db).Ready(); err != nil {
		return changer{}, errors.Join(err, db.Close())
	}
	return changer{name: "stencildb", close: db.Close, settle: "CHECKPOINT", exec: func(ctx context.Context, text string, args ...any) error {
		_, err := db.Exec(ctx, text, args...)
		return err
	}, integers: func(ctx context.Context, text string, args ...any) ([][]int32, error) {
		r, err := engine.Collect(db.Query(ctx, text, args...))
		if err != nil {
			return nil, err
		}
		list := make([][]int32, len(r.Columns))
		for c := range list {
			list[c] = make([]int32, len(r.Rows))
			for i, row := range r.Rows {
				if !row[c].Null {
					list[c][i] = int32(row[c].I)
				}
			}
		}
		return list, nil
	}, load: func(ctx context.Context, table string, columns [][]int32) error {
		a, err := db.Appender(ctx, table)
		if err != nil {
			return err
		}
		for c, column := range columns {
			wide := make([]int64, len(column))
			for i, v := range column {
				wide[i] = int64(v)
			}
			a.Ints(c, wide...)
		}
		return errors.Join(a.EndRows(ctx, len(columns[0])), a.Close(ctx))
	}}, nil
}

// The drivers of database/sql of other databases, which are there where these are built in.
const (
	duckDBDriver = "duckdb"
	sqliteDriver = "sqlite3"
)

// changingPeer is another database behind database/sql, in a folder, or in memory where dir is "".
func changingPeer(driver, dir string) (changer, error) {
	source := map[string]string{duckDBDriver: "", sqliteDriver: ":memory:"}[driver]
	if dir != "" {
		source = map[string]string{duckDBDriver: filepath.Join(dir, "t.duckdb"), sqliteDriver: "file:" + filepath.Join(dir, "t.sqlite") + "?_journal_mode=WAL&_synchronous=FULL"}[driver]
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return changer{}, err
	}
	db.SetMaxOpenConns(1)
	if driver == duckDBDriver {
		if _, err := db.Exec(fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0))); err != nil {
			return changer{}, errors.Join(err, db.Close())
		}
	}
	p := &changingSQL{db, map[string]*sql.Stmt{}}
	settle := map[string]string{duckDBDriver: "CHECKPOINT", sqliteDriver: "PRAGMA wal_checkpoint(TRUNCATE)"}[driver]
	return changer{name: driver, exec: p.exec, integers: p.integers, load: p.load, close: db.Close, settle: settle}, nil
}

// changingSQL is a database behind database/sql, with the statements that have been prepared.
type changingSQL struct {
	*sql.DB
	kept map[string]*sql.Stmt
}

// query runs a statement. One with parameters is prepared once.
func (p *changingSQL) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	if len(args) == 0 {
		return p.QueryContext(ctx, text)
	}
	st := p.kept[text]
	if st == nil {
		var err error
		if st, err = p.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		p.kept[text] = st
	}
	return st.QueryContext(ctx, args...)
}

func (p *changingSQL) exec(ctx context.Context, text string, args ...any) error {
	if len(args) == 0 && !strings.HasPrefix(text, "SELECT") {
		_, err := p.ExecContext(ctx, text)
		return err
	}
	rows, err := p.query(ctx, text, args)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (p *changingSQL) integers(ctx context.Context, text string, args ...any) (list [][]int32, err error) {
	rows, err := p.query(ctx, text, args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list = make([][]int32, len(names))
	values, places := make([]any, len(names)), make([]any, len(names))
	for c := range values {
		places[c] = &values[c]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for c, v := range values {
			x := int32(0)
			switch v := v.(type) {
			case nil:
			case int64:
				x = int32(v)
			case int32:
				x = v
			case *big.Int:
				x = int32(v.Int64())
			default:
				return nil, fmt.Errorf("%s: column %s has a %T, which is no integer", text, names[c], v)
			}
			list[c] = append(list[c], x)
		}
	}
	return list, rows.Err()
}

// valuesAtOnce is how many rows a statement has that loads some.
const valuesAtOnce = 1000

func (p *changingSQL) load(ctx context.Context, table string, columns [][]int32) error {
	for from := 0; from < len(columns[0]); from += valuesAtOnce {
		text := []byte("INSERT INTO " + table + " VALUES ")
		for i := from; i < min(from+valuesAtOnce, len(columns[0])); i++ {
			for c, column := range columns {
				text = fmt.Appendf(text, "%c%d", "(,"[min(c, 1)], column[i])
			}
			text = append(text, "),"...)
		}
		if err := p.exec(ctx, string(text[:len(text)-1])); err != nil {
			return err
		}
	}
	return nil
}

// hasDriver reports whether another database is built in.
func hasDriver(name string) bool { return slices.Contains(sql.Drivers(), name) }
