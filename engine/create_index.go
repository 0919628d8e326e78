package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// index executes CREATE INDEX, DROP INDEX or SHOW INDEXES.
func (s *Statement) index(ctx context.Context) (*Rows, error) {
	r := s.empty(ctx)
	var err error
	start := time.Now()
	switch s.parsed.Index.Verb {
	case "SHOW":
		r.columns = append(textColumns("index_name", "table_name", "column_name", "kind"),
			Column{Name: "records", Type: table.Type{Kind: table.BigInt}}, Column{Name: "bytes", Type: table.Type{Kind: table.BigInt}})
		r.now = append(s.db.indexRows(), s.db.uniqueIndexes()...)
	case "CREATE":
		err = s.createIndex(ctx)
	case "DROP":
		if def, k := s.db.keyed(s.parsed.Index.Name); k != nil && !s.db.hasIndex(k.Name) {
			return s.dropKey(ctx, def, k)
		}
		err = s.dropIndex()
	}
	if err != nil {
		return nil, s.described(err)
	}
	r.waited = time.Since(start)
	return r, nil
}

// uniqueIndexes are the keys that CREATE UNIQUE INDEX has made, as SHOW INDEXES has them. They take no memory of their own.
func (db *DB) uniqueIndexes() (rows valueRows) {
	entries, _ := db.tables.Entries()
	for _, e := range entries {
		if e.Definition == nil {
			continue
		}
		for _, k := range e.Definition.Keys {
			var names []string
			for _, col := range k.Columns {
				names = append(names, e.Definition.Fields[col].Name)
			}
			if k.Index {
				rows = append(rows, []table.Value{table.Str(k.Name), table.Str(e.Name), table.Str(strings.Join(names, ", ")), table.Str("unique"), table.Null(table.Type{Kind: table.BigInt}), table.Int(0)})
			}
		}
	}
	return rows
}

// keyed is the key of a name, and its table; nil where there is none.
func (db *DB) keyed(name string) (*storage.Definition, *storage.Key) {
	entries, _ := db.tables.Entries()
	for _, e := range entries {
		for i := range e.Keys() {
			if k := &e.Definition.Keys[i]; k.Name == name {
				return e.Definition, k
			}
		}
	}
	return nil, nil
}

// dropKey is DROP INDEX of a unique one.
func (s *Statement) dropKey(ctx context.Context, def *storage.Definition, k *storage.Key) (*Rows, error) {
	drop := fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", expr.Ident(def.Name), expr.Ident(k.Name))
	if !k.Index {
		return nil, s.described(expr.Coded(sqlstate.DependentObjects, s.parsed.Index.Pos, "cannot drop index %s because constraint %s on table %s requires it; %s drops both", k.Name, k.Name, def.Name, drop))
	}
	st, err := parseOne(drop)
	if err != nil {
		return nil, s.described(err)
	}
	return (&Statement{db: s.db, script: drop, parsed: st}).change(ctx, nil)
}

func (s *Statement) createIndex(ctx context.Context) error {
	of, db := s.parsed.Index, s.db
	t, columns, err := s.parsed.BindIndex(db.catalog(ctx))
	if err != nil {
		return err
	}
	col := columns[0].Field
	e := db.entry(t.Name)
	i, plain := &catalog.Index{Name: of.Name, Kind: of.Kind, Table: e.Name}, t.Name
	for _, c := range columns {
		i.Columns = append(i.Columns, catalog.IndexColumn{Name: t.Fields[c.Field].Name, Order: c.Order})
		plain += "_" + t.Fields[c.Field].Name
	}
	if i.Kind == "" {
		i.Kind = index.Kinds[0]
	}
	if !slices.Contains(index.Kinds, i.Kind) {
		return expr.Coded(sqlstate.UndefinedObject, of.Pos, "no index of kind %q: USING takes sorted or hash", i.Kind)
	}
	for n := 1; of.Name == "" && (i.Name == "" || db.hasIndex(i.Name)); n++ { // as PostgreSQL has it
		if i.Name = plain + "_idx"; n > 1 {
			i.Name += strconv.Itoa(n - 1)
		}
	}
	if _, k := db.keyed(i.Name); k != nil || db.hasIndex(i.Name) {
		if of.Lax {
			return nil
		}
		return expr.Coded(sqlstate.DuplicateTable, of.Pos, "index %q already exists", i.Name)
	}
	if err = db.indexFits(ctx, e, i.Name, col); err != nil {
		return err
	}
	if db.tx != nil {
		db.tx.made.Add(i)
		return nil
	}
	if _, err = db.read(ctx, e, []int{col}); err != nil {
		return err
	}
	now, unpin := db.pin(e)
	defer unpin()
	if err = db.indexes.Make(ctx, i, now); err != nil && !(of.Lax && db.hasIndex(i.Name)) { // of another session, meanwhile
		return err
	}
	db.indexesChanged()
	return nil
}

// indexFits fails where the host memory budget has no room for an index of a column, and for the column.
func (db *DB) indexFits(ctx context.Context, e *catalog.Entry, name string, col int) error {
	if db.now().hostMemory == 0 {
		return nil
	}
	t := e.Table.Load()
	need := int64(catalog.IndexRowBytes * total(t))
	if columns := []int{col}; !t.Has(columns) {
		b, _, takes, err := db.batchesOf(ctx, e, columns, catalog.Conditions{}, 0, 0)
		if err != nil {
			return err
		}
		if b != nil {
			need += takes
		}
	}
	left, err := db.hostBudget()
	if (err != nil || need > left) && db.evict(ctx) {
		left, err = db.hostBudget()
	}
	if err == nil && need > left {
		err = sqlstate.Errorf(sqlstate.OutOfMemory, "index %q takes about %s with its column while it is made, and %s of the host memory budget are left: raise it (--host-memory)", name, size(need), size(left))
	}
	return err
}

func (s *Statement) dropIndex() error {
	of, x := s.parsed.Index, &s.db.indexes
	if !s.db.hasIndex(of.Name) {
		if of.Lax {
			return nil
		}
		return expr.Coded(sqlstate.UndefinedObject, of.Pos, "index %q does not exist; SHOW INDEXES lists those there are", of.Name)
	}
	if tx := s.db.tx; tx != nil {
		tx.dropIndexes(func(i *catalog.Index) bool { return i.Name == of.Name })
		return nil
	}
	x.Drop(func(i *catalog.Index) bool { return i.Name == of.Name })
	s.db.indexesChanged()
	return nil
}

// hasIndex reports an index of a name, as a transaction's statements have it.
func (db *DB) hasIndex(name string) bool {
	if db.tx != nil && db.tx.made.Position(name) >= 0 {
		return true
	}
	return db.indexes.Position(name) >= 0 && !db.tx.dropped(name)
}

// indexRows are the indexes as SHOW INDEXES has them.
func (db *DB) indexRows() valueRows {
	rows := slices.DeleteFunc(db.indexes.Rows(), func(row []table.Value) bool { return db.tx.dropped(row[0].S) })
	if db.tx != nil {
		rows = append(rows, db.tx.made.Rows()...)
		slices.SortFunc(rows, func(a, b []table.Value) int { return strings.Compare(a[0].S, b[0].S) })
	}
	return rows
}

// indexesChanged has auto choose anew.
func (db *DB) indexesChanged() { db.backends.Renew() }
