package sql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Catalog is the tables that a statement may name.
type Catalog struct {
	Version uint64   // changes with what the names mean
	Names   []string // of the schema public
	// Information are the names of those of the schema information_schema, if it is
	// there: see [InformationSchema].
	Information []string
	// Table returns the table of the name at i, or why it cannot be read. Those of
	// information_schema come after those of public.
	Table func(i int) (*table.Table, error)
	// Definition, if there, is that of a table that statements may change; nil for another one.
	Definition func(name string) *storage.Definition
	// Clock, if there, is called when a view that reads the clock is bound.
	Clock func()
	// Open, if set, returns the table of a file whose path is no table's name. Its error says why the file
	// cannot be read, and is [fs.ErrNotExist] where there is none.
	Open func(f File) (*table.Table, error)
	// Texts, if set, returns lists with all texts that a VARCHAR column of a table has now, and perhaps others. ok is false where
	// that would take long. The error is why the column cannot be read. A statement that has asked is bound anew each time that it
	// runs.
	Texts func(name string, column int) (lists [][]string, ok bool, err error)
	// Off are the rules that binding leaves out: see [rules.Unnest].
	Off rules.Off
}

// One is the catalog of a single table.
func One(t *table.Table) Catalog {
	return Catalog{
		Names: []string{t.Name}, Table: func(int) (*table.Table, error) { return t, nil },
		Texts: func(_ string, column int) ([][]string, bool, error) {
			lists, ok := t.DictionariesOf(column)
			return lists, ok, nil
		},
	}
}

// Plan binds a text that is one SELECT over a table, and lowers the part of it that a
// backend does.
func Plan(t *table.Table, text string) (*physical.Query, error) {
	list, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, expr.Coded(sqlstate.SyntaxError, -1, "%d statements where one is expected", len(list))
	}
	n, err := list[0].Bind(One(t))
	if err != nil {
		return nil, err
	}
	parts := plan.Fragments(rules.CutFragments(n))
	if len(parts) != 1 {
		return nil, expr.Coded(sqlstate.SyntaxError, -1, "%s reads no table", text)
	}
	return physical.NewQuery(t, parts[0])
}

// lookup finds n among list. A quoted name is matched as it is. An unquoted one is matched without regard to
// case when that is unique, else in lower case as PostgreSQL folds it. It returns -1 and the number of names
// that differ in case only where it finds none.
func lookup(n name, list []string) (index, matches int) {
	index = -1
	for i, have := range list {
		if n.quoted && have == n.text || !n.quoted && strings.EqualFold(have, n.text) {
			index = i
			matches++
		}
	}
	switch {
	case matches > 1 && !n.quoted:
		return slices.Index(list, strings.ToLower(n.text)), matches
	case matches == 0 && len(n.text) > maxName: // CREATE TABLE has cut it
		n.text = n.text[:maxName]
		for !utf8.ValidString(n.text) {
			n.text = n.text[:len(n.text)-1]
		}
		return lookup(n, list)
	}
	return index, matches
}

// maxName is how many bytes of a name PostgreSQL's parser leaves.
const maxName = 63

// listAtMost is how many names an error lists in full.
const listAtMost = 12

// clipped is a name as an error shows it: the start of one that is no name but a
// text gone astray. PostgreSQL's names have 63 bytes.
func clipped(name string) string {
	if r := []rune(name); len(r) > 100 {
		return string(r[:100]) + "..."
	}
	return name
}

// suggest is what follows "... does not exist": the nearest names, or all of them
// when they are few and none is near.
func suggest(want string, list []string, plural string) string {
	if len(list) == 0 {
		return fmt.Sprintf("; there are no %s", plural)
	}
	type near struct {
		name string
		d    int
	}
	var found []near
	limit := max(1, len([]rune(want))/3)
	for _, have := range list {
		if d := Distance(strings.ToLower(want), strings.ToLower(have), limit); d <= limit {
			found = append(found, near{have, d})
		}
	}
	if len(found) == 0 {
		if plural == "functions" {
			return "; SHOW FUNCTIONS lists those there are"
		}
		if len(list) > listAtMost {
			return fmt.Sprintf("; the %d %s begin with %s", len(list), plural, strings.Join(Written(list[:listAtMost]), ", "))
		}
		return fmt.Sprintf("; the %s are %s", plural, strings.Join(Written(list), ", "))
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	names := xslices.Map(found[:min(3, len(found))], func(f near) string { return f.name })
	return "; did you mean " + strings.Join(Written(names), " or ") + "?"
}

// Written returns names as one writes them in SQL: quoted where they have to be.
func Written(names []string) []string {
	out := slices.Clone(names)
	for i, n := range names {
		if lower := strings.ToLower(n); expr.Ident(lower) != lower {
			out[i] = expr.Ident(n)
		}
	}
	return out
}

// Distance is the number of characters to insert, delete, replace or swap with
// their neighbour to make b of a (optimal string alignment). More than limit is
// returned as limit + 1.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before, row, next := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		next[0] = i + 1
		for j := range y {
			d := row[j]
			if x[i] != y[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
		}
		before, row, next = row, next, before
	}
	return row[len(y)]
}
