package expr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Function is a scalar function or an operator that is written like one, with the types
// of one of its forms. A function of several forms has an entry for each.
type Function struct {
	Name string
	// Params are the types of the arguments. [Any] is one type that all arguments of this kind
	// have in common, [Each] any type at all; a DECIMAL has any digits.
	Params []table.Type
	// Repeat says that the last parameter may come more often than once.
	Repeat bool
	// Raises says that values exist for which evaluating it is an error.
	Raises bool
	// Widest says that its integer parameters have one type, the widest that an argument has.
	Widest bool
	// Volatile says that the function has another value for each row of a query, and each time the query runs. The value follows from a row
	// number and a seed, its arguments.
	Volatile bool
	result   table.Type
	typed    func(args []Expr) table.Type // where the result depends on more than the parameters
	rises    func(c *Call) int            // see [Call.Rises]; nil: with none
	nulls    bool                         // it is evaluated for NULLs too
	form     form
	eval     func(a args) (table.Value, error)
	// kernel computes a call in vectors; where it is nil, and for a call of which it is none, eval does that.
	kernel func(c *Call) kernel
	// lazy evaluates what it needs of the operands.
	lazy func(c *Call, operand func(i int) (table.Value, error)) (table.Value, error)
}

// The parameters that take several types.
var (
	Any  = table.Type{Kind: table.Unknown, Precision: 1}
	Each = table.Type{Kind: table.Unknown, Precision: 2}
)

// form is how a call is written.
type form uint8

const (
	called form = iota // f(a, b)
	infix              // a f b
	prefix             // f a
	cases              // CASE WHEN a THEN b ELSE c END
	from               // f(a FROM b)
	hidden             // f(a, b), which nobody writes: other expressions are made of it
)

// Call is a function of its arguments, which have the types that it takes.
type Call struct {
	Fn   *Function
	Args []Expr
	T    table.Type
	P    int
}

func (f *Function) isOperator() bool { return f.form == infix || f.form == prefix || f.form == hidden }

// NewCall returns the call of a function at a position of the text.
func NewCall(f *Function, args []Expr, pos int) *Call {
	c := &Call{Fn: f, Args: args, T: f.result, P: pos}
	if f.typed != nil {
		c.T = f.typed(args)
	}
	return c
}

// Type, Pos and String implement Expr.
func (e *Call) Type() table.Type { return e.T }
func (e *Call) Pos() int         { return e.P }

func (e *Call) String() string {
	switch e.Fn.form {
	case infix:
		return paren(e.Args[0]) + " " + e.Fn.Name + " " + paren(e.Args[1])
	case prefix:
		return e.Fn.Name + " " + paren(e.Args[0])
	case from:
		return e.Fn.Name + "(" + e.Args[0].String() + " FROM " + e.Args[1].String() + ")"
	case cases:
		var text strings.Builder
		text.WriteString("CASE")
		i := 0
		for ; i+1 < len(e.Args); i += 2 {
			text.WriteString(" WHEN " + e.Args[i].String() + " THEN " + e.Args[i+1].String())
		}
		if i < len(e.Args) {
			text.WriteString(" ELSE " + e.Args[i].String())
		}
		text.WriteString(" END")
		return text.String()
	}
	list := xslices.Map(e.Args, Expr.String)
	return e.Fn.Name + "(" + strings.Join(list, ", ") + ")"
}

// Rises is the argument of which this is true. While it grows and the others are constants, the
// call grows or stays, to the last bit. What raises an error is at the ends. Rises is -1 where there is none.
func (e *Call) Rises() int {
	if e.Fn.rises == nil {
		return -1
	}
	return e.Fn.rises(e)
}

// Strict reports a call that is NULL when an argument is.
func (e *Call) Strict() bool { return !e.Fn.nulls && e.Fn.lazy == nil }

// args are the values that a call is evaluated for.
type args struct {
	*Call
	v    []table.Value
	wide bool
}

func (a args) failAs(code sqlstate.Code, format string, values ...any) (table.Value, error) {
	return table.Null(a.T), Coded(code, a.P, format, values...)
}

