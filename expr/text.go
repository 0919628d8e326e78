package expr

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Functions of text. Positions and lengths count characters, which are those of UTF-8; a byte that is
// no UTF-8 is one too. Upper and lower case are Unicode's simple mapping.
func init() {
	define("||(text,text) text", func(a args) (table.Value, error) {
		if len(a.v[0].S)+len(a.v[1].S) > MaxText {
			return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
		}
		return table.Str(a.v[0].S + a.v[1].S), nil
	}).by(written2(0, 1, func(out []byte, s, t string) ([]byte, state) {
		return append(append(out, s...), t...), failedIf(len(s)+len(t) > MaxText)
	})).as(infix)
	define("concat(each...) text", func(a args) (table.Value, error) { return a.joined(a.shown(0), "") }).bound(func(e *Call) kernel { return joining(e, 0) }).nulls = true
	define("concat_ws(text,each...) text", func(a args) (table.Value, error) {
		if a.v[0].Null {
			return a.v[0], nil
		}
		return a.joined(a.shown(1), a.v[0].S)
	}).bound(func(e *Call) kernel { return joining(e, 1) }).nulls = true
	ofText("char_length character_length length(text) integer", match.CountCharacters)
	ofText("octet_length(text) integer", func(s string) int64 { return int64(len(s)) })
	ofText("ascii(text) integer", func(s string) int64 {
		for _, r := range s {
			return int64(r)
		}
		return 0
	})
	define("chr(integer) text!", chr)
	writing("lower(text) text", strings.ToLower, inCase('A', strings.ToLower))
	writing("upper(text) text", strings.ToUpper, inCase('a', strings.ToUpper))
	for name, trim := range map[string]func(s, cutset string) string{"trim btrim": strings.Trim, "ltrim": strings.TrimLeft, "rtrim": strings.TrimRight} {
		ofTexts(name+"(text) text", func(s string) string { return trim(s, " ") })
		define(name+"(text,text) text", func(a args) (table.Value, error) { return table.Str(trim(a.v[0].S, a.v[1].S)), nil }).
			by(of2(0, 1, func(s, cutset string) (string, state) { return trim(s, cutset), valid }))
	}
	ofTexts("initcap(text) text", capitals)
	ofText("bit_length(text) integer", func(s string) int64 { return 8 * int64(len(s)) })
	digest := func(out []byte, s string) []byte {
		sum := md5.Sum(unsafe.Slice(unsafe.StringData(s), len(s))) // which does not write to it
		return hex.AppendEncode(out, sum[:])
	}
	writing("md5(text) text", func(s string) string { return string(digest(nil, s)) }, digest)
	for name, base := range map[string]int{"to_hex": 16, "to_oct": 8, "to_bin": 2} {
		define(name+"(bigint) text", func(a args) (table.Value, error) {
			return table.Str(strconv.FormatUint(bitsOf(a.v[0].I, a.Args[0].Type()), base)), nil
		}).bound(func(e *Call) kernel {
			return written1(0, func(out []byte, x int64) ([]byte, state) {
				return strconv.AppendUint(out, bitsOf(x, e.Args[0].Type()), base), valid
			})
		})
	}
	define("translate(text,text,text) text", func(a args) (table.Value, error) { return table.Str(translation(a.v[1].S, a.v[2].S)(a.v[0].S)), nil }).bound(func(e *Call) kernel {
		from, ok := e.textAt(1)
		to, known := e.textAt(2)
		if !ok || !known {
			return kernel{}
		}
		return of1(0, never(translation(from, to))).only(3, 0)
	})
	for _, params := range []string{"text,text,integer", "text,text,integer,integer"} {
		define("overlay("+params+") text!", overlay)
	}
	define("num_nulls(each...) integer", func(a args) (table.Value, error) { return table.Int(a.countNulls()), nil }).nulls = true
	define("num_nonnulls(each...) integer", func(a args) (table.Value, error) {
		return table.Int(int64(len(a.v)) - a.countNulls()), nil
	}).nulls = true
	writing("reverse(text) text", func(s string) string { return string(appendReversed(nil, s)) }, appendReversed)
	define("replace(text,text,text) text", func(a args) (table.Value, error) {
		s, old, by := a.v[0].S, a.v[1].S, a.v[2].S
		if old == "" {
			return table.Str(s), nil
		}
		if more := len(by) - len(old); more > 0 && len(s)+more*(len(s)/len(old)) > MaxText && len(s)+more*strings.Count(s, old) > MaxText {
			return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
		}
		return table.Str(strings.ReplaceAll(s, old, by)), nil
	}).by(written3(0, 1, 2, func(out []byte, s, old, by string) ([]byte, state) {
		if more := len(by) - len(old); old != "" && more > 0 && len(s)+more*(len(s)/len(old)) > MaxText && len(s)+more*strings.Count(s, old) > MaxText {
			return out, failed
		}
		for old != "" {
			i := strings.Index(s, old)
			if i < 0 {
				break
			}
			out = append(append(out, s[:i]...), by...)
			s = s[i+len(old):]
		}
		return append(out, s...), valid
	}))
	define("position strpos(text,text) integer", func(a args) (table.Value, error) {
		return table.Int(place(a.v[0].S, a.v[1].S)), nil
	}).by(of2(0, 1, func(s, of string) (int64, state) { return place(s, of), valid }))
	startsWith := func(a args) (table.Value, error) { return table.Bool(strings.HasPrefix(a.v[0].S, a.v[1].S)), nil }
	starting := of2(0, 1, func(s, with string) (int64, state) { return truth(strings.HasPrefix(s, with)), valid })
	define("starts_with(text,text) boolean", startsWith).by(starting)
	define("^@(text,text) boolean", startsWith).by(starting).as(infix)
	cut("left(text,integer) text", func(n, length int64) (from, to int64) {
		if n < 0 {
			n += length
		}
		return 0, n
	})
	cut("right(text,integer) text", func(n, length int64) (from, to int64) {
		if n < 0 {
			return -n, length
		}
		return length - n, length
	})
	cut("substr substring(text,integer) text", func(n, length int64) (from, to int64) { return n - 1, length })
	define("substr substring(text,integer,integer) text!", func(a args) (table.Value, error) {
		if a.v[2].I < 0 {
			return a.failAs(sqlstate.SubstringError, "negative substring length not allowed")
		}
		return table.Str(substring(a.v[0].S, a.v[1].I, a.v[2].I)), nil
	}).by(of3(0, 1, 2, func(s string, start, n int64) (string, state) { return substring(s, start, n), failedIf(n < 0) }))
	define("repeat(text,integer) text!", func(a args) (table.Value, error) {
		s, n := a.v[0].S, max(a.v[1].I, 0)
		if s != "" && n > MaxText/int64(len(s)) {
			return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
		}
		return table.Str(strings.Repeat(s, int(min(n, MaxText)))), nil
	}).by(written2(0, 1, func(out []byte, s string, n int64) ([]byte, state) {
		n = max(n, 0)
		switch {
		case s == "":
			return out, valid
		case n > MaxText/int64(len(s)):
			return out, failed
		}
		for out = slices.Grow(out, len(s)*int(n)); n > 0; n-- {
			out = append(out, s...)
		}
		return out, valid
	}))
	for name, left := range map[string]bool{"lpad": true, "rpad": false} {
		define(name+"(text,integer) text!", func(a args) (table.Value, error) { return a.pad(" ", left) }).
			by(written2(0, 1, func(out []byte, s string, n int64) ([]byte, state) {
				return appendPadded(out, s, n, " ", left)
			}))
		define(name+"(text,integer,text) text!", func(a args) (table.Value, error) { return a.pad(a.v[2].S, left) }).
			by(written3(0, 1, 2, func(out []byte, s string, n int64, by string) ([]byte, state) {
				return appendPadded(out, s, n, by, left)
			}))
	}
	define("split_part(text,text,integer) text!", func(a args) (table.Value, error) {
		if a.v[2].I == 0 {
			return a.failAs(sqlstate.InvalidParameterValue, "field position must not be zero")
		}
		return table.Str(splitPart(a.v[0].S, a.v[1].S, a.v[2].I)), nil
	}).by(of3(0, 1, 2, func(s, delimiter string, n int64) (string, state) {
		return splitPart(s, delimiter, n), failedIf(n == 0)
	}))
}

