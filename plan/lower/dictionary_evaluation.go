package lower

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Every VARCHAR and BOOLEAN condition is evaluated once per distinct value;
// others, where binary search does not apply, only if there are few codes.
const (
	fewCodes      = 2
	maxEnumerated = 1 << 16
	codesPerTask  = 1 << 14 // that a goroutine takes
)

// codeRun is a stretch of codes with one outcome.
type codeRun struct {
	lo, hi uint64
	outcome
}

// outcome is what an expression over one column is for one code. For a comparison
// sign is that of left with right; for another condition 1 is TRUE and 0 FALSE.
type outcome struct {
	sign int
	null bool
	err  error
}

func (o outcome) equal(p outcome) bool {
	if o.err != nil || p.err != nil {
		return o.err != nil && p.err != nil && errKey(o.err) == errKey(p.err)
	}
	return o.null == p.null && o.sign == p.sign
}

// truth returns isTrue, isFalse, isUnknown, or notUnknown for an error.
func (o outcome) truth(e expr.Expr) predicate.BooleanTest {
	yes := o.sign != 0
	if c, ok := e.(*expr.Compare); ok {
		yes = c.Op.Holds(o.sign)
	}
	switch {
	case o.err != nil:
		return predicate.NotUnknown
	case o.null:
		return predicate.IsUnknown
	case yes:
		return predicate.IsTrue
	}
	return predicate.IsFalse
}

// errKey tells errors apart by place and, loosely, by message: the values that
// messages about text quote do not count.
func errKey(err error) string {
	e, ok := err.(*expr.Error)
	if !ok {
		return err.Error()
	}
	msg := e.Msg
	if len(msg) > 20 {
		msg = msg[:20]
	}
	return fmt.Sprintf("%d %s", e.Pos, msg)
}

// outcomesAt evaluates e, a condition or a value over one column, for what is read of it.
func outcomesAt(e expr.Expr, read expr.Reader) func(code uint64) outcome {
	if e, ok := e.(*expr.Compare); ok {
		left, right := expr.At(e.L, read, false), expr.At(e.R, read, false)
		return func(code uint64) outcome {
			l, err := left(int(code))
			if err != nil {
				return outcome{err: err}
			}
			r, err := right(int(code))
			if err != nil || l.Null || r.Null {
				return outcome{err: err, null: true}
			}
			return outcome{sign: table.Compare(l, r)}
		}
	}
	eval := expr.At(e, read, false)
	return func(code uint64) outcome {
		x, err := eval(int(code))
		if e.Type().Kind != table.Boolean {
			return outcome{err: err} // of a value only its error counts
		}
		return outcome{sign: int(x.I), null: x.Null, err: err}
	}
}

// spansWhere are the codes of the runs whose outcome f accepts.
func spansWhere(runs []codeRun, f func(outcome) bool) predicate.SpanSet {
	var list []predicate.Span
	for _, r := range runs {
		if f(r.outcome) {
			list = append(list, predicate.Span{Lo: r.lo, Hi: r.hi})
		}
	}
	return predicate.NormalizeSpans(list)
}

// outcomes partitions the codes of col by the outcome of e, which reads no other column. It uses binary
// search where e is monotone, and otherwise tries each code, if there are few. ok is false where neither
// applies.
func (l *lowerer) outcomes(e expr.Expr, col int) (runs []codeRun, ok bool) {
	seg := l.seg(col)
	if seg.NonNull() == 0 {
		return nil, true
	}
	if seg.NegativeZeros != nil && tellsZeros(e, col, seg.Type) {
		return nil, false
	}
	at := outcomesAt(e, expr.Codes(seg))
	if seg.Max < fewCodes {
		return evaluateEach(predicate.Span{Lo: 0, Hi: seg.Max}, at), true
	}
	if isMonotone(e) {
		if in, isIn := e.(*expr.In); isIn {
			if runs, ok = l.inListOutcomes(in, col); ok {
				return runs, true
			}
		} else if runs, ok = bisect(monotonePieces(seg), at); ok {
			return runs, true
		}
	}
	if seg.Type.Kind == table.Varchar || (seg.Max < maxEnumerated && !l.programmable(e)) {
		return evaluateDictionary(seg, e), true
	}
	return nil, false
}