func (a args) raise(x *Exception) (table.Value, error) { return table.Null(a.T), Raised(a.P, x) }

func (e *Call) eval(env *Env) (table.Value, error) {
	if e.Fn.lazy != nil {
		v, err := e.Fn.lazy(e, func(i int) (table.Value, error) { return Eval(e.Args[i], env) })
		return e.typed(v), err
	}
	var few [4]table.Value
	values, null := few[:0], false
	for _, x := range e.Args {
		v, err := Eval(x, env)
		if err != nil {
			return table.Null(e.T), err
		}
		null = null || v.Null
		values = append(values, v)
	}
	if null && !e.Fn.nulls {
		return table.Null(e.T), nil
	}
	v, err := e.Fn.eval(args{e, values, env.wide()})
	return e.typed(v), err
}

// typed gives a value the type of the call, to which its scale belongs already.
func (e *Call) typed(v table.Value) table.Value {
	v.Type = e.T
	return v
}

// Functions returns the forms of the function of a name, nil where there is none; the first that
// fits is preferred.
func Functions(name string) []*Function { return byName[name] }

// Forms lists all forms of functions and operators that statements can write, by their names.
func Forms() (list []*Function) {
	for name, forms := range byName {
		for _, f := range forms {
			if f.Name == name && f.form != hidden {
				list = append(list, f)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Function) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Kind is that of the function's calls.
func (f *Function) Kind() table.Kind { return f.result.Kind }

// FunctionNames lists the functions, in alphabetical order; operators are left out.
func FunctionNames() (list []string) {
	for name, forms := range byName {
		if !forms[0].isOperator() {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// byName are the forms of all functions.
var byName = map[string][]*Function{}

// typeWords are the types in the signatures of functions.
var typeWords = map[string]table.Type{
	"boolean": boolean, "integer": integer, "bigint": {Kind: table.BigInt}, "numeric": {Kind: table.Decimal, Precision: 18},
	"real": {Kind: table.Real}, "double": {Kind: table.Double}, "text": {Kind: table.Varchar}, "date": {Kind: table.Date},
	"timestamp": {Kind: table.Timestamp}, "interval": {Kind: table.Interval}, "any": Any, "each": Each,
}

// define adds the function of a signature such as "pow power(double,double) double!": its
// names, the last before its parameters; "..." after the last of them where it repeats, "!" at
// the end where it may raise an error, "/" where it rises with its first argument.
func define(signature string, eval func(a args) (table.Value, error)) *Function {
	head, rest, ok1 := strings.Cut(signature, "(")
	params, result, ok2 := strings.Cut(rest, ") ")
	f := &Function{eval: eval, Repeat: strings.HasSuffix(params, "..."), Raises: strings.Contains(result, "!")}
	if strings.Contains(result, "/") {
		f.rises = func(*Call) int { return 0 }
	}
	for _, word := range strings.FieldsFunc(strings.TrimSuffix(params, "..."), func(r rune) bool { return r == ',' }) {
		t, ok := typeWords[word]
		f.Params = append(f.Params, t)
		ok1 = ok1 && ok
	}
	var ok3 bool
	f.result, ok3 = typeWords[strings.TrimRight(result, "!/")]
	if !ok1 || !ok2 || !ok3 {
		panic(fmt.Sprintf("expr: no signature of a function: %s", signature))
	}
	names := strings.Fields(head)
	f.Name = names[len(names)-1]
	for _, name := range names {
		byName[name] = append(byName[name], f)
	}
	return f
}

// ofWidest makes the result of integers the widest of their types, at least the one given.
func (f *Function) ofWidest(least table.Kind) *Function {
	f.Widest = true
	f.typed = func(args []Expr) table.Type {
		t := table.Type{Kind: least}
		for _, a := range args {
			t = table.Wider(t, a.Type())
		}
		return t
	}
	return f
}

// as says how the calls of a function are written.
func (f *Function) as(form form) *Function {
	f.form = form
	return f
}

// decimal is a NUMERIC of the call's type.
func (a args) decimal(unscaled *big.Int) (table.Value, error) {
	return decimal(a.T, unscaled, a.wide, a.P)
}
