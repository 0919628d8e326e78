package engine

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// cachedPlan is a look-up, or an INSERT, UPDATE or DELETE of few rows, that was bound before. A statement that differs from it in its
// values alone is neither parsed nor bound.
type cachedPlan struct {
	*sql.GenericPlan
	parsed  *sql.Statement
	def     *storage.Definition
	version uint64 // of the catalog
	off     rules.Off
}

// planCache keeps the statements that were bound last over the tables of a catalog.
type planCache struct {
	mu    sync.Mutex
	plans *lru.Cache[string, *cachedPlan] // nil before there is one
}

// get is the statement that was bound last of a form or, with parameters, of a text; nil where there is none.
func (c *planCache) get(text string) *cachedPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		return nil
	}
	r, _ := c.plans.Get(text)
	return r
}

// add keeps a statement by its form or its text.
func (c *planCache) add(text string, r *cachedPlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		c.plans, _ = lru.New[string, *cachedPlan](maxStatements) // only a size below 1 is an error
	}
	c.plans.Add(text, r)
}

// keepBound keeps what the statement is bound to, rows of a table of a definition, for others like it.
func (s *Statement) keepBound(a *sql.GenericPlan, def *storage.Definition, version uint64, off rules.Off) {
	if a == nil {
		return
	}
	r := &cachedPlan{GenericPlan: a, parsed: s.parsed, def: def, version: version, off: off}
	if s.parsed.Params > 0 {
		if s.again.Store(r); !s.parsed.Infers { // the same text means another thing outside of PREPARE
			s.db.plans.add(s.parsed.Text, r)
		}
	} else if f, ok := sql.FormOf(s.parsed.Text); ok {
		s.db.plans.add(f.Text, r)
	}
}

// stillValid reports that what was bound means the same in a DB now.
func (r *cachedPlan) stillValid(db *DB) bool {
	return r != nil && r.version == db.tables.Version() && r.off == db.off()
}

// repeat makes m a statement that was bound before, with other values. It is false where that has to be bound, or would not find single
// rows.
func (m *mutation) repeat(r *cachedPlan, values []table.Value) bool {
	if !r.stillValid(m.db) {
		return false
	}
	ch, ok := r.Change(values)
	if !ok {
		return false
	}
	e := m.db.entry(ch.Table)
	if e == nil || e.Definition != r.def {
		return false
	}
	m.Change, m.def = ch, r.def
	if ch.Verb == "INSERT" && ch.Conflict == nil {
		return true
	}
	m.target = ch.Table
	if t := e.Table.Load(); t == nil || !t.Has(t.All()) || !m.lookUp() {
		m.Change, m.def, m.lookup, m.target = nil, nil, nil, ""
		return false
	}
	return true
}

// repeated runs a text that was bound before, or one of the same form. ok is false, and nothing has happened, where the text has to be
// parsed, if only for an error's place in it.
func (db *DB) repeated(ctx context.Context, text string, args []any) (_ *Rows, ok bool, err error) {
	if !sql.OfRows(text) {
		return nil, false, nil
	}
	form := text
	values, err := parameters(args)
	if len(args) == 0 {
		f, _ := sql.FormOf(text)
		form, values = f.Text, f.Values
	}
	r := db.plans.get(form)
	if r == nil || err != nil {
		return nil, false, nil
	}
	s := &Statement{db: db, script: text, parsed: r.parsed.Like(text)}
	if r.parsed.IsSelect() {
		rows := s.answerCachedLookup(ctx, r, values)
		return rows, rows != nil, nil
	}
	s.again.Store(r)
	return s.changeOf(ctx, values, true)
}

// answerCachedLookup is the answer of a look-up that was bound before, with other values; nil where the statement has to be bound.
func (s *Statement) answerCachedLookup(ctx context.Context, r *cachedPlan, values []table.Value) *Rows {
	if !r.stillValid(s.db) || !s.db.usesPointLookups() {
		return nil
	}
	tree, ok := r.Rows(values)
	if !ok {
		return nil
	}
	l := s.db.pointLookupOf(tree)
	if l == nil || l.of != r.def {
		return nil
	}
	of := &Statement{db: s.db, script: s.script, parsed: s.parsed, bound: &bound{lookup: l, version: r.version}}
	rows, err := of.reading(ctx, nil, func(ctx context.Context, _ []any) (*Rows, error) {
		rows, err := of.answerLookup(ctx)
		if rows == nil && err == nil {
			err = errBind
		}
		return rows, err
	})
	if err != nil { // which is found again
		return nil
	}
	return rows
}
