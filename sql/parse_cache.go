package sql

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// ParseCache keeps the trees of the queries that were parsed last, each by its form. A query that differs from one of them in its constants
// alone is not parsed. It may be used by several goroutines.
//
// What the grammar makes of a text depends on the kinds of its tokens, of which the form says all but the values of constants. The value of a
// constant is in one node of the tree, which [treeOf] makes sure of. So the tree of another text of the form is the same one with other
// values and other places.
type ParseCache struct {
	trees *lru.Cache[string, *formTree]
}

// NewParseCache makes a cache of so many forms.
func NewParseCache(size int) *ParseCache {
	trees, _ := lru.New[string, *formTree](size) // only a size below 1 is an error
	return &ParseCache{trees}
}

// Parse is the function of this name, for texts of which some are like others before.
func (c *ParseCache) Parse(text string) ([]*Statement, error) { return parse(text, c) }

// formTree is the tree of the texts of one form. Whoever reads it has locked it and set it to his text.
type formTree struct {
	sync.Mutex
	sel       *pg.SelectStmt
	of        *Statement // whose places and values it has
	params    int
	clock     bool
	places    []treePlace
	constants []treeConstant
}

// treePlace is a place in a tree: so many bytes behind the beginning of a token.
type treePlace struct {
	at            *int32
	token, within int
}

// treeConstant is a node of a tree and the token whose value it has.
type treeConstant struct {
	node     *pg.A_Const
	token    int
	negative bool // a minus stands before the token
}

// isPlain reports a constant whose value is no part of a form. It is of up to nine digits, perhaps with a point, or a text without escapes.
func (t token) isPlain(text string) bool {
	switch t.kind {
	case str: // of an even number of quotes, or nothing ends it
		return text[t.start] == '\'' && strings.Count(text[t.start:t.end], "'")%2 == 0
	case number:
		digits := 0
		for i := t.start; i < t.end; i++ {
			if text[i] != '.' {
				digits++
			}
			if text[i] != '.' && !isDigit(text[i]) {
				return false
			}
		}
		return digits <= 9
	}
	return false
}

// form is the statement's text with the same word for all plain constants of a kind, and one blank for all that is blank. It is "" where
// the kinds of tokens say too little: of statements that are no query, and where a number and a word are one.
func (s *Statement) form() string {
	if len(s.Text) > maxForm || len(s.tokens) == 0 || s.open >= 0 || !strings.EqualFold(s.token(0), "select") && !strings.EqualFold(s.token(0), "with") {
		return ""
	}
	out := make([]byte, 0, len(s.Text)+len(s.tokens))
	for i, t := range s.tokens {
		if i > 0 {
			switch before := s.tokens[i-1]; {
			case before.end < t.start:
				out = append(out, ' ')
			case before.kind == number && t.kind == word: // 0x1 is a number, and 5x1 is none
				return ""
			}
		}
		switch {
		case !t.isPlain(s.Text):
			out = append(out, s.Text[t.start:t.end]...)
		case t.kind == str:
			out = append(out, "''"...)
		case strings.IndexByte(s.Text[t.start:t.end], '.') >= 0:
			out = append(out, "0d"...) // which no token begins with
		default:
			out = append(out, "0i"...)
		}
	}
	return string(out)
}

// lookUp makes the statement one of a form that was parsed before; it is false where there is none.
func (c *ParseCache) lookUp(s *Statement, form string) bool {
	t, ok := c.trees.Get(form)
	if !ok {
		return false
	}
	s.kept, s.sel, s.Params, s.Clock = t, t.sel, t.params, t.clock
	return true
}

// add keeps the tree of a statement that was parsed.
func (c *ParseCache) add(s *Statement, form string) {
	if !s.IsSelect() || s.changed != nil {
		return
	}
	if t := treeOf(s); t != nil {
		s.kept = t
		c.trees.Add(form, t)
	}
}

// query is the tree of the statement's query. Nobody else has it before done is called.
func (s *Statement) query() (sel *pg.SelectStmt, done func(), err error) {
	switch t := s.kept; {
	case t == nil:
		return s.sel, func() {}, nil
	case t.TryLock():
		t.set(s)
		return t.sel, t.Unlock, nil
	}
	own := &Statement{Text: s.Text, Offset: s.Offset, tokens: slices.Clone(s.tokens), clean: s.clean, open: s.open}
	err = own.parse(nil)
	return own.sel, func() {}, err
}

