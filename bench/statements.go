package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Catalog is the tables that a user's statements may name, besides files by their paths.
type Catalog struct {
	Files     []NamedFile
	Generator string // of package generate, whose name is the table's; "" for none
	Seed      uint64 // of the generator
	Options   ingest.Options
}

// NamedFile is a table that is read from a source.
type NamedFile struct {
	Name string
	ingest.Source
}

// ownTable is a table that a statement names.
type ownTable struct {
	name    string
	from    ingest.Source
	file    *ingest.File // nil for one that is generated
	fields  []table.Field
	rows    int          // of a file
	columns map[int]bool // that statements read
	beside  []*ownTable  // that statements over this one name, too
}

// Statements makes a suite of the SELECTs of a script: an operation each, q1, q2, ..., over the first table that it names.
// It reads what it needs of that table, and of the other tables all. An error has its place in the script. By the fresh
// protocol each statement has parameters to draw: see [workload.Template].
func Statements(ctx context.Context, script string, c Catalog, fresh bool) (Suite, error) {
	s := Suite{Name: report.OwnStatements, Rows: small, Backends: report.Backends(), Fresh: fresh}
	b := &ownTables{ctx: ctx, Catalog: c}
	texts, err := b.texts(script, fresh)
	if err != nil {
		return s, errors.New(sql.Describe(script, err))
	}
	if len(texts) == 0 {
		return s, errors.New("there is no statement: write one, such as SELECT COUNT(*) FROM flights")
	}
	for i, t := range texts {
		op := workload.Operation{Name: fmt.Sprintf("q%d", i+1), From: t.from, Query: func(*workload.TableProfile) meter.Query { return meter.Query{SQL: t.list[0]} }}
		if fresh {
			op.Draws = func(_ *workload.TableProfile, n int) []string { return t.list[1:min(1+n, len(t.list))] }
		}
		s.Operations = append(s.Operations, op)
	}
	var loads []workload.Operation
	for _, t := range b.list {
		if t.file != nil && t.rows == 0 {
			return s, fmt.Errorf("table %s has no rows to measure on", t.name)
		}
		from := t.source(c)
		if s.tables = append(s.tables, from); from.FileLoad != nil {
			loads = append(loads, workload.Operation{Name: report.LoadCase, From: t.name, Loads: true})
		}
	}
	for i := range loads {
		if len(loads) > 1 {
			loads[i].Name += strconv.Itoa(i + 1)
		}
	}
	s.Operations = append(s.Operations, loads...)
	return s, nil
}

// ownTexts are the texts of one statement, without drawn parameters one, and the table that it is measured over.
type ownTexts struct {
	from string
	list []string
}

// texts are those of each statement of a script, by the fresh protocol with up to MostRounds draws behind the first. An error has its place
// in the script.
func (b *ownTables) texts(script string, fresh bool) (texts []*ownTexts, err error) {
	t, err := workload.ParseTemplate(script)
	if err != nil && fresh {
		return nil, err
	}
	if !fresh {
		if i := slices.IndexFunc(t.Parameters, func(p workload.Parameter) bool { return !p.Quoted }); i >= 0 {
			return nil, expr.Errorf(t.Parameters[i].Start, "the parameter %s is drawn with --fresh only", t.Parameters[i].Name)
		}
		t = workload.Template{Script: script}
	}
	r := rand.New(rand.NewPCG(workload.DrawSeed, 0))
	seen := map[string]bool{}
	for n := 0; n == 0 || fresh && n <= meter.MostRounds; n++ {
		f := t.Substitute(r)
		list, err := sql.Parse(f.Text)
		if err != nil {
			return nil, t.Origin(f, err)
		}
		if n > 0 && len(list) != len(texts) {
			return nil, fmt.Errorf("the values of parameters make %d statements of the script, and %d: a value is no part of two statements", len(list), len(texts))
		}
		for i, st := range list {
			if n > 0 && seen[fmt.Sprint(i, st.Text)] {
				continue
			}
			seen[fmt.Sprint(i, st.Text)] = true
			from, err := b.read(st)
			if err != nil {
				return nil, t.Origin(f, err)
			}
			if n == 0 {
				texts = append(texts, &ownTexts{from: from})
			}
			if of := texts[i]; of.from != from {
				b.find(of.from).join(b.find(from))
			}
			texts[i].list = append(texts[i].list, b.named(st))
		}
		if n == meter.MostRounds && fresh {
			for i, st := range list {
				if len(texts[i].list) < 2 {
					return nil, t.Origin(f, expr.Errorf(st.Offset, "the statement has no parameter to draw, so that it would only be repeated: write one, such as {x:1..100}, or leave --fresh out"))
				}
			}
		}
	}
	return texts, nil
}

// join adds another table to those beside t, with those beside that.
func (t *ownTable) join(other *ownTable) {
	for _, o := range append([]*ownTable{other}, other.beside...) {
		if o != t && !slices.Contains(t.beside, o) {
			t.beside = append(t.beside, o)
		}
	}
}

// ownTables are the tables that statements have named so far.
type ownTables struct {
	Catalog
	ctx  context.Context
	list []*ownTable
}

