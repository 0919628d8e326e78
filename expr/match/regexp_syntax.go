package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/sqlstate"
)

// escapes are the letters that may follow a backslash, and what stands for both in Go.
var escapes = map[byte]string{
	'd': `\d`, 'D': `\D`, 's': `\s`, 'S': `\S`, 'a': `\a`, 'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\v`,
	'A': `\A`, 'Z': `\z`, 'b': `\x08`, 'e': `\x1b`,
}

// boundaries are the letters behind a backslash that stand for a boundary of words, which brackets cannot have.
var boundaries = map[byte]string{'y': `\b`, 'Y': `\B`, 'm': beginsWord, 'M': endsWord}

// hexDigits are how many follow the letters that write a character by its number.
var hexDigits = map[byte]int{'u': 4, 'U': 8}

// noWord is \W within brackets: the ranges of what is not in wordClass.
var noWord = sync.OnceValue(func() string {
	re, err := syntax.Parse("[^"+wordClass+"]", syntax.Perl)
	if err != nil {
		panic(err)
	}
	var text strings.Builder
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&text, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
	}
	return text.String()
})

// wordClass is \w within brackets.
const wordClass = `\p{L}\p{Nd}_`

// classes are the characters of any language that PostgreSQL has for a name in brackets.
var classes = map[string]string{"[:alpha:]": `\p{L}`, "[:alnum:]": `\p{L}\p{Nd}`, "[:word:]": wordClass, "[:lower:]": `\p{Ll}`, "[:upper:]": `\p{Lu}`}

// toGoSyntax is a pattern with its flags as Go writes it, and the letters of the boundaries of words that it has.
func toGoSyntax(pattern, flags string) (goes, words string, err error) {
	fold, dot, lines, literal := "", "s", "", false
	for _, f := range flags {
		switch f {
		case 'g':
		case 'i':
			fold = "i"
		case 'c':
			fold = ""
		case 'n', 'm':
			dot, lines = "", "m"
		case 'p':
			dot, lines = "", ""
		case 'w':
			dot, lines = "s", "m"
		case 's':
			dot, lines = "s", ""
		case 'q':
			literal = true
		default:
			return "", "", sqlstate.Errorf(sqlstate.InvalidRegularExpression, "invalid regular expression option: %q; there are g, i, c, n, p, q, s and w", string(f))
		}
	}
	var text strings.Builder
	if all := fold + dot + lines; all != "" {
		text.WriteString("(?" + all + ")")
	}
	if literal {
		return text.String() + regexp.QuoteMeta(pattern), "", nil
	}
	bracket := -1 // where one begins, negative outside
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		if bracket >= 0 && strings.HasPrefix(rest, "[:") && strings.Contains(rest, ":]") {
			name := rest[:strings.Index(rest, ":]")+2]
			if class, ok := classes[name]; ok {
				text.WriteString(class)
			} else {
				text.WriteString(name)
			}
			i += len(name) - 1
			continue
		}
		if word := map[string]byte{"[[:<:]]": 'm', "[[:>:]]": 'M'}[rest[:min(len(rest), 7)]]; bracket < 0 && word != 0 {
			text.WriteString(boundaries[word])
			words += string(word)
			i += 6
			continue
		}
		switch {
		case bracket < 0 && rest[0] == '[':
			bracket = i
			if strings.HasPrefix(rest, "[^") {
				bracket++
			}
		case rest[0] == ']' && i > bracket+1:
			bracket = -1
		}
		if rest[0] != '\\' || len(rest) == 1 {
			text.WriteByte(rest[0])
			continue
		}
		i++
		c := pattern[i]
		word := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch escape, ok := escapes[c]; {
		case c == 'w' && bracket >= 0:
			text.WriteString(wordClass)
		case c == 'w':
			text.WriteString("[" + wordClass + "]")
		case c == 'W' && bracket >= 0:
			text.WriteString(noWord())
		case c == 'W':
			text.WriteString("[^" + wordClass + "]")
		case boundaries[c] != "" && bracket >= 0:
			return "", "", sqlstate.Errorf(sqlstate.InvalidRegularExpression, `invalid regular expression: \%c is no character, and in brackets`, c)
		case boundaries[c] != "":
			text.WriteString(boundaries[c])
			words += string(c)
		case ok:
			text.WriteString(escape)
		case hexDigits[c] > 0:
			digits := pattern[i+1 : min(i+1+hexDigits[c], len(pattern))]
			n, err := strconv.ParseUint(digits, 16, 32)
			if err != nil || len(digits) < hexDigits[c] {
				return "", "", sqlstate.Errorf(sqlstate.InvalidRegularExpression, `invalid regular expression: \%c wants %d hexadecimal digits behind it`, c, hexDigits[c])
			}
			fmt.Fprintf(&text, `\x{%x}`, n)
			i += len(digits)
		case word:
			return "", "", sqlstate.Errorf(sqlstate.FeatureNotSupported, `invalid regular expression: \%c is not supported`, c)
		default:
			text.WriteString(pattern[i-1 : i+1])
		}
	}
	return text.String(), words, nil
}