// bitsOf are the bits that functions show of an integer: 64 of a BIGINT, else the 32 of an INTEGER.
func bitsOf(x int64, t table.Type) uint64 {
	if t.Kind != table.BigInt {
		return uint64(uint32(x))
	}
	return uint64(x)
}

// MaxText is the longest text that a function or aggregate makes, in bytes; it is PostgreSQL's limit.
const MaxText = 1<<30 - 1

// ofText defines a number of a text.
func ofText(signature string, f func(s string) int64) {
	define(signature, func(a args) (table.Value, error) { return table.Int(f(a.v[0].S)), nil }).by(of1(0, never(f)))
}

// ofTexts defines a text of a text.
func ofTexts(signature string, f func(s string) string) {
	define(signature, func(a args) (table.Value, error) { return table.Str(f(a.v[0].S)), nil }).by(of1(0, never(f)))
}

// writing is ofTexts of a text that is made; write appends it.
func writing(signature string, f func(s string) string, write func(out []byte, s string) []byte) {
	define(signature, func(a args) (table.Value, error) { return table.Str(f(a.v[0].S)), nil }).
		by(written1(0, func(out []byte, s string) ([]byte, state) { return write(out, s), valid }))
}

// joining puts texts one behind the other, NULLs left out: those from an argument on, with the one before it between them.
func joining(e *Call, first int) kernel {
	for _, a := range e.Args {
		if a.Type().Kind != table.Varchar {
			return kernel{}
		}
	}
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		if first > 0 {
			out.Valid = v[0].Valid
		}
		w := textWriter{arena: out.arena}
		return out, out.each(len(out.Texts), func(i int) state {
			text, some := w.begin(), false
			from := len(text)
			for k := first; k < len(v); k++ {
				if v[k].IsNull(i) {
					continue
				}
				if some && first > 0 {
					text = append(text, v[0].Texts[i]...)
				}
				some = true
				text = append(text, v[k].Texts[i]...)
			}
			out.Texts[i] = w.end(text)
			return failedIf(len(text)-from > MaxText)
		})
	}}
}

