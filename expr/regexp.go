package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Regular expressions. They are PostgreSQL's as far as Go's package regexp goes: without back
// references and looking ahead, with digits of ASCII for \d. What is found is the first,
// of these the longest match, unless a part asks for the shortest (*?, +?, ??).
func init() {
	for _, op := range []struct {
		name, flags string
		not         bool
	}{{"~", "", false}, {"~*", "i", false}, {"!~", "", true}, {"!~*", "i", true}} {
		define(op.name+"(text,text) boolean!", func(a args) (table.Value, error) {
			re, _, err := a.regexp(1, op.flags)
			if err != nil {
				return table.Null(a.T), err
			}
			return table.Bool(re.MatchString(a.v[0].S) != op.not), nil
		}).bound(func(e *Call) kernel { return matchKernel(e, op.flags, op.not) }).as(infix)
	}
	for _, flags := range []string{"", ",text"} {
		define("regexp_like(text,text"+flags+") boolean!", func(a args) (table.Value, error) {
			re, _, err := a.regexp(1, a.flags(2))
			if err != nil {
				return table.Null(a.T), err
			}
			return table.Bool(re.MatchString(a.v[0].S)), nil
		}).bound(func(e *Call) kernel {
			if flags, ok := e.textAt(2); ok {
				return matchKernel(e, flags, false)
			}
			return kernel{}
		})
		define("regexp_replace(text,text,text"+flags+") text!", regexpReplace).bound(func(e *Call) kernel {
			re, flags := e.pattern(3)
			by, ok := e.textAt(2)
			if re == nil || !ok {
				return kernel{}
			}
			global := strings.Contains(flags, "g")
			if re.Class != nil && strings.IndexByte(by, '\\') < 0 {
				return written1(0, func(out []byte, s string) ([]byte, state) {
					from := len(out)
					out = re.Class.AppendReplaced(out, s, by, global)
					return out, failedIf(len(out)-from > MaxText)
				}).only(len(e.Args), 0)
			}
			return of1(0, func(s string) (string, state) {
				out, fits := re.Replace(s, by, global, MaxText)
				return out, failedIf(!fits)
			}).only(len(e.Args), 0)
		})
	}
	for _, more := range []string{",integer", ",integer,integer", ",integer,integer,text"} {
		define("regexp_replace(text,text,text"+more+") text!", regexpReplace)
	}
	for _, more := range []string{"", ",integer", ",integer,text"} {
		define("regexp_count(text,text"+more+") integer!", func(a args) (table.Value, error) {
			re, list, err := a.matches(2, 3)
			if re == nil {
				return table.Null(a.T), err
			}
			return table.Int(int64(len(list))), nil
		}).bound(func(e *Call) kernel {
			re, flags := e.pattern(3)
			if re == nil || len(e.Args) > 2 || strings.Contains(flags, "g") {
				return kernel{}
			}
			if re.Class != nil {
				return of1(0, never(re.Class.Count)).only(2, 0)
			}
			return of1(0, never(func(s string) int64 { return int64(len(re.All(s))) })).only(2, 0)
		})
	}
	for _, more := range []string{"", ",integer", ",integer,integer", ",integer,integer,text", ",integer,integer,text,integer"} {
		define("regexp_substr(text,text"+more+") text!", func(a args) (table.Value, error) {
			at, err := a.match(2, 4)
			if err != nil || at == nil {
				return table.Null(a.T), err
			}
			return table.Str(a.v[0].S[at[0]:at[1]]), nil
		}).bound(func(e *Call) kernel {
			if len(e.Args) > 2 {
				return kernel{}
			}
			return foundKernel(e, false)
		})
	}
	for _, more := range []string{"", ",integer", ",integer,integer", ",integer,integer,integer", ",integer,integer,integer,text", ",integer,integer,integer,text,integer"} {
		define("regexp_instr(text,text"+more+") integer!", func(a args) (table.Value, error) {
			end, err := a.number(4, "endoption", 0)
			if err != nil || end > 1 {
				return a.failAs(sqlstate.InvalidParameterValue, "invalid value for parameter \"endoption\": %d", end)
			}
			at, err := a.match(2, 5)
			if err != nil {
				return table.Null(a.T), err
			}
			if at == nil {
				return table.Int(0), nil
			}
			return table.Int(int64(utf8.RuneCountInString(a.v[0].S[:at[end]])) + 1), nil
		})
	}
	define("substring(text,text) text!", func(a args) (table.Value, error) { return a.found(1) }).bound(func(e *Call) kernel { return foundKernel(e, true) })
	define("substring(text,text,text) text!", similarSubstring)
	for _, escape := range []string{"", ",text"} {
		define("similar_to_escape(text"+escape+") text!", similarPattern)
	}
	for _, op := range []struct {
		name      string
		fold, not bool
	}{{"~~", false, false}, {"~~*", true, false}, {"!~~", false, true}, {"!~~*", true, true}} {
		define(op.name+"(text,text) boolean!", func(a args) (table.Value, error) {
			m, err := match.CompileLike(a.v[1].S, '\\', op.fold)
			if err != nil {
				return table.Null(a.T), ErrorAt(a.P, err)
			}
			return table.Bool(m.Match(a.v[0].S) != op.not), nil
		}).as(infix)
	}
}