// read resolves a statement, and notes what it reads of which table.
func (b *ownTables) read(st *sql.Statement) (from string, err error) {
	if err := st.Err(); err != nil {
		return "", err
	}
	if !st.IsSelect() {
		return "", expr.Errorf(st.Offset, "what is measured is a SELECT, and this is none: leave it out")
	}
	tree, err := st.Bind(b.catalog())
	if err != nil {
		return "", err
	}
	if _, ok := tree.(*plan.Arrays); ok {
		return "", expr.Errorf(st.Offset, "an array of percentiles is not compared with other databases: write percentiles one by one")
	}
	var first *ownTable
	names, reads := answer.Reads(tree)
	for _, name := range names {
		t := b.find(name)
		for _, col := range reads[name] {
			t.columns[col] = true
		}
		if first == nil {
			first = t
		} else if t != first && !slices.Contains(first.beside, t) {
			first.beside = append(first.beside, t)
		}
	}
	if first == nil {
		return "", expr.Errorf(st.Offset, "the statement reads no table: there is nothing to measure")
	}
	return first.name, nil
}

// named is a statement that has been read, with the names of tables in the place of functions that read files. So other
// databases take it.
func (b *ownTables) named(st *sql.Statement) string {
	text := st.Text
	for _, at := range slices.Backward(st.FileCalls()) {
		call, name := text[at.Start:at.End], ""
		c := b.catalog()
		open := c.Open
		c.Open = func(f sql.File) (*table.Table, error) {
			name = f.String()
			return open(f)
		}
		if list, err := sql.Parse("SELECT 1 FROM " + call); err == nil {
			_, _ = list[0].Bind(c) // as the statement itself did
		}
		name = expr.Ident(name)
		if !at.Named {
			name += " AS " + call[:strings.IndexByte(call, '(')]
		}
		text = text[:at.Start] + name + text[at.End:]
	}
	return text
}

func (b *ownTables) find(name string) *ownTable {
	if i := slices.IndexFunc(b.list, func(t *ownTable) bool { return t.name == name }); i >= 0 {
		return b.list[i]
	}
	return nil
}

// catalog is what binding sees.
func (b *ownTables) catalog() sql.Catalog {
	var c sql.Catalog
	for _, f := range b.Files {
		c.Names = append(c.Names, f.Name)
	}
	if b.Generator != "" {
		c.Names = append(c.Names, b.Generator)
	}
	c.Table = func(i int) (*table.Table, error) {
		if i < len(b.Files) {
			return b.open(b.Files[i].Name, b.Files[i].Source)
		}
		return b.generated()
	}
	c.Open = func(f sql.File) (*table.Table, error) {
		s, err := engine.SourceOf(f)
		if err == nil {
			_, err = ingest.Files(s.Path)
		}
		if err != nil {
			return nil, err
		}
		return b.open(f.String(), s)
	}
	return c
}

// open opens a file, once.
func (b *ownTables) open(name string, s ingest.Source) (*table.Table, error) {
	t := b.find(name)
	if t == nil {
		file, err := ingest.Open(b.ctx, name, s, b.Options)
		if err != nil {
			return nil, err
		}
		t = &ownTable{name: name, from: s, file: file, columns: map[int]bool{}}
		b.list = append(b.list, t)
	}
	all, err := t.file.Read(b.ctx, nil, b.Options)
	if err == nil {
		t.fields, t.rows = all.Fields, all.Rows()
	}
	return all, err
}

// generated is a row of the generator's table.
func (b *ownTables) generated() (*table.Table, error) {
	gen, err := generate.Find(b.Generator)
	if err != nil {
		return nil, err
	}
	sample, err := gen.Generate(b.ctx, 1, b.Seed, 0)
	if err == nil && b.find(b.Generator) == nil {
		b.list = append(b.list, &ownTable{name: b.Generator, fields: sample.Fields, columns: map[int]bool{}})
	}
	return sample, err
}

// source is the table with the columns that statements read; with its first one where they read
// none.
func (t *ownTable) source(c Catalog) workload.Source {
	columns := t.wanted()
	s := workload.Source{Data: report.Data{Name: t.name}, Rows: t.rows, RowBytes: 8 * len(columns)}
	s.Table = func(ctx context.Context, rows int) (*table.Table, error) { return t.read(ctx, c, rows) }
	if t.beside != nil {
		s.Beside = func(ctx context.Context, rows int) (list []*table.Table, err error) {
			for _, other := range t.beside {
				n := rows
				if other.file != nil {
					n = other.rows
				}
				read, err := other.read(ctx, c, n)
				if err != nil {
					return nil, err
				}
				list = append(list, read)
			}
			return list, nil
		}
	}
	if t.file == nil {
		s.Data.Seed = c.Seed
	} else if t.from.Data == nil {
		s.FileLoad = &workload.FileLoad{Name: t.name, From: t.from, Fields: t.fields, Columns: columns, Options: c.Options}
		s.FileLoad.Options.Note, s.FileLoad.Options.Progress = nil, nil
	}
	return s
}

// wanted are the columns that statements read, or the first one.
func (t *ownTable) wanted() (columns []int) {
	for col, f := range t.fields {
		if t.columns[col] || len(t.columns) == 0 && f.Unsupported == "" {
			columns = append(columns, col)
			t.columns[col] = true
		}
	}
	return columns
}

// read is that many rows of the wanted columns.
func (t *ownTable) read(ctx context.Context, c Catalog, rows int) (*table.Table, error) {
	columns := t.wanted()
	if t.file != nil {
		all, err := t.file.Read(ctx, columns, c.Options)
		if err != nil {
			return nil, err
		}
		return workload.FirstRows(workload.Project(all, columns), rows)
	}
	gen, err := generate.Find(t.name)
	if err != nil {
		return nil, err
	}
	names := xslices.Map(columns, func(col int) string { return t.fields[col].Name })
	return gen.Generate(ctx, rows, c.Seed, 0, names...)
}
