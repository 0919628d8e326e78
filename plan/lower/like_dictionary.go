package lower

import (
	"sort"
	"strings"
	"sync"
	"weak"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// minTexts is from how many texts of a dictionary on LIKE is a [predicate.Match].
const minTexts = 1 << 15

// manyTexts reports whether a condition over one column is over many texts.
func (l *lowerer) manyTexts(e expr.Expr) bool { return l.seg(expr.Columns(e)[0]).Max >= minTexts }

// matchLeaf lowers LIKE over a dictionary of many texts; nil for other conditions. Where the pattern begins with
// a text, few of the dictionary are looked at: see [evaluateDictionary].
func (l *lowerer) matchLeaf(e expr.Expr) *leafTests {
	like, ok := e.(*expr.Like)
	if !ok {
		return nil
	}
	c, ok := like.X.(*expr.Column)
	if !ok || !l.manyTexts(e) {
		return nil
	}
	m, err := match.CompileLike(like.Pattern, like.Escape, like.Fold)
	if err != nil || m.Prefix() != "" || len(m.Elements()) < 2 {
		return nil
	}
	seg := weak.Make(l.seg(c.Index)) // lowered conditions keep no segment in memory
	top := func() uint64 { return seg.Value().Max }
	runs := sync.OnceValue(func() []codeRun { return evaluateDictionary(seg.Value(), e) })
	leaf := func(not bool, f predicate.BooleanTest, text string) *predicate.Pred {
		spans := sync.OnceValue(func() predicate.SpanSet { return spansWhere(runs(), func(o outcome) bool { return o.truth(e) == f }) })
		return predicate.NewLeaf(&predicate.Match{Col: c.Index, Not: not, Pattern: m, Text: text, Spans: spans, Top: top})
	}
	return &leafTests{t: leaf(like.Not, predicate.IsTrue, e.String()), f: leaf(!like.Not, predicate.IsFalse, negatedText(e)), u: l.nullTest(c.Index, true), errsKnown: true}
}

// evaluateDictionary tries the codes of a segment. LIKE of the column itself finds those that match; where its pattern
// begins with a text, among those that begin so.
func evaluateDictionary(seg *table.Segment, e expr.Expr) []codeRun {
	like, ok := e.(*expr.Like)
	if ok {
		_, ok = like.X.(*expr.Column)
	}
	if !ok {
		return evaluateParallel(predicate.Span{Lo: 0, Hi: seg.Max}, func(s predicate.Span) []codeRun { return evaluateVectors(s, seg, e) })
	}
	m, err := match.CompileLike(like.Pattern, like.Escape, like.Fold)
	if err != nil {
		return []codeRun{{0, seg.Max, outcome{err: expr.ErrorAt(like.P, err)}}}
	}
	dict := seg.Dict[:seg.Max+1]
	lo := sort.SearchStrings(dict, m.Prefix())
	hi := lo + sort.Search(len(dict)-lo, func(i int) bool { return !strings.HasPrefix(dict[lo+i], m.Prefix()) })
	var matches []codeRun
	yes, no := outcome{sign: 1}, outcome{}
	if like.Not {
		yes, no = no, yes
	}
	if lo < hi {
		matches = evaluateParallel(predicate.Span{Lo: uint64(lo), Hi: uint64(hi) - 1}, func(s predicate.Span) (runs []codeRun) {
			m.Each(dict[s.Lo:s.Hi+1], func(i int) {
				c := s.Lo + uint64(i)
				if n := len(runs); n > 0 && runs[n-1].hi+1 == c {
					runs[n-1].hi = c
				} else {
					runs = append(runs, codeRun{c, c, yes})
				}
			})
			return runs
		})
	}
	runs := make([]codeRun, 0, 2*len(matches)+1)
	next := uint64(0)
	for _, r := range matches {
		if r.lo > next {
			runs = append(runs, codeRun{next, r.lo - 1, no})
		}
		runs, next = append(runs, r), r.hi+1
	}
	if next <= seg.Max {
		runs = append(runs, codeRun{next, seg.Max, no})
	}
	return runs
}
