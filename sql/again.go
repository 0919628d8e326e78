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
	"github.com/stencildb/stencildb/table"
)

// Form is the text of an INSERT, UPDATE or DELETE without its numbers and strings: DELETE FROM t WHERE k = 1 and one of k = 20 have the same.
type Form struct {
	Text   string
	Values []table.Value // that were left out, as literals have them
	at     []int         // where they stand in the statement's text
}

// maxForm is the longest text that has a form, in bytes.
const maxForm = 4096

// FormOf is the form of a text; ok is false of other statements, and where it would take more than a look at the characters to tell numbers and strings.
func FormOf(text string) (f Form, ok bool) {
	text = strings.TrimSpace(text)
	text = strings.TrimRight(strings.TrimSuffix(text, ";"), " \t\r\n")
	if len(text) < 6 || len(text) > maxForm || !Changing(text) || !utf8.ValidString(text) {
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
			f.Values, f.at = append(f.Values, table.Int(v)), append(f.at, i)
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

// Changing reports a text that begins with INSERT, UPDATE or DELETE.
func Changing(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	first := text[:min(6, len(text))]
	return strings.EqualFold(first, "insert") || strings.EqualFold(first, "update") || strings.EqualFold(first, "delete")
}

// Again is an INSERT of VALUES, an UPDATE or a DELETE that has been bound with some values, for others in their places.
type Again struct {
	of     *Statement
	change *Change
	n      int // of the values
	items  []itemOf
	consts map[*expr.Const]int // in the conditions and expressions of other rows: which value each has
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
func (a *Again) assign(i itemOf, values []table.Value) expr.Expr {
	return (&binder{Statement: a.of}).assigned(&expr.Const{V: values[i.value], P: i.pos}, i.field)
}

// noted is what is bound of the values.
type noted struct {
	of     *Form // nil where they are the parameters
	offset int   // of the statement in its text, as positions count it
	consts []constOf
	items  []itemOf
}

// constOf is a literal or a parameter that has been bound.
type constOf struct {
	c     *expr.Const
	value int
}

// literal notes a literal at a place of the statement.
func (n *noted) literal(loc int, c *expr.Const) {
	if n == nil || n.of == nil {
		return
	}
	i, ok := slices.BinarySearch(n.of.at, loc)
	if v := n.of.Values; ok && c.V.Type == v[i].Type && c.V.I == v[i].I && c.V.S == v[i].S && !c.V.Null { // with a sign it is another one
		n.consts = append(n.consts, constOf{c, i})
	}
}

// param notes the parameter of a number, from 1 on.
func (n *noted) param(number int, c *expr.Const) {
	if n != nil && n.of == nil {
		n.consts = append(n.consts, constOf{c, number - 1})
	}
}

// item notes that an item of a row is no more than what was noted last.
func (n *noted) item(e *pg.Node, bound expr.Expr, field table.Field, row, item int) {
	if n == nil || e.GetAConst() == nil && e.GetParamRef() == nil || len(n.consts) == 0 {
		return
	}
	if last := n.consts[len(n.consts)-1]; bound == expr.Expr(last.c) {
		n.items = append(n.items, itemOf{row, item, field, last.value, bound.Pos()})
		n.consts = n.consts[:len(n.consts)-1]
	}
}

// BindAgain is BindChange that also gives what it has bound for other values: of the parameters or, of a statement that has none, of its form. It is nil
// where these would be bound in another way.
func (s *Statement) BindAgain(c Catalog, params ...table.Value) (*Change, *Again, error) {
	n, values := &noted{}, params
	if s.Params == 0 {
		f, ok := FormOf(s.Text)
		if !ok {
			ch, err := s.BindChange(c, params...)
			return ch, nil, err
		}
		n.of, values = &f, f.Values
	}
	again := true
	c.Clock = func() { again = false }
	texts := c.Texts
	c.Texts = func(name string, column int) ([][]string, bool, error) { again = false; return texts(name, column) }
	now := time.Time{}
	ch, err := s.bindChange(c, params, n, &now)
	if err != nil || !again || s.Clock || !now.IsZero() {
		return ch, nil, err
	}
	return ch, s.again(ch, n, values), nil
}

// again is a change as one for other values.
func (s *Statement) again(ch *Change, n *noted, values []table.Value) *Again {
	a := &Again{of: s, change: ch, n: len(values), items: n.items, consts: map[*expr.Const]int{}, types: map[int]table.Type{}}
	if ch.Returning != nil || ch.Parts != nil {
		return nil
	}
	bound := map[int]bool{}
	for _, i := range a.items {
		bound[i.value] = true
	}
	for _, c := range n.consts {
		if c.c.V.Null {
			return nil
		}
		bound[c.value], a.consts[c.c], a.types[c.value] = true, c.value, c.c.V.Type
	}
	if len(bound) < len(values) {
		return nil // a value is not what is bound, or stands where nothing is
	}
	switch rows := ch.Rows.(type) {
	case *plan.Values:
		if ch.Verb != "INSERT" || rows.Input != nil || len(a.consts) > 0 {
			return nil
		}
		return a
	case *plan.Project:
		f, ok := rows.Input.(*plan.Filter)
		if !ok || ch.Verb == "INSERT" {
			return nil
		}
		if scan, ok := f.Input.(*plan.Scan); !ok || scan.Of != nil {
			return nil
		}
		found := map[*expr.Const]int{}
		plain := a.plain(f.Where, found)
		for _, item := range rows.Items {
			plain = plain && a.plain(item.E, found)
		}
		for c := range a.consts {
			plain = plain && found[c] == 1
		}
		if plain {
			return a
		}
	}
	return nil
}

// plain reports an expression in which a value is nowhere but in its place, and counts those places.
func (a *Again) plain(e expr.Expr, found map[*expr.Const]int) bool {
	plain := true
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Const:
			found[e]++
		case *expr.Column, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.Arith, *expr.Neg, *expr.Between, *expr.Cast:
		default:
			plain = false
		}
	})
	return plain
}

// Change is the change with other values; ok is false where these have to be bound.
func (a *Again) Change(values []table.Value) (_ *Change, ok bool) {
	defer func() {
		if recover() != nil { // a value that its column does not take
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
	ch := *a.change
	switch rows := ch.Rows.(type) {
	case *plan.Values:
		next := *rows
		next.Rows = slices.Clone(rows.Rows)
		for i := range next.Rows {
			next.Rows[i] = slices.Clone(next.Rows[i])
		}
		for _, i := range a.items {
			next.Rows[i.row][i.item] = a.assign(i, values)
		}
		ch.Rows = &next
	case *plan.Project:
		set := func(e expr.Expr) expr.Expr {
			return expr.Map(e, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.Const); ok {
					if i, ok := a.consts[c]; ok {
						return &expr.Const{V: values[i], P: c.P}
					}
				}
				return nil
			})
		}
		f := rows.Input.(*plan.Filter)
		items := slices.Clone(rows.Items)
		for i := range items {
			items[i].E = set(items[i].E)
		}
		for _, i := range a.items {
			items[i.item].E = a.assign(i, values)
		}
		ch.Rows = &plan.Project{Input: &plan.Filter{Input: f.Input, Where: set(f.Where)}, Items: items}
	}
	return &ch, true
}
