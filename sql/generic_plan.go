package sql

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Form is the text of a SELECT, INSERT, UPDATE or DELETE without its numbers and strings. DELETE FROM t WHERE k = 1 and one of k = 20 have the same.
type Form struct {
	Text   string
	Values []table.Value // that were left out, as literals have them
	at     []int         // where they stand in the statement's text
}

// maxForm is the longest text that has a form, in bytes.
const maxForm = 4096

// FormOf is the form of a text. ok is false of other statements, and where it would take more than a look at the characters to tell numbers and strings.
func FormOf(text string) (f Form, ok bool) {
	text = alone(text)
	if len(text) < 6 || len(text) > maxForm || !OfRows(text) || !utf8.ValidString(text) {
		return f, false
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case isWordStart(c):
			for n = 1; isWordPart(byteAt(text, i+n)); n++ {
			}
			if byteAt(text, i+n) == '\'' { // E'...' and the like
				return f, false
			}
			out = append(out, text[i:i+n]...)
		case isDigit(c):
			for n = 1; isDigit(byteAt(text, i+n)); n++ {
			}
			if next := byteAt(text, i+n); n > 18 || next == '.' || isWordPart(next) || i > 0 && text[i-1] == '.' {
				out = append(out, text[i:i+n]...)
				break
			}
			v, _ := strconv.ParseInt(text[i:i+n], 10, 64) // which 18 digits are
			f.Values, f.at = append(f.Values, table.Literal(v)), append(f.at, i)
			out = append(out, '0')
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if n = end + 2; end < 0 || byteAt(text, i+n) == '\'' {
				return f, false
			}
			f.Values, f.at = append(f.Values, table.Value{S: text[i+1 : i+1+end]}), append(f.at, i)
			out = append(out, "''"...)
		case c == '"':
			end := strings.IndexByte(text[i+1:], '"')
			if n = end + 2; end < 0 {
				return f, false
			}
			out = append(out, text[i:i+n]...)
		case c == '$' || c == ';' || c == 0 || c == '-' && byteAt(text, i+1) == '-' || c == '/' && byteAt(text, i+1) == '*':
			return f, false
		default:
			out = append(out, c)
		}
		i += n
	}
	f.Text = string(out)
	return f, len(f.Values) > 0
}

// blanks are those that [isBlank] knows: others are parts of names.
const blanks = " \t\n\v\f\r"

// alone is the text of one statement without what is blank around it and the semicolon.
func alone(text string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.Trim(text, blanks), ";"), blanks)
}

// Like is the statement with a text of the same form, or the same, in the place of its own. It is not bound.
func (s *Statement) Like(text string) *Statement {
	like := *s
	like.Text = alone(text)
	return &like
}

// OfRows reports a text that begins with SELECT, INSERT, UPDATE or DELETE.
func OfRows(text string) bool {
	text = strings.TrimLeft(text, blanks)
	first := text[:min(6, len(text))]
	return slices.ContainsFunc([]string{"select", "insert", "update", "delete"}, func(word string) bool { return strings.EqualFold(first, word) })
}

// GenericPlan is an INSERT of VALUES, an UPDATE, a DELETE or a SELECT of rows of one table that has been bound with some values. It is bound for others in their places.
type GenericPlan struct {
	of     *Statement
	change *Change   // nil for a query
	rows   plan.Node // the change's, or the query's
	n      int       // of the values
	items  []itemOf
	consts map[*expr.Const]int // in the conditions and expressions of other rows: which value each has, or is the text of
	types  map[int]table.Type  // that these must have
}

// itemOf is an item of a row that is one of the values, assigned to a column.
type itemOf struct {
	row, item int // of VALUES; of the rows of an UPDATE
	field     table.Field
	value     int
	pos       int
}

// assign sets the item.
func (a *GenericPlan) assign(i itemOf, values []table.Value) expr.Expr {
	c := &expr.Const{V: values[i.value], P: i.pos}
	if a.of.Infers {
		c.Param = new(table.Type)
	}
	return (&binder{Statement: a.of}).assigned(c, i.field)
}