// place is where a text stands in another, from 1 on, in characters; 0 where it does not.
func place(s, of string) int64 {
	i := strings.Index(s, of)
	return int64(utf8.RuneCountInString(s[:max(i, 0)]) + min(i+1, 1))
}

// appendReversed appends a text with its characters in the other order.
func appendReversed(out []byte, s string) []byte {
	if match.IsASCII(s) {
		from := len(out)
		out = append(out, s...)
		slices.Reverse(out[from:])
		return out
	}
	r := []rune(s)
	slices.Reverse(r)
	return append(out, string(r)...)
}

// inCase appends a text in another case. other changes letters that are not ASCII; from is the first of the 26 letters of ASCII that
// change.
func inCase(from byte, other func(s string) string) func(out []byte, s string) []byte {
	least, past := (0x80-uint64(from))*everyByte, (0x80-uint64(from)-26)*everyByte
	return func(out []byte, s string) []byte {
		if !match.IsASCII(s) {
			return append(out, other(s)...)
		}
		at := len(out)
		out = append(out, s...)
		b := out[at:]
		for ; len(b) >= 8; b = b[8:] { // the high bit of a byte says that it is a letter, and the fourth one below is its case
			x := binary.LittleEndian.Uint64(b)
			binary.LittleEndian.PutUint64(b, x^(x+least)&^(x+past)&highBits>>2)
		}
		for i, c := range b {
			if c-from < 26 {
				b[i] = c ^ 0x20
			}
		}
		return out
	}
}

