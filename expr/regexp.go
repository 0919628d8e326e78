package expr

import (
	"regexp"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// The operators of regular expressions. They are PostgreSQL's as far as Go's package regexp
// goes: without back references and looking ahead, with letters of ASCII for \w and \d.
func init() {
	for _, op := range []struct {
		name      string
		fold, not bool
	}{{"~", false, false}, {"~*", true, false}, {"!~", false, true}, {"!~*", true, true}} {
		define(op.name+"(text,text) boolean!", func(a args) (table.Value, error) {
			re, err := compiled(a.v[1].S, op.fold)
			if err != nil {
				return a.fail("invalid regular expression: %v", err)
			}
			return table.Bool(re.MatchString(a.v[0].S) != op.not), nil
		}).as(infix)
	}
}

// escapes are the letters that may follow a backslash, and what stands for both in Go.
var escapes = map[byte]string{
	'd': `\d`, 'D': `\D`, 's': `\s`, 'S': `\S`, 'w': `\w`, 'W': `\W`, 'a': `\a`, 'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\v`,
	'A': `\A`, 'Z': `\z`, 'y': `\b`, 'Y': `\B`, 'b': `\x08`, 'e': `\x1b`,
}

// patterns are those that were compiled last.
var patterns struct {
	sync.Mutex
	of map[string]*regexp.Regexp
}

// compiled is a pattern made ready.
func compiled(pattern string, fold bool) (*regexp.Regexp, error) {
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	patterns.Lock()
	defer patterns.Unlock()
	if re, ok := patterns.of[flags+pattern]; ok {
		return re, nil
	}
	var text strings.Builder
	text.WriteString(flags)
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			text.WriteByte(pattern[i])
			continue
		}
		i++
		c := pattern[i]
		word := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch escape, ok := escapes[c]; {
		case ok:
			text.WriteString(escape)
		case word:
			return nil, Errorf(-1, `\%c is not supported`, c)
		default:
			text.WriteString(pattern[i-1 : i+1])
		}
	}
	re, err := regexp.Compile(text.String())
	if err != nil {
		return nil, err
	}
	const most = 256
	if patterns.of == nil || len(patterns.of) >= most {
		patterns.of = map[string]*regexp.Regexp{}
	}
	patterns.of[flags+pattern] = re
	return re, nil
}