// set gives the tree the places and the values of a text of its form.
func (t *formTree) set(s *Statement) {
	if t.of == s {
		return
	}
	t.of = s
	for _, p := range t.places {
		*p.at = int32(s.tokens[p.token].start + p.within)
	}
	for _, c := range t.constants {
		text := s.token(c.token)
		switch v := c.node.Val.(type) {
		case *pg.A_Const_Sval:
			v.Sval.Sval = unquoted(text)
		case *pg.A_Const_Ival:
			v.Ival.Ival = digits(text, c.negative)
		case *pg.A_Const_Fval:
			if c.negative {
				text = "-" + text
			}
			v.Fval.Fval = text
		}
	}
}

// unquoted is the text of a plain constant.
func unquoted(token string) string { return strings.ReplaceAll(token[1:len(token)-1], "''", "'") }

// digits is the integer of up to nine digits.
func digits(token string, negative bool) int32 {
	n, _ := strconv.ParseInt(token, 10, 32) // which nine digits are
	if negative {
		n = -n
	}
	return int32(n)
}

// treeOf is the statement's tree for all texts of its form. It is nil where a constant is not the value of one node, or a place is none of a
// token.
func treeOf(s *Statement) *formTree {
	t := &formTree{sel: s.sel, of: s, params: s.Params, clock: s.Clock}
	f := &treeFinder{formTree: t, taken: make([]bool, len(s.tokens))}
	f.walk(reflect.ValueOf(s.sel))
	for i, k := range s.tokens {
		f.failed = f.failed || k.isPlain(s.Text) != f.taken[i]
	}
	if f.failed {
		return nil
	}
	return t
}

// treeFinder finds the places and the constants of a tree.
type treeFinder struct {
	*formTree
	taken  []bool // by token: a node has its value
	failed bool
}

var constantType = reflect.TypeFor[*pg.A_Const]()

// walk looks at a node and at those below it.
func (f *treeFinder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			f.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.walk(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type() == constantType {
			f.constant(v.Interface().(*pg.A_Const))
		}
		v = v.Elem()
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			switch {
			case !field.IsExported():
			case field.Type == reflect.TypeFor[int32]() && strings.HasSuffix(field.Name, "ocation"):
				f.place(v.Field(i).Addr().Interface().(*int32))
			default:
				f.walk(v.Field(i))
			}
		}
	}
}

// tokenAt is the token that has a byte of the text; negative where none does.
func (s *Statement) tokenAt(loc int) int {
	i, found := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	if !found {
		i--
	}
	if i < 0 || loc >= s.tokens[i].end {
		return -1
	}
	return i
}

// place notes a place. Below 0 it is none, and 0 is where each text begins, and what those have that have no place.
func (f *treeFinder) place(at *int32) {
	if *at <= 0 {
		return
	}
	i := f.of.tokenAt(int(*at))
	if i < 0 {
		f.failed = true
		return
	}
	p := treePlace{at, i, int(*at) - f.of.tokens[i].start}
	f.failed = f.failed || p.within > 0 && f.of.tokens[i].isPlain(f.of.Text)
	f.places = append(f.places, p)
}

// constant notes a constant. Those that are words, or that the grammar has added, are the same in all texts of the form.
func (f *treeFinder) constant(n *pg.A_Const) {
	loc := int(n.Location)
	i := -1
	if loc > 0 {
		i = f.of.tokenAt(loc)
	}
	if i < 0 {
		return
	}
	c := treeConstant{node: n, token: i}
	if t := f.of.tokens[i]; t.kind == operator && f.of.Text[loc] == '-' && i+1 < len(f.of.tokens) && f.of.tokens[i+1].kind == number {
		c.token, c.negative = i+1, true
	}
	if !f.of.tokens[c.token].isPlain(f.of.Text) {
		return
	}
	text, same := f.of.token(c.token), false
	switch v := n.Val.(type) {
	case *pg.A_Const_Sval:
		same = text[0] == '\'' && v.Sval.GetSval() == unquoted(text)
	case *pg.A_Const_Ival:
		same = isDigit(text[0]) && !strings.Contains(text, ".") && v.Ival != nil && v.Ival.Ival == digits(text, c.negative)
	case *pg.A_Const_Fval:
		same = text[0] != '\'' && strings.Contains(text, ".") && strings.TrimPrefix(v.Fval.GetFval(), "-") == text && strings.HasPrefix(v.Fval.GetFval(), "-") == c.negative
	}
	f.failed = f.failed || !same
	f.taken[c.token] = true
	f.constants = append(f.constants, c)
}