// boundValues is what is bound of the values.
type boundValues struct {
	of     *Form // nil where they are the parameters
	consts []constOf
	items  []itemOf
}

// constOf is a literal or a parameter that has been bound.
type constOf struct {
	c     *expr.Const
	value int
	given table.Type // of the value, before its place has given it another
}

// literal notes a literal at a place of the statement.
func (n *boundValues) literal(loc int, c *expr.Const) {
	if n == nil || n.of == nil {
		return
	}
	i, ok := slices.BinarySearch(n.of.at, loc)
	if v := n.of.Values; ok && c.V.Type == v[i].Type && c.V.I == v[i].I && c.V.S == v[i].S && !c.V.Null { // with a sign it is another one
		n.consts = append(n.consts, constOf{c, i, c.V.Type})
	}
}

// param notes the parameter of a number, from 1 on, and the type of its value.
func (n *boundValues) param(number int, c *expr.Const, given table.Type) {
	if n != nil && n.of == nil {
		n.consts = append(n.consts, constOf{c, number - 1, given})
	}
}

// item notes that an item of a row is no more than what was noted last.
func (n *boundValues) item(e *pg.Node, bound expr.Expr, field table.Field, row, item int) {
	if n == nil || e.GetAConst() == nil && e.GetParamRef() == nil || len(n.consts) == 0 {
		return
	}
	if last := n.consts[len(n.consts)-1]; bound == expr.Expr(last.c) {
		n.items = append(n.items, itemOf{row, item, field, last.value, bound.Pos()})
		n.consts = n.consts[:len(n.consts)-1]
	}
}

// BindGeneric resolves the names of a statement that changes something, as [Statement.Bind] does. It also gives what it has bound for other values. These are of the parameters or, of a statement that has none, of its form. It is nil
// where these would be bound in another way.
func (s *Statement) BindGeneric(c Catalog, params ...table.Value) (ch *Change, a *GenericPlan, err error) {
	n, values, err := s.bindValues(c, params, func(c Catalog, n *boundValues, now *time.Time) (err error) {
		ch, err = s.bindChange(c, params, n, now)
		return err
	})
	if n != nil && ch.Returning == nil && ch.Parts == nil {
		if a = s.genericPlan(ch.Rows, n, values, ch.Verb == "INSERT"); a != nil {
			a.change = ch
		}
	}
	return ch, a, err
}

// BindRowsGeneric is Bind likewise.
func (s *Statement) BindRowsGeneric(c Catalog, params ...table.Value) (tree plan.Node, a *GenericPlan, err error) {
	n, values, err := s.bindValues(c, params, func(c Catalog, n *boundValues, now *time.Time) (err error) {
		tree, err = s.bindRows(c, params, n, now)
		return err
	})
	if n != nil {
		a = s.genericPlan(tree, n, values, false)
	}
	return tree, a, err
}

// bindValues binds with notes of the values, which are nil where the statement means another thing with others, or later.
func (s *Statement) bindValues(c Catalog, params []table.Value, bind func(Catalog, *boundValues, *time.Time) error) (n *boundValues, values []table.Value, err error) {
	now := time.Time{}
	n, values = &boundValues{}, params
	if s.Params == 0 {
		f, ok := FormOf(s.Text)
		if !ok {
			return nil, nil, bind(c, nil, &now)
		}
		n.of, values = &f, f.Values
	}
	again, clock, texts := !s.Clock, c.Clock, c.Texts
	c.Clock = func() {
		if again = false; clock != nil {
			clock()
		}
	}
	c.Texts = func(name string, column int) ([][]string, bool, error) { again = false; return texts(name, column) }
	if err = bind(c, n, &now); err != nil || !again || !now.IsZero() {
		return nil, nil, err
	}
	return n, values, nil
}

