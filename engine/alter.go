package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// alter is what ALTER TABLE changes.
func (m *mutation) alter(ctx context.Context, db *DB) ([]storage.Change, error) {
	ch := storage.Change{Table: m.Table, Define: m.Define, From: m.From, Fill: m.Fill}
	for col, v := range m.Fill {
		if c := m.Define.Columns[col]; m.From[col] < 0 && (c.Length > 0 || c.Padded) && !v.Null {
			s, err := fitted(m.Define, col, table.SegmentOf(v.Type, v))
			if err != nil {
				return nil, err
			}
			m.Fill[col] = s.Value(0)
		}
	}
	if m.Rows != nil {
		numbers, columns, err := m.found(ctx, db)
		if err == nil {
			err = m.fitColumns(m.Define, columns)
		}
		if err != nil {
			return nil, err
		}
		for i, col := range m.Set {
			if len(numbers) == 0 {
				break
			}
			ch.Update = append(ch.Update, storage.Update{Column: col, Rows: numbers, Values: columns[i]})
		}
	}
	counts := false // rows that there are
	for i, c := range m.Define.Columns {
		counts = counts || c.Sequence != nil && m.From[i] < 0 && !slices.Contains(m.Set, i)
	}
	if counts {
		t, err := m.db.whole(ctx, m.Table)
		if err == nil {
			err = m.setAddedSequences(&ch, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(append(m.dropped(), ch), m.defined()...), nil
}

// alterApart are the rows of a table that is not in memory after a change of its definition.
func (m *mutation) alterApart(ctx context.Context, old *storage.Definition, before *storage.Rows, c *storage.Change) (after *storage.Rows, err error) {
	if err = m.db.holdsApart(old, before.DeltaBytes()+c.Bytes(), m.db.tables.Entry(old.Name)); err != nil {
		return nil, err
	}
	if after, err = before.After(old.Fields, c); err != nil {
		return nil, err
	}
	view, err := m.viewOf(ctx, nil, c.Define, after)
	if err == nil {
		err = m.fits(ctx, old, c, view)
	}
	return after, err
}

// fits fails where rows of a table that has been altered, which the view has, break a rule that is new for them.
func (m *mutation) fits(ctx context.Context, old *storage.Definition, c *storage.Change, view *DB) error {
	def := c.Define
	name := expr.Ident(def.Name)
	computed := func(col int) bool { return c.From[col] < 0 }
	for _, u := range c.Update {
		if err := inRange(def.Fields[u.Column], u.Values); err != nil {
			return err
		}
	}
	for i, f := range def.Fields {
		if !def.Columns[i].NotNull || !computed(i) && old.Columns[c.From[i]].NotNull {
			continue
		}
		found, err := m.ask(ctx, view, fmt.Sprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", name, expr.Ident(f.Name)))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return sqlstate.Also(sqlstate.Errorf(sqlstate.NotNullViolation, "column %q of relation %q contains null values; give it a value in these rows first", f.Name, def.Name), ErrNotNull)
		}
	}
	rows := slices.ContainsFunc(c.From, func(from int) bool { return from < 0 }) // any rule may be of new values
	checks := slices.DeleteFunc(slices.Clone(def.Checks), func(check storage.Check) bool { return !rows && slices.Contains(old.Checks, check) })
	if check, err := m.broken(ctx, view, def.Name, checks); err != nil {
		return err
	} else if check != nil {
		return sqlstate.Also(sqlstate.Errorf(sqlstate.CheckViolation, "check constraint %q of relation %q is violated by some row", check.Name, def.Name), ErrCheck)
	}
	for _, k := range def.Keys {
		if !slices.ContainsFunc(k.Columns, computed) && slices.ContainsFunc(old.Keys, func(o storage.Key) bool { return o.Name == k.Name }) {
			continue
		}
		found, err := m.repeated(ctx, view, def.Name, def.Fields, k)
		if err != nil {
			return err
		}
		if found != nil {
			var names, values []string
			for i, col := range k.Columns {
				names, values = append(names, expr.Ident(def.Fields[col].Name)), append(values, found[i].S)
			}
			return sqlstate.Also(sqlstate.Errorf(sqlstate.UniqueViolation, "could not create unique index %q: key (%s)=(%s) is duplicated", k.Name, strings.Join(names, ", "), strings.Join(values, ", ")), ErrDuplicateKey)
		}
	}
	return nil
}
