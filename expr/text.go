package expr

import (
	"crypto/md5"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// Functions of text. Positions and lengths count characters, which are those of UTF-8; a byte that is
// no UTF-8 is one too. Upper and lower case are Unicode's simple mapping.
func init() {
	define("||(text,text) text", func(a args) (table.Value, error) {
		if len(a.v[0].S)+len(a.v[1].S) > MaxText {
			return a.fail("requested length too large")
		}
		return table.Str(a.v[0].S + a.v[1].S), nil
	}).as(infix)
	define("concat(each...) text", func(a args) (table.Value, error) { return a.joined(a.shown(0), "") }).nulls = true
	define("concat_ws(text,each...) text", func(a args) (table.Value, error) {
		if a.v[0].Null {
			return a.v[0], nil
		}
		return a.joined(a.shown(1), a.v[0].S)
	}).nulls = true
	define("char_length character_length length(text) integer", ofText(func(s string) int64 { return int64(utf8.RuneCountInString(s)) }))
	define("octet_length(text) integer", ofText(func(s string) int64 { return int64(len(s)) }))
	define("ascii(text) integer", ofText(func(s string) int64 {
		for _, r := range s {
			return int64(r)
		}
		return 0
	}))
	define("chr(integer) text!", chr)
	define("lower(text) text", ofTexts(func(s []string) string { return strings.ToLower(s[0]) }))
	define("upper(text) text", ofTexts(func(s []string) string { return strings.ToUpper(s[0]) }))
	for name, trim := range map[string]func(s, cutset string) string{"trim btrim": strings.Trim, "ltrim": strings.TrimLeft, "rtrim": strings.TrimRight} {
		define(name+"(text) text", ofTexts(func(s []string) string { return trim(s[0], " ") }))
		define(name+"(text,text) text", ofTexts(func(s []string) string { return trim(s[0], s[1]) }))
	}
	define("initcap(text) text", ofTexts(func(s []string) string { return capitals(s[0]) }))
	define("bit_length(text) integer", ofText(func(s string) int64 { return 8 * int64(len(s)) }))
	define("md5(text) text", ofTexts(func(s []string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s[0]))) }))
	for name, base := range map[string]int{"to_hex": 16, "to_oct": 8, "to_bin": 2} {
		define(name+"(bigint) text", func(a args) (table.Value, error) {
			bits := uint64(a.v[0].I)
			if a.Args[0].Type().Kind != table.BigInt {
				bits = uint64(uint32(bits)) // as INTEGER has them
			}
			return table.Str(strconv.FormatUint(bits, base)), nil
		})
	}
	define("translate(text,text,text) text", ofTexts(translated))
	for _, params := range []string{"text,text,integer", "text,text,integer,integer"} {
		define("overlay("+params+") text!", overlay)
	}
	define("num_nulls(each...) integer", func(a args) (table.Value, error) { return table.Int(a.countNulls()), nil }).nulls = true
	define("num_nonnulls(each...) integer", func(a args) (table.Value, error) {
		return table.Int(int64(len(a.v)) - a.countNulls()), nil
	}).nulls = true
	define("reverse(text) text", ofTexts(func(s []string) string {
		r := []rune(s[0])
		slices.Reverse(r)
		return string(r)
	}))
	define("replace(text,text,text) text", func(a args) (table.Value, error) {
		s, old, by := a.v[0].S, a.v[1].S, a.v[2].S
		if old == "" {
			return table.Str(s), nil
		}
		if more := len(by) - len(old); more > 0 && len(s)+more*(len(s)/len(old)) > MaxText && len(s)+more*strings.Count(s, old) > MaxText {
			return a.fail("requested length too large")
		}
		return table.Str(strings.ReplaceAll(s, old, by)), nil
	})
	define("position strpos(text,text) integer", func(a args) (table.Value, error) {
		i := strings.Index(a.v[0].S, a.v[1].S)
		return table.Int(int64(utf8.RuneCountInString(a.v[0].S[:max(i, 0)]) + min(i+1, 1))), nil
	})
	startsWith := func(a args) (table.Value, error) { return table.Bool(strings.HasPrefix(a.v[0].S, a.v[1].S)), nil }
	define("starts_with(text,text) boolean", startsWith)
	define("^@(text,text) boolean", startsWith).as(infix)
	define("left(text,integer) text", cut(func(n, length int64) (from, to int64) {
		if n < 0 {
			n += length
		}
		return 0, n
	}))
	define("right(text,integer) text", cut(func(n, length int64) (from, to int64) {
		if n < 0 {
			return -n, length
		}
		return length - n, length
	}))
	define("substr substring(text,integer) text", cut(func(n, length int64) (from, to int64) { return n - 1, length }))
	define("substr substring(text,integer,integer) text!", func(a args) (table.Value, error) {
		start, n := a.v[1].I, a.v[2].I
		if n < 0 {
			return a.fail("negative substring length not allowed")
		}
		end, ok, _ := IntOp(Add, start, n)
		if !ok {
			end = math.MaxInt64
		}
		return table.Str(characters(a.v[0].S, max(start, 1)-1, max(end, 1)-1)), nil
	})
	define("repeat(text,integer) text!", func(a args) (table.Value, error) {
		s, n := a.v[0].S, max(a.v[1].I, 0)
		if s != "" && n > MaxText/int64(len(s)) {
			return a.fail("requested length too large")
		}
		return table.Str(strings.Repeat(s, int(min(n, MaxText)))), nil
	})
	for name, left := range map[string]bool{"lpad": true, "rpad": false} {
		define(name+"(text,integer) text!", func(a args) (table.Value, error) { return a.pad(" ", left) })
		define(name+"(text,integer,text) text!", func(a args) (table.Value, error) { return a.pad(a.v[2].S, left) })
	}
	define("split_part(text,text,integer) text!", splitPart)
}