// genericPlan is rows that were bound as rows for other values; inserts says that they are those of an INSERT.
func (s *Statement) genericPlan(rows plan.Node, n *boundValues, values []table.Value, inserts bool) *GenericPlan {
	a := &GenericPlan{of: s, rows: rows, n: len(values), items: n.items, consts: map[*expr.Const]int{}, types: map[int]table.Type{}}
	bound, noted := map[int]bool{}, map[*expr.Const]int{}
	for _, i := range a.items {
		bound[i.value] = true
	}
	for _, c := range n.consts {
		if c.c.V.Null {
			return nil
		}
		bound[c.value], noted[c.c], a.types[c.value] = true, c.value, c.given
	}
	if len(bound) < len(values) {
		return nil // a value is not what is bound, or stands where nothing is
	}
	if l, ok := rows.(*plan.Limit); ok {
		rows = l.Input
	}
	switch rows := rows.(type) {
	case *plan.Values:
		if !inserts || rows.Input != nil || len(noted) > 0 {
			return nil
		}
		return a
	case *plan.Project:
		f, ok := rows.Input.(*plan.Filter)
		if !ok || inserts {
			return nil
		}
		if scan, ok := f.Input.(*plan.Scan); !ok || scan.Of != nil {
			return nil
		}
		found := map[*expr.Const]int{}
		plain := a.plain(f.Where, noted, found)
		for _, item := range rows.Items {
			plain = plain && a.plain(item.E, noted, found)
		}
		for c := range noted {
			plain = plain && found[c] == 1
		}
		if plain {
			return a
		}
	}
	return nil
}

// plain reports an expression in which a value is nowhere but in its place, and counts those places.
func (a *GenericPlan) plain(e expr.Expr, noted, found map[*expr.Const]int) bool {
	plain := true
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Const:
			c := e
			if e.Of != nil {
				c = e.Of
			}
			if i, ok := noted[c]; ok {
				a.consts[e] = i
				found[c]++
			}
		case *expr.Column, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.Arith, *expr.Neg, *expr.Between, *expr.Cast:
		default: // which may make another thing of a value
			expr.Walk(e, func(e expr.Expr) {
				if c, ok := e.(*expr.Const); ok {
					_, is := noted[c]
					_, of := noted[c.Of]
					plain = plain && !is && !of
				}
			})
		}
	})
	return plain
}

// Change is the change with other values; ok is false where these have to be bound.
func (a *GenericPlan) Change(values []table.Value) (_ *Change, ok bool) {
	ch := *a.change
	ch.Rows, ok = a.Rows(values)
	return &ch, ok
}

// Rows are the rows with other values; ok is false where these have to be bound.
func (a *GenericPlan) Rows(values []table.Value) (_ plan.Node, ok bool) {
	defer func() {
		if recover() != nil { // a value that its column or its place does not take
			ok = false
		}
	}()
	if len(values) != a.n {
		return nil, false
	}
	for i, t := range a.types {
		if v := values[i]; v.Null || v.Type != t {
			return nil, false
		}
	}
	return a.with(a.rows, values), true
}

func (a *GenericPlan) with(rows plan.Node, values []table.Value) plan.Node {
	switch rows := rows.(type) {
	case *plan.Limit:
		return rows.With(a.with(rows.Input, values))
	case *plan.Values:
		next := *rows
		next.Rows = slices.Clone(rows.Rows)
		for i := range next.Rows {
			next.Rows[i] = slices.Clone(next.Rows[i])
		}
		for _, i := range a.items {
			next.Rows[i.row][i.item] = a.assign(i, values)
		}
		return &next
	default:
		p := rows.(*plan.Project)
		f := p.Input.(*plan.Filter)
		set := func(e expr.Expr) expr.Expr {
			return expr.Map(e, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.Const); ok {
					if i, ok := a.consts[c]; ok {
						v := values[i]
						switch {
						case c.Of != nil:
							v = table.Str(v.S)
						case v.Type.IsNumeric():
							if v = asParameter(v, c.V.Type, c.P); v.Type != c.V.Type {
								panic(expr.Coded(sqlstate.SyntaxError, c.P, "the value has another number of digits"))
							}
						}
						return &expr.Const{V: v, P: c.P}
					}
				}
				return nil
			})
		}
		items := slices.Clone(p.Items)
		for i := range items {
			items[i].E = set(items[i].E)
		}
		for _, i := range a.items {
			items[i.item].E = a.assign(i, values)
		}
		return &plan.Project{Input: &plan.Filter{Input: f.Input, Where: set(f.Where)}, Items: items}
	}
}
