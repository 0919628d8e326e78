package workload

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/expr"
)

// Template is a script with parameters to draw. {x:1..100} is an integer, {x:0.01..0.09} a decimal number with as many digits,
// {x:a|b|c} one of a list, and {x:1993-01-01..1997-12-31} a date. {x} is the same value again. In a literal, or a name in
// quotes, the value stands as it is. Elsewhere a date is a literal, and a negative number is in parentheses.
type Template struct {
	Script     string
	Parameters []Parameter // in the order of the script
}

// Parameter is a place in a script that has a drawn value.
type Parameter struct {
	Start, end int // in the script, in bytes
	Name, rule string
	Quoted     bool
	draw       func(*rand.Rand) value // of all places of the name
}

// value is what a place has: bare in quotes, else plain.
type value struct{ bare, plain string }

// parameterText is a parameter as it is written: a name, and mostly a rule.
var parameterText = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z_0-9]*)(?::([^{}]*))?\}`)

// parameterRules say what a parameter may be.
const parameterRules = "want a range of integers (1..100), of decimal numbers (0.01..0.09) or of dates (1993-01-01..1997-12-31), or a list (a|b|c)"

// ParseTemplate finds the parameters of a script. Braces that are none stay as they are: those of {x} where no rule has the name x, too.
func ParseTemplate(script string) (t Template, err error) {
	t.Script = script
	known := map[string]Parameter{}
	var later []Parameter // without a rule
	for at, quote := 0, ""; at < len(script); {
		rest := script[at:]
		if m := parameterText.FindStringSubmatch(rest); m != nil && quote != "\n" && quote != "*/" {
			p := Parameter{Start: at, end: at + len(m[0]), Name: m[1], rule: m[2], Quoted: quote != ""}
			at = p.end
			if !strings.Contains(m[0], ":") {
				later = append(later, p)
				continue
			}
			if p.draw, err = rule(p.rule); err != nil {
				return t, expr.Errorf(p.Start, "the parameter %s: %v", p.Name, err)
			}
			if before, ok := known[p.Name]; ok {
				if before.rule != p.rule {
					return t, expr.Errorf(p.Start, "the parameter %s is drawn from %s, and from %s before: take one rule, or {%s} for the same value", p.Name, p.rule, before.rule, p.Name)
				}
				p.draw = before.draw
			}
			known[p.Name] = p
			t.Parameters = append(t.Parameters, p)
			continue
		}
		step := 1
		switch {
		case quote != "":
			if strings.HasPrefix(rest, quote) {
				step, quote = len(quote), ""
			}
		case strings.HasPrefix(rest, "--"):
			step, quote = 2, "\n"
		case strings.HasPrefix(rest, "/*"):
			step, quote = 2, "*/"
		case rest[0] == '\'' || rest[0] == '"': // a doubled quote ends one text and begins the next
			quote = rest[:1]
		case rest[0] == '$':
			if m := dollars.FindString(rest); m != "" {
				step, quote = len(m), m
			}
		}
		at += step
	}
	for _, p := range later {
		if of, ok := known[p.Name]; ok {
			p.rule, p.draw = of.rule, of.draw
			t.Parameters = append(t.Parameters, p)
		}
	}
	slices.SortFunc(t.Parameters, func(a, b Parameter) int { return a.Start - b.Start })
	return t, nil
}

// dollars begin and end a literal.
var dollars = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)?\$`)

// rule reads what a parameter is drawn from.
func rule(text string) (func(*rand.Rand) value, error) {
	if strings.Contains(text, "|") {
		var list []value
		for _, item := range strings.Split(text, "|") {
			item = strings.TrimSpace(item)
			if item == "" || strings.Contains(item, ";") {
				return nil, fmt.Errorf("%q is no value: a list has texts without semicolons, and a bar between two of them", item)
			}
			list = append(list, value{item, item})
		}
		return func(r *rand.Rand) value { return list[r.IntN(len(list))] }, nil
	}
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return nil, errors.New(parameterRules)
	}
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if first, err := time.Parse(time.DateOnly, from); err == nil {
		last, err := time.Parse(time.DateOnly, to)
		if err != nil {
			return nil, fmt.Errorf("%s is no date as %s is", to, from)
		}
		days := int(last.Sub(first).Hours() / 24)
		if days <= 0 {
			return nil, fmt.Errorf("%s is not after %s", to, from)
		}
		return func(r *rand.Rand) value {
			day := first.AddDate(0, 0, r.IntN(days+1)).Format(time.DateOnly)
			return value{day, "DATE '" + day + "'"}
		}, nil
	}
	digits := max(digitsOf(from), digitsOf(to))
	low, high := scaled(from, digits), scaled(to, digits)
	if low == nil || high == nil {
		return nil, errors.New(parameterRules)
	}
	span := new(big.Int).Sub(high, low)
	if span.Sign() <= 0 {
		return nil, fmt.Errorf("%s is not above %s", to, from)
	}
	if !span.IsInt64() {
		return nil, fmt.Errorf("from %s to %s there are more than 2^63 values", from, to)
	}
	return func(r *rand.Rand) value {
		n := new(big.Int).Add(low, new(big.Int).SetUint64(r.Uint64N(span.Uint64()+1)))
		text := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)).FloatString(digits)
		v := value{text, text}
		if n.Sign() < 0 {
			v.plain = "(" + text + ")"
		}
		return v
	}, nil
}

// decimal is a number as a rule has it.
var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]{1,18})?$`)

// digitsOf is the number of digits behind the point.
func digitsOf(text string) int {
	_, behind, _ := strings.Cut(text, ".")
	return len(behind)
}

// scaled is a number times a power of ten, nil for what is no number.
func scaled(text string, digits int) *big.Int {
	if !decimal.MatchString(text) {
		return nil
	}
	whole, behind, _ := strings.Cut(text, ".")
	n, _ := new(big.Int).SetString(whole+behind+strings.Repeat("0", digits-len(behind)), 10)
	return n
}

// substituted is a script with values in the places of its parameters.
type substituted struct {
	Text  string
	moved []moved
}

// moved is a value in a filled script, and its place in the script with parameters.
type moved struct{ start, end, origin int }

// Substitute draws values.
func (t Template) Substitute(r *rand.Rand) (f substituted) {
	var out strings.Builder
	values, at := map[string]value{}, 0
	for _, p := range t.Parameters {
		v, ok := values[p.Name]
		if !ok {
			v = p.draw(r)
			values[p.Name] = v
		}
		out.WriteString(t.Script[at:p.Start])
		start := out.Len()
		if p.Quoted {
			out.WriteString(v.bare)
		} else {
			out.WriteString(v.plain)
		}
		f.moved, at = append(f.moved, moved{start, out.Len(), p.Start}), p.end
	}
	out.WriteString(t.Script[at:])
	f.Text = out.String()
	return f
}

// Origin is an error of the filled script at its place in the script with parameters.
func (t Template) Origin(f substituted, err error) error {
	var at *expr.Error
	if !errors.As(err, &at) || at.Pos < 0 {
		return err
	}
	pos := at.Pos
	for i, m := range slices.Backward(f.moved) {
		if pos >= m.end {
			pos += t.Parameters[i].end - m.end
			break
		}
		if pos >= m.start {
			pos = m.origin
			break
		}
	}
	return expr.Errorf(pos, "%s", err.Error())
}
