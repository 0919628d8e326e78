package lower

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/table"
)

// maxPattern is how many characters a condition may name that becomes LIKE.
const maxPattern = 200

// rewriteAsLike returns a condition over a function of a text column as LIKE of the column. LIKE can search a
// dictionary, or scan its bytes. It returns nil for other conditions than these:
//
//	starts_with(c, 'ab')               c LIKE 'ab%'
//	substring(c, 2, 2) = 'ab'          c LIKE '_ab%'
//	substring(c, 1, 2) IN ('ab', 'cd') c LIKE 'ab%' OR c LIKE 'cd%'
//	left(c, 2) = 'ab'                  c LIKE 'ab%'
//	right(c, 2) = 'ab'                 c LIKE '%ab'
//	strpos(c, 'ab') > 0                c LIKE '%ab%'
//	length(c) >= 3                     c LIKE '___%'
//	lower(c) = 'ab'                    c ILIKE 'ab'
func rewriteAsLike(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		if e.Fn.Name == "starts_with" || e.Fn.Name == "^@" {
			if s, ok := shortText(e.Args[1]); ok {
				return newLike(e.Args[0], escapePattern(s)+"%", false, e.P)
			}
		}
	case *expr.Like:
		if c, ok := e.X.(*expr.Call); ok && c.Fn.Name == "lower" && isLower(e.Pattern) {
			if x, ok := c.Args[0].(*expr.Column); ok {
				return &expr.Like{X: x, Pattern: e.Pattern, Escape: e.Escape, Fold: true, Not: e.Not, P: e.P}
			}
		}
	case *expr.Compare:
		return compareAsLike(e)
	case *expr.In:
		or := &expr.Or{P: e.P}
		for _, c := range e.List {
			k := rewriteAsLike(&expr.Compare{Op: expr.EQ, L: e.X, R: c, P: e.P})
			if k == nil || !isBinarySearchable(k) {
				return nil
			}
			or.Kids = append(or.Kids, k)
		}
		var in expr.Expr = or
		if len(or.Kids) == 1 {
			in = or.Kids[0]
		}
		if e.Not {
			return &expr.Not{X: in, P: e.P}
		}
		return in
	}
	return nil
}

// isBinarySearchable reports a condition whose texts are found by binary search.
func isBinarySearchable(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Like:
		m, err := match.CompileLike(e.Pattern, e.Escape, e.Fold)
		return err == nil && m.Prefix() != ""
	case *expr.Compare:
		return true
	case *expr.Not:
		return isBinarySearchable(e.X)
	case *expr.Or:
		return !slices.ContainsFunc(e.Kids, func(k expr.Expr) bool { return !isBinarySearchable(k) })
	}
	return false
}

// compareAsLike is [rewriteAsLike] of a comparison with a constant.
func compareAsLike(e *expr.Compare) expr.Expr {
	call, ok := e.L.(*expr.Call)
	k, constant := e.R.(*expr.Const)
	if !ok || !constant || k.V.Null || len(call.Args) == 0 {
		return nil
	}
	x, ok := call.Args[0].(*expr.Column)
	if !ok || x.T.Kind != table.Varchar {
		return nil
	}
	var n []int64 // the other arguments
	for _, a := range call.Args[1:] {
		if c, ok := a.(*expr.Const); ok && !c.V.Null && c.V.Type.IsInteger() {
			n = append(n, c.V.I)
		}
	}
	switch call.Fn.Name {
	case "length", "char_length", "character_length":
		return lengthAsLike(x, e.Op, k.V.I, e.P)
	case "strpos", "position":
		s, ok := shortText(call.Args[1])
		if op := e.Op; ok && s != "" && (k.V.I == 0 && (op == expr.GT || op == expr.NE || op == expr.EQ || op == expr.LE) || k.V.I == 1 && (op == expr.GE || op == expr.LT)) {
			return newLike(x, "%"+escapePattern(s)+"%", op == expr.EQ || op == expr.LE || op == expr.LT, e.P)
		}
		return nil
	}
	s, ok := shortText(k)
	if !ok || s == "" || len(n) < len(call.Args)-1 || e.Op != expr.EQ && e.Op != expr.NE {
		return nil
	}
	from, length, not := int64(1), int64(utf8.RuneCountInString(s)), e.Op == expr.NE
	switch call.Fn.Name {
	case "lower":
		if isLower(s) {
			return &expr.Like{X: x, Pattern: escapePattern(s), Escape: '\\', Fold: true, Not: not, P: e.P}
		}
		return nil
	case "right":
		if n[0] == length {
			return newLike(x, "%"+escapePattern(s), not, e.P)
		}
		return nil
	case "left":
	case "substring", "substr":
		if from = n[0]; len(n) == 1 {
			n = append(n, length+1) // all that is there
		}
		n = n[1:]
	default:
		return nil
	}
	if from < 1 || from > maxPattern {
		return nil
	}
	pattern := strings.Repeat("_", int(from-1)) + escapePattern(s)
	switch {
	case n[0] < length:
		return nil
	case n[0] == length:
		pattern += "%"
	case from == 1:
		return &expr.Compare{Op: e.Op, L: x, R: k, P: e.P}
	}
	return newLike(x, pattern, not, e.P)
}

// lengthAsLike is a comparison of the number of a text's characters.
func lengthAsLike(x *expr.Column, op expr.CmpOp, n int64, pos int) expr.Expr {
	if op == expr.GT || op == expr.LE { // as >= and <
		n++
	}
	if n < 1 || n > maxPattern {
		return nil
	}
	pattern := strings.Repeat("_", int(n))
	if op != expr.EQ && op != expr.NE {
		pattern += "%"
	}
	return newLike(x, pattern, op == expr.NE || op == expr.LT || op == expr.LE, pos)
}

// newLike is a LIKE of a column; nil of anything else.
func newLike(x expr.Expr, pattern string, not bool, pos int) expr.Expr {
	if _, ok := x.(*expr.Column); !ok {
		return nil
	}
	return &expr.Like{X: x, Pattern: pattern, Escape: '\\', Not: not, P: pos}
}

// shortText is a constant text without bytes that are no UTF-8, short enough for a pattern.
func shortText(e expr.Expr) (string, bool) {
	c, ok := e.(*expr.Const)
	if !ok || c.V.Null || c.V.Type.Kind != table.Varchar || !utf8.ValidString(c.V.S) || len(c.V.S) > maxPattern {
		return "", false
	}
	return c.V.S, true
}

func isLower(s string) bool { return s == strings.ToLower(s) }

// escapePattern is a text as a pattern.
func escapePattern(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