// pattern is the constant second argument made ready, with the flags of an argument; nil where these are no constants, or wrong.
func (e *Call) pattern(flagsAt int) (re *match.Regexp, flags string) {
	source, ok := e.textAt(1)
	flags, known := e.textAt(flagsAt)
	if !ok || !known {
		return nil, ""
	}
	re, err := match.CompileRegexp(source, flags)
	if err != nil {
		return nil, ""
	}
	return re, flags
}

// matchKernel tells which texts have a match of a constant pattern.
func matchKernel(e *Call, flags string, not bool) kernel {
	source, ok := e.textAt(1)
	if !ok {
		return kernel{}
	}
	re, err := match.CompileRegexp(source, flags)
	if err != nil {
		return kernel{}
	}
	return of1(0, never(func(s string) int64 { return truth(re.MatchString(s) != not) })).only(len(e.Args), 0)
}

// foundKernel is the first match of a constant pattern, or of its first group.
func foundKernel(e *Call, group bool) kernel {
	re, _ := e.pattern(len(e.Args))
	if re == nil {
		return kernel{}
	}
	if f := re.Class; f != nil {
		return of1(0, func(s string) (string, state) {
			from, to := f.Find(s, 0)
			if from == len(s) {
				return "", null
			}
			return s[from:to], valid
		}).only(2, 0)
	}
	return of1(0, func(s string) (string, state) {
		if !group || re.NumSubexp() == 0 {
			at := re.FindStringIndex(s)
			if at == nil {
				return "", null
			}
			return s[at[0]:at[1]], valid
		}
		at := re.FindStringSubmatchIndex(s)
		if at == nil || at[2] < 0 {
			return "", null
		}
		return s[at[2]:at[3]], valid
	}).only(2, 0)
}

// flags are those of argument i, none where there is no such argument.
func (a args) flags(i int) string {
	if i < len(a.v) {
		return a.v[i].S
	}
	return ""
}

// regexp is argument i, a pattern, made ready; global says that the flag g is there.
func (a args) regexp(i int, flags string) (re *match.Regexp, global bool, err error) {
	if re, err = match.CompileRegexp(a.v[i].S, flags); err != nil {
		return nil, false, ErrorAt(a.P, err)
	}
	return re, strings.Contains(flags, "g"), nil
}

// number is argument i, at least least; without such an argument it is that.
func (a args) number(i int, name string, least int64) (int64, error) {
	if i >= len(a.v) {
		return least, nil
	}
	if n := a.v[i].I; n >= least {
		return n, nil
	}
	return 0, Coded(sqlstate.InvalidParameterValue, a.P, "invalid value for parameter %q: %d", name, a.v[i].I)
}

// matches are those of a pattern, the second argument, from the character on whose number is argument start, with the
// flags of argument flags. Without a pattern there is an error.
func (a args) matches(start, flags int) (re *match.Regexp, list [][]int, err error) {
	re, global, err := a.regexp(1, a.flags(flags))
	if err != nil {
		return nil, nil, err
	}
	if global {
		return nil, nil, Coded(sqlstate.InvalidParameterValue, a.P, "%s() does not support the \"global\" option", a.Fn.Name)
	}
	from, err := a.number(start, "start", 1)
	if err != nil {
		return nil, nil, err
	}
	return re, re.AllFrom(a.v[0].S, from-1), nil
}

// match is where the match is that the arguments say: start, the number of the match, and behind the flags that of a
// group. It is nil where there is none.
func (a args) match(start, flags int) ([]int, error) {
	re, list, err := a.matches(start, flags)
	if err != nil {
		return nil, err
	}
	n, err := a.number(start+1, "n", 1)
	if err != nil {
		return nil, err
	}
	group, err := a.number(flags+1, "subexpr", 0)
	if group == 1 && re.NumSubexp() == 0 {
		group = 0 // as in substring
	}
	if err != nil || n > int64(len(list)) || group > int64(re.NumSubexp()) {
		return nil, err
	}
	at := list[n-1][2*group:]
	if at[0] < 0 {
		return nil, nil
	}
	return at[:2], nil
}

// found is what a pattern, the second argument, finds first: all of it, or its group of a number,
// if it has so many. It is NULL where nothing is found.
func (a args) found(group int) (table.Value, error) {
	re, _, err := a.regexp(1, "")
	if err != nil {
		return table.Null(a.T), err
	}
	at := re.FindStringSubmatchIndex(a.v[0].S)
	if re.NumSubexp() < group {
		group = 0
	}
	if at == nil || at[2*group] < 0 {
		return table.Null(a.T), nil
	}
	return table.Str(a.v[0].S[at[2*group]:at[2*group+1]]), nil
}

