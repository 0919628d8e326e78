package expr

import (
	"cmp"
	"math"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Reader tells how the values of a column are read: the segment that has them, and for place i its
// code there, or that it is NULL.
type Reader func(column int) (s *table.Segment, code func(i int) (code uint64, null bool))

// Rows reads the rows of a chunk.
func Rows(c *table.Chunk) Reader {
	return func(column int) (*table.Segment, func(i int) (uint64, bool)) {
		s := c.Segments[column]
		switch {
		case s.Codes.U8 != nil:
			return s, codesOf(s, s.Codes.U8)
		case s.Codes.U16 != nil:
			return s, codesOf(s, s.Codes.U16)
		case s.Codes.U32 != nil:
			return s, codesOf(s, s.Codes.U32)
		}
		return s, codesOf(s, s.Codes.U64)
	}
}

func codesOf[T uint8 | uint16 | uint32 | uint64](s *table.Segment, codes []T) func(i int) (uint64, bool) {
	if s.Valid == nil {
		return func(i int) (uint64, bool) { return uint64(codes[i]), false }
	}
	return func(i int) (uint64, bool) { return uint64(codes[i]), s.IsNull(i) }
}

// Codes reads the codes of a segment in their order, of an expression that reads its column alone.
func Codes(s *table.Segment) Reader {
	return func(int) (*table.Segment, func(i int) (uint64, bool)) {
		return s, func(i int) (uint64, bool) { return uint64(i), false }
	}
}

// Nulls reads a NULL of a segment's column.
func Nulls(s *table.Segment) Reader {
	return func(int) (*table.Segment, func(i int) (uint64, bool)) {
		return s, func(int) (uint64, bool) { return 0, true }
	}
}

// Compile makes an expression ready to be computed for many places, by one goroutine: what it gives
// is what [Eval] gives, sooner. wide is as in [Env].
func Compile(e Expr, read Reader, wide bool) func(i int) (table.Value, error) {
	c := &compiler{read: read, wide: wide}
	value := c.node(e).value
	return func(i int) (table.Value, error) {
		v, s := value(i)
		if s == failed {
			return v, c.err
		}
		return v, nil
	}
}

// state is how computing one value ended.
type state uint8

const (
	valid state = iota
	null
	failed // the compiler's err says why
)

// compiler compiles one expression.
type compiler struct {
	read Reader
	wide bool
	err  error
}

// node is a compiled expression. value is there always; of the others those of its type are, where
// all its values are 64 bits: ints of what [table.Value] holds in I.
type node struct {
	value  func(i int) (table.Value, state)
	ints   func(i int) (int64, state)
	floats func(i int) (float64, state)
	texts  func(i int) (string, state)
}

func (c *compiler) fail(err error) state {
	c.err = err
	return failed
}

// inBits reports a type whose values are 64 bits: not an interval, which may have months.
func (c *compiler) inBits(t table.Type) bool {
	return t.Kind != table.Interval && t.Kind != table.Unknown && (t.Kind != table.Decimal || !c.wide)
}

func (c *compiler) node(e Expr) *node {
	switch e := e.(type) {
	case *Column:
		return c.column(e)
	case *Const:
		return c.constant(e.V)
	case *Arith:
		return c.arith(e)
	case *Neg:
		x := c.node(e.X)
		return c.boxed(e.Type(), func(i int) (table.Value, state) {
			return c.apply(x, i, e.Type(), func(v table.Value) (table.Value, error) { return negate(v, c.wide, e.P) })
		})
	case *Cast:
		return c.cast(e)
	case *Compare:
		return c.ofInts(boolean, c.compare(e))
	case *And:
		return c.junction(e.Kids, 0)
	case *Or:
		return c.junction(e.Kids, 1)
	case *Not:
		x := c.node(e.X).ints
		return c.ofInts(boolean, func(i int) (int64, state) {
			v, s := x(i)
			return v ^ 1, s
		})
	case *IsNull:
		x := c.node(e.X).value
		return c.ofInts(boolean, func(i int) (int64, state) {
			_, s := x(i)
			return truth((s == null) != e.Not), s &^ null
		})
	case *Between:
		and := c.junction(e.Parts(), 0).ints
		return c.ofInts(boolean, func(i int) (int64, state) {
			v, s := and(i)
			return v ^ truth(e.Not), s
		})
	case *In:
		x := c.node(e.X)
		return c.boxed(boolean, func(i int) (table.Value, state) {
			return c.apply(x, i, boolean, func(v table.Value) (table.Value, error) { return inList(v, e), nil })
		})
	case *Like:
		return c.like(e)
	case *Call:
		return c.call(e)
	}
	return c.plain(e)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// plain is an expression as [Eval] computes it.
func (c *compiler) plain(e Expr) *node {
	at, columns := 0, map[int]func(i int) (table.Value, state){}
	for _, k := range Columns(e) {
		columns[k] = c.column(&Column{Index: k}).value
	}
	env := &Env{Column: func(k int) table.Value {
		v, _ := columns[k](at)
		return v
	}}
	if c.wide {
		env.Agg = func(int) table.Value { return table.Value{Null: true} }
	}
	return c.boxed(e.Type(), func(i int) (table.Value, state) {
		at = i
		return c.result(Eval(e, env))
	})
}

// result tells how an evaluation ended.
func (c *compiler) result(v table.Value, err error) (table.Value, state) {
	switch {
	case err != nil:
		return v, c.fail(err)
	case v.Null:
		return v, null
	}
	return v, valid
}

// apply is f of a value that is not NULL.
func (c *compiler) apply(x *node, i int, t table.Type, f func(v table.Value) (table.Value, error)) (table.Value, state) {
	v, s := x.value(i)
	if s != valid {
		return table.Null(t), s
	}
	return c.result(f(v))
}

// boxed is a node that computes whole values.
func (c *compiler) boxed(t table.Type, value func(i int) (table.Value, state)) *node {
	n := &node{value: value}
	switch {
	case t.IsFloat():
		n.floats = func(i int) (float64, state) {
			v, s := value(i)
			return v.F, s
		}
	case t.Kind == table.Varchar:
		n.texts = func(i int) (string, state) {
			v, s := value(i)
			return v.S, s
		}
	case c.inBits(t):
		n.ints = func(i int) (int64, state) {
			v, s := value(i)
			return v.I, s
		}
	}
	return n
}

func (c *compiler) ofInts(t table.Type, f func(i int) (int64, state)) *node {
	return &node{ints: f, value: func(i int) (table.Value, state) {
		v, s := f(i)
		return table.Value{Type: t, I: v, Null: s != valid}, s
	}}
}

func (c *compiler) ofFloats(t table.Type, f func(i int) (float64, state)) *node {
	return &node{floats: f, value: func(i int) (table.Value, state) {
		v, s := f(i)
		return table.Value{Type: t, F: v, Null: s != valid}, s
	}}
}

func (c *compiler) ofTexts(t table.Type, f func(i int) (string, state)) *node {
	return &node{texts: f, value: func(i int) (table.Value, state) {
		v, s := f(i)
		return table.Value{Type: t, S: v, Null: s != valid}, s
	}}
}

func (c *compiler) column(e *Column) *node {
	seg, code := c.read(e.Index)
	t := seg.Type
	switch {
	case t.IsFloat():
		return c.ofFloats(t, func(i int) (float64, state) {
			k, none := code(i)
			if none {
				return 0, null
			}
			return t.FloatFromOrdinal(seg.Base + k), valid
		})
	case t.Kind == table.Varchar:
		return c.ofTexts(t, func(i int) (string, state) {
			k, none := code(i)
			if none {
				return "", null
			}
			return seg.Dict[k], valid
		})
	}
	if seg.Spans != nil {
		return &node{value: func(i int) (table.Value, state) {
			k, none := code(i)
			if none {
				return table.Null(t), null
			}
			return seg.Decode(k), valid
		}}
	}
	base := table.FromOrdinal(t, seg.Base).I
	return c.ofInts(t, func(i int) (int64, state) {
		k, none := code(i)
		if none {
			return 0, null
		}
		return base + int64(k), valid
	})
}

func (c *compiler) constant(v table.Value) *node {
	s := valid
	if v.Null {
		s = null
	}
	n := &node{value: func(int) (table.Value, state) { return v, s }}
	switch {
	case v.Type.IsFloat():
		n.floats = func(int) (float64, state) { return v.F, s }
	case v.Type.Kind == table.Varchar:
		n.texts = func(int) (string, state) { return v.S, s }
	case v.Big == nil && v.Span == (table.Span{}):
		n.ints = func(int) (int64, state) { return v.I, s }
	}
	return n
}

// both computes two operands; s is valid if both are.
func both[T any](l, r func(i int) (T, state), i int) (a, b T, s state) {
	if a, s = l(i); s == failed {
		return a, b, s
	}
	b, t := r(i)
	return a, b, max(s, t)
}

func (c *compiler) arith(e *Arith) *node {
	l, r := c.node(e.L), c.node(e.R)
	decimals := e.L.Type().Kind == table.Decimal || e.R.Type().Kind == table.Decimal
	switch {
	case l.floats != nil && r.floats != nil:
		return c.ofFloats(e.T, func(i int) (float64, state) {
			a, b, s := both(l.floats, r.floats, i)
			if s != valid {
				return 0, s
			}
			f, msg := floatOp(e.Op, a, b, e.T.Kind == table.Real)
			if msg != "" {
				return f, c.fail(Errorf(e.P, "%s", msg))
			}
			return f, valid
		})
	case l.ints != nil && r.ints != nil && !decimals && c.inBits(e.T):
		return c.ofInts(e.T, func(i int) (int64, state) {
			a, b, s := both(l.ints, r.ints, i)
			if s != valid {
				return 0, s
			}
			v, ok, zero := IntOp(e.Op, a, b)
			switch {
			case zero:
				return 0, c.fail(Errorf(e.P, MsgDivisionByZero))
			case !ok || !e.T.Holds(v):
				return 0, c.fail(Errorf(e.P, "%s", OutOfRange(e.T)))
			}
			return v, valid
		})
	case l.ints != nil && r.ints != nil && decimals && e.Op == Div && e.L.Type().Scale == e.R.Type().Scale:
		return c.ofFloats(e.T, func(i int) (float64, state) {
			a, b, s := both(l.ints, r.ints, i)
			const exact = 1 << 53
			switch {
			case s != valid:
				return 0, s
			case b != 0 && a <= exact && a >= -exact && b <= exact && b >= -exact:
				return float64(a)/float64(b) + 0, valid
			}
			v, s := c.result(quotient(table.Value{Type: e.L.Type(), I: a}, table.Value{Type: e.R.Type(), I: b}, e.T, e.P))
			return v.F, s
		})
	}
	return c.boxed(e.T, func(i int) (table.Value, state) {
		a, b, s := both(l.value, r.value, i)
		if s != valid {
			return table.Null(e.T), s
		}
		return c.result(arith(e.Op, a, b, e.T, c.wide, e.P))
	})
}

func (c *compiler) cast(e *Cast) *node {
	x, from := c.node(e.X), e.X.Type()
	switch {
	case from.IsInteger() && e.To.Kind == table.Double && x.ints != nil:
		return c.ofFloats(e.To, func(i int) (float64, state) {
			v, s := x.ints(i)
			return float64(v), s
		})
	case from.IsInteger() && e.To.IsInteger() && table.Wider(from, e.To) == e.To && x.ints != nil:
		return c.ofInts(e.To, x.ints)
	case from.Kind == table.Real && e.To.Kind == table.Double && x.floats != nil:
		return c.ofFloats(e.To, x.floats)
	case from.IsInteger() && e.To == (table.Type{Kind: table.Decimal, Precision: 18}) && x.ints != nil:
		return c.ofInts(e.To, x.ints)
	}
	return c.boxed(e.To, func(i int) (table.Value, state) {
		return c.apply(x, i, e.To, func(v table.Value) (table.Value, error) { return cast(v, e.To, c.wide, e.P) })
	})
}

// compare is a comparison of operands as they are.
func (c *compiler) compare(e *Compare) func(i int) (int64, state) {
	l, r := c.node(e.L), c.node(e.R)
	switch {
	case l.ints != nil && r.ints != nil && e.L.Type().Scale == e.R.Type().Scale:
		return ordered(e.Op, l.ints, r.ints, cmp.Compare[int64])
	case l.floats != nil && r.floats != nil:
		return ordered(e.Op, l.floats, r.floats, table.CompareFloat)
	case l.texts != nil && r.texts != nil:
		return ordered(e.Op, l.texts, r.texts, strings.Compare)
	}
	return ordered(e.Op, l.value, r.value, table.Compare)
}

func ordered[T any](op CmpOp, l, r func(i int) (T, state), order func(a, b T) int) func(i int) (int64, state) {
	return func(i int) (int64, state) {
		a, b, s := both(l, r, i)
		if s != valid {
			return 0, s
		}
		return truth(op.Holds(order(a, b))), valid
	}
}

// junction is AND (decisive 0) or OR (decisive 1).
func (c *compiler) junction(kids []Expr, decisive int64) *node {
	var list []func(i int) (int64, state)
	for _, k := range kids {
		list = append(list, c.node(k).ints)
	}
	return c.ofInts(boolean, func(i int) (int64, state) {
		out := valid
		for _, k := range list {
			switch v, s := k(i); {
			case s == failed:
				return 0, s
			case s == null:
				out = null
			case v == decisive:
				return v, valid
			}
		}
		return decisive ^ 1, out
	})
}

func (c *compiler) like(e *Like) *node {
	m, err := CompileLike(e.Pattern, e.Escape, e.Fold)
	x := c.node(e.X).texts
	if err != nil || x == nil {
		return c.plain(e)
	}
	return c.ofInts(boolean, func(i int) (int64, state) {
		v, s := x(i)
		if s != valid {
			return 0, s
		}
		return truth(m.Match(v) != e.Not), valid
	})
}

func (c *compiler) call(e *Call) *node {
	var list []*node
	for _, a := range e.Args {
		list = append(list, c.node(a))
	}
	if e.Fn == Case || e.Fn == Coalesce {
		if n := c.choice(e, list); n != nil {
			return n
		}
	}
	switch {
	case e.Fn.int != nil && list[0].ints != nil:
		return c.ofInts(e.T, direct(c, e, list[0].ints, e.Fn.int, table.Int, func(v table.Value) int64 { return v.I }))
	case e.Fn.float != nil && list[0].floats != nil:
		return c.ofFloats(e.T, direct(c, e, list[0].floats, e.Fn.float, table.Float, func(v table.Value) float64 { return v.F }))
	case e.Fn.lazy != nil:
		at := 0
		operand := func(k int) (table.Value, error) {
			v, s := list[k].value(at)
			if s == failed {
				return v, c.err
			}
			return v, nil
		}
		return c.boxed(e.T, func(i int) (table.Value, state) {
			at = i
			v, s := c.result(e.Fn.lazy(e, operand))
			return e.typed(v), s
		})
	}
	values := make([]table.Value, len(list))
	return c.boxed(e.T, func(i int) (table.Value, state) {
		out := valid
		for k, n := range list {
			v, s := n.value(i)
			if s == failed {
				return v, s
			}
			values[k], out = v, max(out, s)
		}
		if out == null && !e.Fn.nulls {
			return table.Null(e.T), null
		}
		v, s := c.result(e.Fn.eval(args{e, values, c.wide}))
		return e.typed(v), s
	})
}

// direct is a function of one operand as f has it, and where f has nothing as it is evaluated.
func direct[T any](c *compiler, e *Call, x func(i int) (T, state), f func(T) (T, bool), boxed func(T) table.Value, of func(table.Value) T) func(i int) (T, state) {
	return func(i int) (T, state) {
		v, s := x(i)
		if s != valid {
			return v, s
		}
		if y, ok := f(v); ok {
			return y, valid
		}
		y, s := c.result(e.Fn.eval(args{e, []table.Value{boxed(v)}, c.wide}))
		return of(y), s
	}
}

// choice is CASE or COALESCE of values of 64 bits, or of texts; nil for others.
func (c *compiler) choice(e *Call, list []*node) *node {
	var whens []func(i int) (int64, state)
	values := list
	if e.Fn == Case {
		values = nil
		for i, n := range list {
			if i%2 == 0 && i+1 < len(list) {
				whens = append(whens, n.ints)
			} else {
				values = append(values, n)
			}
		}
	}
	ints, floats, texts := c.inBits(e.T), e.T.IsFloat(), e.T.Kind == table.Varchar
	for _, n := range values {
		ints, floats, texts = ints && n.ints != nil, floats && n.floats != nil, texts && n.texts != nil
	}
	switch {
	case floats:
		return c.ofFloats(e.T, chosen(whens, values, func(n *node) func(i int) (float64, state) { return n.floats }))
	case texts:
		return c.ofTexts(e.T, chosen(whens, values, func(n *node) func(i int) (string, state) { return n.texts }))
	case ints && e.T.Kind != table.Decimal:
		return c.ofInts(e.T, chosen(whens, values, func(n *node) func(i int) (int64, state) { return n.ints }))
	}
	return nil
}

// chosen is the value whose condition is TRUE, then the first of the others that is not NULL.
func chosen[T any](whens []func(i int) (int64, state), values []*node, of func(*node) func(i int) (T, state)) func(i int) (T, state) {
	var list []func(i int) (T, state)
	for _, n := range values {
		list = append(list, of(n))
	}
	return func(i int) (v T, s state) {
		for k, when := range whens {
			switch b, s := when(i); {
			case s == failed:
				return v, s
			case s == valid && b != 0:
				return list[k](i)
			}
		}
		s = null
		for _, f := range list[len(whens):] {
			if v, s = f(i); s != null {
				break
			}
		}
		return v, s
	}
}

// plainly marks f as what a function of a DOUBLE is where that gives a finite number.
func (f *Function) plainly(of ofFloat) *Function {
	f.float = func(x float64) (float64, bool) {
		y := of(x)
		return y, !math.IsInf(x, 0) && !math.IsInf(y, 0) && y == y && y != 0
	}
	return f
}