// joined are texts one behind the other.
func (a args) joined(list []string, between string) (table.Value, error) {
	size := max(len(list)-1, 0) * len(between)
	for _, s := range list {
		size += len(s)
	}
	if size > MaxText {
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
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

// translation replaces each character of a text by that of another in its
// place, or leaves it out where there is none.
func translation(from, to string) func(s string) string {
	with := []rune(to)
	by := map[rune]rune{}
	n := 0
	for _, r := range from {
		if _, twice := by[r]; !twice {
			by[r] = -1
			if n < len(with) {
				by[r] = with[n]
			}
		}
		n++
	}
	var ascii [utf8.RuneSelf]rune
	for r := range ascii {
		ascii[r] = rune(r)
		if out, ok := by[rune(r)]; ok {
			ascii[r] = out
		}
	}
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return ascii[r]
			}
			if out, ok := by[r]; ok {
				return out
			}
			return r
		}, s)
	}
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
		return a.failAs(sqlstate.SubstringError, "negative substring length not allowed")
	case !ok || !integer.Holds(end):
		return a.raise(OutOfRange(integer))
	}
	return table.Str(characters(s, 0, start-1) + by + characters(s, max(end, 1)-1, math.MaxInt64)), nil
}

// characters are those of s from one to before another, as far as there are any.
func characters(s string, from, to int64) string {
	switch {
	case to >= int64(len(s)) && from == 0:
		return s
	case match.IsASCII(s[:min(to, int64(len(s)))]): // so each character before to is a byte
		to = min(to, int64(len(s)))
		return s[min(from, to):to]
	}
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

// substring is so many characters from one on, the first of number 1.
func substring(s string, start, n int64) string {
	end, ok, _ := IntOp(Add, start, max(n, 0))
	if !ok {
		end = math.MaxInt64
	}
	return characters(s, max(start, 1)-1, max(end, 1)-1)
}

// cut defines the characters of a text that a number chooses, out of how many it has.
func cut(signature string, f func(n, length int64) (from, to int64)) {
	of := func(s string, n int64) string {
		from, to := f(max(n, -math.MaxInt64), match.CountCharacters(s))
		return characters(s, max(from, 0), max(to, 0))
	}
	define(signature, func(a args) (table.Value, error) { return table.Str(of(a.v[0].S, a.v[1].I)), nil }).
		by(of2(0, 1, func(s string, n int64) (string, state) { return of(s, n), valid }))
}

// pad brings a text to a length: by characters of fill, or by cutting its end.
func (a args) pad(fill string, left bool) (table.Value, error) {
	out, state := appendPadded(nil, a.v[0].S, a.v[1].I, fill, left)
	if state == failed {
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
	}
	return table.Str(string(out)), nil
}

// appendPadded appends what pad gives. It fails, and appends nothing, where the length is beyond PostgreSQL's limit.
func appendPadded(out []byte, s string, n int64, fill string, left bool) ([]byte, state) {
	if n > MaxText/utf8.UTFMax {
		return out, failed
	}
	n = max(n, 0)
	missing := n - match.CountCharacters(s)
	switch {
	case missing <= 0:
		return append(out, characters(s, 0, n)...), valid
	case fill == "":
		return append(out, s...), valid
	}
	if !left {
		out = append(out, s...)
	}
	size := match.CountCharacters(fill)
	for ; missing >= size; missing -= size {
		out = append(out, fill...)
	}
	out = append(out, characters(fill, 0, missing)...)
	if left {
		out = append(out, s...)
	}
	return out, valid
}

func chr(a args) (table.Value, error) {
	switch i := a.v[0].I; {
	case i < 0:
		return a.failAs(sqlstate.InvalidParameterValue, "character number must be positive")
	case i == 0:
		return a.failAs(sqlstate.ProgramLimitExceeded, "null character not permitted")
	case i > utf8.MaxRune:
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested character too large for encoding: %d", i)
	case !utf8.ValidRune(rune(i)):
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested character not valid for encoding: %d", i)
	default:
		return table.Str(string(rune(i))), nil
	}
}

// splitPart is a part of a text between delimiters; a number below 0 counts from the end. There is none of number 0.
func splitPart(s, delimiter string, n int64) string {
	if delimiter == "" || s == "" {
		if n == 1 || n == -1 {
			return s
		}
		return ""
	}
	if n < 0 {
		n += int64(strings.Count(s, delimiter)) + 2
		if n < 1 {
			return ""
		}
	}
	for ; ; n-- {
		i := strings.Index(s, delimiter)
		switch {
		case n == 1 && i < 0:
			return s
		case n == 1:
			return s[:i]
		case i < 0:
			return ""
		}
		s = s[i+len(delimiter):]
	}
}

// everyByte times a byte has it in each byte of a word; highBits are those that no character of ASCII has.
const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)