// regexpReplace replaces the first match, or with the flag g all matches. With a start and a number it replaces the
// match of that number from there on, 0 for all. \1 to \9 in the new text are the pattern's groups, \& is the whole
// match.
func regexpReplace(a args) (table.Value, error) {
	places := len(a.v) > 3 && a.v[3].Type.IsInteger()
	flags := a.flags(3)
	if places {
		flags = a.flags(5)
	}
	re, global, err := a.regexp(1, flags)
	if err != nil {
		return table.Null(a.T), err
	}
	s, by := a.v[0].S, a.v[2].S
	var list [][]int
	switch {
	case places:
		start, err := a.number(3, "start", 1)
		if err != nil {
			return table.Null(a.T), err
		}
		n, err := a.number(4, "n", 0)
		if err != nil {
			return table.Null(a.T), err
		}
		if list = re.AllFrom(s, start-1); len(a.v) == 4 && !global {
			n = 1
		}
		if n > 0 {
			list = list[min(n-1, int64(len(list))):min(n, int64(len(list)))]
		}
	case global:
		list = re.All(s)
	default:
		list = re.FindAllStringSubmatchIndex(s, 1)
	}
	out, fits := match.ReplaceAt(s, by, list, MaxText)
	if !fits {
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
	}
	return table.Str(out), nil
}

// similarPattern is the regular expression of a pattern of SIMILAR TO; the second argument is what
// escapes a character, \ where there is none.
func similarPattern(a args) (table.Value, error) {
	escape := `\`
	if len(a.v) > 1 {
		escape = a.v[1].S
	}
	parts, err := a.similarParts(a.v[0].S, escape)
	if err != nil {
		return table.Null(a.T), err
	}
	return table.Str(anchored(parts...)), nil
}

// anchored is the regular expression of a text that is some parts, one after the other.
func anchored(parts ...string) string { return "^(?:" + strings.Join(parts, ")(?:") + ")$" }

// similarSubstring is SUBSTRING(x SIMILAR p ESCAPE e). A double quote behind the escape separates the parts of the pattern.
// The result is what the second part matches, or all of x where there is one part. The first and the third match as little as
// they can.
func similarSubstring(a args) (table.Value, error) {
	parts, err := a.similarParts(a.v[1].S, a.v[2].S)
	if err != nil {
		return table.Null(a.T), err
	}
	if len(parts) == 1 {
		parts = []string{"", parts[0], ""}
	}
	parts = append(parts, "")[:3]
	var of [5]*match.Regexp
	for i, p := range []string{parts[0], parts[1], parts[2], anchored(parts[1:]...), anchored(parts...)} {
		if i < 3 {
			p = anchored(p)
		}
		if of[i], err = match.CompileRegexp(p, ""); err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
	}
	s := a.v[0].S
	if !of[4].MatchString(s) {
		return table.Null(a.T), nil
	}
	from, to := 0, len(s)
	for from < len(s) && !(of[0].MatchString(s[:from]) && of[3].MatchString(s[from:])) {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	for to > from && !(of[1].MatchString(s[from:to]) && of[2].MatchString(s[to:])) {
		_, size := utf8.DecodeLastRuneInString(s[:to])
		to -= size
	}
	return table.Str(s[from:to]), nil
}

// similarParts are the regular expressions of the parts of a pattern of SIMILAR TO, which an escaped double quote ends: up to three.
func (a args) similarParts(pattern, escape string) ([]string, error) {
	if len([]rune(escape)) > 1 {
		return nil, Coded(sqlstate.InvalidEscapeSequence, a.P, "invalid escape string: it must be empty or one character")
	}
	var parts []string
	var out strings.Builder
	escaped, bracket := false, false
	for _, r := range pattern {
		c := string(r)
		switch {
		case escaped && c == `"` && !bracket:
			if len(parts) == 2 {
				return nil, Coded(sqlstate.InvalidRegularExpression, a.P, "a pattern of SIMILAR may not contain more than two double quotes behind the escape")
			}
			parts = append(parts, out.String())
			out.Reset()
			escaped = false
		case escaped:
			out.WriteString(`\` + c)
			escaped = false
		case c == escape:
			escaped = true
		case bracket:
			bracket = c != "]"
			out.WriteString(strings.ReplaceAll(c, `\`, `\\`))
		case c == "%":
			out.WriteString(".*")
		case c == "_":
			out.WriteByte('.')
		case c == "(":
			out.WriteString("(?:")
		case strings.Contains(`\.^$`, c):
			out.WriteString(`\` + c)
		default:
			bracket = c == "["
			out.WriteString(c)
		}
	}
	return append(parts, out.String()), nil
}