// tellsZeros reports an expression over one column that tells -0 from 0, such as one of its text: it is no function of codes.
func tellsZeros(e expr.Expr, col int, t table.Type) bool {
	at := outcomesAt(e, zerosOf(col, t))
	return !at(0).equal(at(1))
}

// zerosOf reads 0 and -0 of a column of a type.
func zerosOf(col int, t table.Type) expr.Reader {
	c := &table.Chunk{Rows: 2, Segments: make([]*table.Segment, col+1)}
	c.Segments[col] = table.SegmentOf(t, table.Value{Type: t}, table.Value{Type: t, F: math.Copysign(0, -1)})
	return expr.Rows(c)
}

// arenas are those of goroutines that evaluate dictionaries.
var arenas = sync.Pool{New: func() any { return &expr.Arena{} }}

// evaluateVectors tries the codes of a span in vectors; one by one where some raise errors.
func evaluateVectors(s predicate.Span, seg *table.Segment, e expr.Expr) (runs []codeRun) {
	const together = 1 << 11
	arena := arenas.Get().(*expr.Arena)
	defer arenas.Put(arena)
	for lo := s.Lo; ; lo += together {
		hi := min(lo+together-1, s.Hi)
		arena.Reset()
		part, ok := vectorRuns(predicate.Span{Lo: lo, Hi: hi}, seg, e, arena)
		if !ok {
			part = evaluateEach(predicate.Span{Lo: lo, Hi: hi}, outcomesAt(e, expr.Codes(seg)))
		}
		if runs = append(runs, part...); hi == s.Hi {
			return runs
		}
	}
}

// vectorRuns are the runs of codes of which none raises an error.
func vectorRuns(s predicate.Span, seg *table.Segment, e expr.Expr, arena *expr.Arena) (runs []codeRun, ok bool) {
	x, ok := expr.Compute(e, expr.CodesOf(seg, s.Lo, int(s.Hi-s.Lo)+1, false, arena))
	if !ok {
		return nil, false
	}
	if e.Type().Kind != table.Boolean {
		return []codeRun{{s.Lo, s.Hi, outcome{}}}, true // of a value only its error counts
	}
	sign := [2]int{0, 1} // for FALSE and TRUE
	if c, ok := e.(*expr.Compare); ok {
		for k := range sign {
			for sign[k] = -1; c.Op.Holds(sign[k]) != (k == 1); {
				sign[k]++
			}
		}
	}
	for i, v := range x.Ints {
		o := outcome{null: x.IsNull(i)}
		if !o.null {
			o.sign = sign[v]
		}
		code := s.Lo + uint64(i)
		if n := len(runs); n > 0 && runs[n-1].null == o.null && runs[n-1].sign == o.sign {
			runs[n-1].hi = code
		} else {
			runs = append(runs, codeRun{code, code, o})
		}
	}
	return runs, true
}

// evaluateEach tries the codes of a span one by one.
func evaluateEach(s predicate.Span, at func(uint64) outcome) []codeRun {
	var runs []codeRun
	for c := s.Lo; ; c++ {
		o := at(c)
		if n := len(runs); n > 0 && runs[n-1].equal(o) {
			runs[n-1].hi = c
		} else {
			runs = append(runs, codeRun{c, c, o})
		}
		if c == s.Hi {
			return runs
		}
	}
}

// evaluateParallel has the codes of a span tried, many of them on all cores. Two runs of one part that touch have different outcomes.
func evaluateParallel(s predicate.Span, try func(predicate.Span) []codeRun) []codeRun {
	parts := make([][]codeRun, (s.Hi-s.Lo)/codesPerTask+1)
	var g parallel.Errors
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		g.Go(func() error {
			first := s.Lo + uint64(i)*codesPerTask
			parts[i] = try(predicate.Span{Lo: first, Hi: min(first+codesPerTask-1, s.Hi)})
			return nil
		})
	}
	_ = g.Wait()
	n := xslices.Sum(parts, func(part []codeRun) int { return len(part) })
	runs := make([]codeRun, 0, n)
	for _, part := range parts {
		if n := len(runs); n > 0 && len(part) > 0 && runs[n-1].hi+1 == part[0].lo && runs[n-1].equal(part[0].outcome) {
			runs[n-1].hi, part = part[0].hi, part[1:]
		}
		runs = append(runs, part...)
	}
	return runs
}