// MaxText is the longest text that a function or aggregate makes, in bytes; it is PostgreSQL's limit.
const MaxText = 1<<30 - 1

func ofText(f func(s string) int64) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) { return table.Int(f(a.v[0].S)), nil }
}

func ofTexts(f func(s []string) string) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		var few [3]string
		for i, v := range a.v {
			few[i] = v.S
		}
		return table.Str(f(few[:len(a.v)])), nil
	}
}

// joined are texts one behind the other.
func (a args) joined(list []string, between string) (table.Value, error) {
	size := max(len(list)-1, 0) * len(between)
	for _, s := range list {
		size += len(s)
	}
	if size > MaxText {
		return a.fail("requested length too large")
	}
	return table.Str(strings.Join(list, between)), nil
}

// shown are the arguments from i on as text, without the NULLs; truth values are t and f.
func (a args) shown(i int) (list []string) {
	for _, v := range a.v[i:] {
		switch {
		case v.Null:
		case v.Type.Kind == table.Boolean:
			list = append(list, v.String()[:1])
		default:
			list = append(list, v.String())
		}
	}
	return list
}

func (a args) countNulls() (n int64) {
	for _, v := range a.v {
		if v.Null {
			n++
		}
	}
	return n
}

// capitals is a text with the first letter of every word in upper case, the others in lower case; a
// word is letters and digits.
func capitals(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		before := inWord
		if inWord = unicode.IsLetter(r) || unicode.IsDigit(r); before {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// translated is a text with each character of a second text replaced by that of a third in its
// place, or left out where there is none.
func translated(s []string) string {
	to := []rune(s[2])
	by := map[rune]rune{}
	n := 0
	for _, r := range s[1] {
		if _, twice := by[r]; !twice {
			by[r] = -1
			if n < len(to) {
				by[r] = to[n]
			}
		}
		n++
	}
	return strings.Map(func(r rune) rune {
		if out, ok := by[r]; ok {
			return out
		}
		return r
	}, s[0])
}

// overlay puts a text in the place of some characters of another, as many as it has itself where
// their number is not given.
func overlay(a args) (table.Value, error) {
	s, by, start := a.v[0].S, a.v[1].S, a.v[2].I
	n := int64(utf8.RuneCountInString(by))
	if len(a.v) > 3 {
		n = a.v[3].I
	}
	end, ok, _ := IntOp(Add, start, n)
	switch {
	case start <= 0:
		return a.fail("negative substring length not allowed")
	case !ok || !integer.Holds(end):
		return a.fail("%s", OutOfRange(integer))
	}
	return table.Str(characters(s, 0, start-1) + by + characters(s, max(end, 1)-1, math.MaxInt64)), nil
}

// characters are those of s from one to before another, as far as there are any.
func characters(s string, from, to int64) string {
	start, n := len(s), int64(0)
	for i := range s {
		if n == from {
			start = i
		}
		if n == to {
			return s[min(start, i):i]
		}
		n++
	}
	return s[start:]
}

// cut is the characters of a text that a number chooses, out of how many it has.
func cut(f func(n, length int64) (from, to int64)) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		s := a.v[0].S
		length := int64(utf8.RuneCountInString(s))
		from, to := f(max(a.v[1].I, -math.MaxInt64), length)
		return table.Str(characters(s, max(from, 0), max(to, 0))), nil
	}
}

// pad brings a text to a length: by characters of fill, or by cutting its end.
func (a args) pad(fill string, left bool) (table.Value, error) {
	s, n := a.v[0].S, max(a.v[1].I, 0)
	missing := n - int64(utf8.RuneCountInString(s))
	switch {
	case n > MaxText/utf8.UTFMax:
		return a.fail("requested length too large")
	case missing <= 0:
		return table.Str(characters(s, 0, n)), nil
	case fill == "":
		return table.Str(s), nil
	}
	size := int64(utf8.RuneCountInString(fill))
	more := characters(strings.Repeat(fill, int((missing+size-1)/size)), 0, missing)
	if left {
		return table.Str(more + s), nil
	}
	return table.Str(s + more), nil
}

func chr(a args) (table.Value, error) {
	switch i := a.v[0].I; {
	case i < 0:
		return a.fail("character number must be positive")
	case i == 0:
		return a.fail("null character not permitted")
	case i > utf8.MaxRune:
		return a.fail("requested character too large for encoding: %d", i)
	case !utf8.ValidRune(rune(i)):
		return a.fail("requested character not valid for encoding: %d", i)
	default:
		return table.Str(string(rune(i))), nil
	}
}

// splitPart is a part of a text between delimiters; a number below 0 counts from the end.
func splitPart(a args) (table.Value, error) {
	s, delimiter, n := a.v[0].S, a.v[1].S, a.v[2].I
	if n == 0 {
		return a.fail("field position must not be zero")
	}
	parts := []string{s}
	if delimiter != "" && s != "" {
		parts = strings.Split(s, delimiter)
	}
	if n > 0 {
		n--
	} else {
		n += int64(len(parts))
	}
	if n < 0 || n >= int64(len(parts)) {
		return table.Str(""), nil
	}
	return table.Str(parts[n]), nil
}
