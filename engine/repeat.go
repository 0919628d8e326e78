package engine

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// repeatable is an INSERT, UPDATE or DELETE of few rows that was bound before: one that differs from it in its values alone is neither
// parsed nor bound.
type repeatable struct {
	*sql.Again
	parsed  *sql.Statement
	def     *storage.Definition
	version uint64 // of the catalog
	off     plan.Off
}

// form is the statement that was bound last of a form or, with parameters, of a text; nil where there is none.
func (c *catalog) form(text string) *repeatable {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forms == nil {
		return nil
	}
	r, _ := c.forms.Get(text)
	return r
}

// keepForm keeps a statement by its form or its text.
func (c *catalog) keepForm(text string, r *repeatable) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forms == nil {
		c.forms, _ = lru.New[string, *repeatable](maxStatements) // only a size below 1 is an error
	}
	c.forms.Add(text, r)
}

// keepBound keeps what the statement is bound to, for others like it.
func (m *modifying) keepBound(a *sql.Again, c sql.Catalog) {
	if a == nil {
		return
	}
	r := &repeatable{Again: a, parsed: m.parsed, def: m.def, version: c.Version, off: c.Off}
	if m.parsed.Params > 0 {
		m.again.Store(r)
		m.db.tables.keepForm(m.parsed.Text, r)
	} else if f, ok := sql.FormOf(m.parsed.Text); ok {
		m.db.tables.keepForm(f.Text, r)
	}
}

// repeat makes m a statement that was bound before, with other values; false where that has to be bound, or would not be by single rows.
func (m *modifying) repeat(r *repeatable, values []table.Value) bool {
	if r == nil || r.version != m.db.tables.counted() || r.off != m.db.off() {
		return false
	}
	ch, ok := r.Change(values)
	if !ok {
		return false
	}
	e := m.db.entry(ch.Table)
	if e == nil || e.of != r.def {
		return false
	}
	m.Change, m.def = ch, r.def
	if ch.Verb == "INSERT" && ch.Conflict == nil {
		return true
	}
	m.target = ch.Table
	if t := e.table.Load(); t == nil || !t.Has(t.All()) || !m.lookUp() {
		m.Change, m.def, m.lookup, m.target = nil, nil, nil, ""
		return false
	}
	return true
}

// repeated runs a text that was bound before, or one of the same form; ok is false, and nothing has happened, where the text has to be parsed, if only
// for an error's place in it.
func (db *DB) repeated(ctx context.Context, text string, args []any) (_ *Rows, ok bool, err error) {
	if !sql.Changing(text) {
		return nil, false, nil
	}
	form := text
	values, err := parameters(args)
	if len(args) == 0 {
		f, _ := sql.FormOf(text)
		form, values = f.Text, f.Values
	}
	r := db.tables.form(form)
	if r == nil || err != nil {
		return nil, false, nil
	}
	s := &Statement{db: db, script: text, parsed: r.parsed}
	s.again.Store(r)
	return s.changeOf(ctx, values, true)
}