// monotonePieces cuts the codes of a segment where functions of a number may change their
// ways: at 0, and around the infinities and NaN.
func monotonePieces(seg *table.Segment) []predicate.Span {
	all := predicate.Span{Lo: 0, Hi: seg.Max}
	if !seg.Type.IsNumeric() {
		return []predicate.Span{all}
	}
	value := func(f float64) uint64 { return table.Ordinal(table.Value{Type: seg.Type, F: f}) }
	zero := value(0)
	cuts := []uint64{zero, zero + 1} // first ordinals of new pieces
	if seg.Type.IsFloat() {
		inf := value(math.Inf(1))
		// No record has the ordinal below 0's, which is -0's.
		cuts = []uint64{value(math.Inf(-1)) + 1, zero - 1, zero, zero + 1, inf, inf + 1}
	}
	var out []predicate.Span
	for _, c := range cuts {
		if c <= seg.Base+all.Lo {
			continue
		}
		if c-seg.Base > all.Hi {
			break
		}
		out = append(out, predicate.Span{Lo: all.Lo, Hi: c - seg.Base - 1})
		all.Lo = c - seg.Base
	}
	return append(out, all)
}

// bisect finds the runs in pieces within which the outcome is monotone: its signs rise or fall. The codes
// that raise no error stand together.
//
// It gives up where both ends of a piece raise errors: a code between them that
// raises none would have to be guessed.
func bisect(pieces []predicate.Span, at func(uint64) outcome) (runs []codeRun, ok bool) {
	for _, p := range pieces {
		lo, olo, ohi := p.Lo, at(p.Lo), at(p.Hi)
		seen := false // a code without error
		for {
			seen = seen || olo.err == nil
			if !seen && ohi.err != nil && lo < p.Hi {
				return nil, false
			}
			if olo.equal(ohi) {
				runs = append(runs, codeRun{lo, p.Hi, olo})
				break
			}
			// The first code above lo that is not like lo.
			a, b := lo, p.Hi
			for b-a > 1 {
				if m := a + (b-a)/2; at(m).equal(olo) {
					a = m
				} else {
					b = m
				}
			}
			runs = append(runs, codeRun{lo, a, olo})
			lo, olo = b, at(b)
		}
	}
	return runs, true
}

// inListOutcomes finds each constant of the list by binary search.
func (l *lowerer) inListOutcomes(e *expr.In, col int) ([]codeRun, bool) {
	seg := l.seg(col)
	find := func(e expr.Expr) ([]codeRun, bool) {
		runs, ok := bisect(monotonePieces(seg), outcomesAt(e, expr.Codes(seg)))
		failed := func(r codeRun) bool { return r.err != nil } // rare enough to leave to the general way
		return runs, ok && !slices.ContainsFunc(runs, failed)
	}
	if _, ok := find(&expr.IsNull{X: e.X}); !ok {
		return nil, false
	}
	var in predicate.SpanSet
	null := false
	for _, c := range e.List {
		if c.V.Null {
			null = true
			continue
		}
		runs, ok := find(&expr.Compare{Op: expr.EQ, L: e.X, R: c, P: e.P})
		if !ok {
			return nil, false
		}
		in = append(in, spansWhere(runs, func(o outcome) bool { return o.sign == 0 })...)
	}
	in = predicate.NormalizeSpans(in)
	var runs []codeRun
	add := func(spans predicate.SpanSet, o outcome) {
		for _, s := range spans {
			runs = append(runs, codeRun{s.Lo, s.Hi, o})
		}
	}
	yes, no := outcome{sign: 1}, outcome{}
	if e.Not {
		yes, no = no, yes
	}
	if null {
		no = outcome{null: true}
	}
	add(in, yes)
	add(in.Complement(seg.Max), no)
	return runs, true
}
