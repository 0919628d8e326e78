package match

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// ByteClass finds the matches of a pattern that is one character of some of ASCII, or a run of them. An automaton would take ten times
// as long. A byte of UTF-8 that is one of ASCII is a character of its own.
type ByteClass struct {
	of   [256]bool
	more bool // it goes on as far as characters are of the class
}

// newByteClass is that of a pattern in Go's syntax; nil where the pattern is another one.
func newByteClass(text string) *ByteClass {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	f := &ByteClass{}
	if re.Op == syntax.OpPlus && re.Flags&syntax.NonGreedy == 0 {
		f.more, re = true, re.Sub[0]
	}
	ascii := true
	add := func(r rune) {
		if ascii = ascii && r < utf8.RuneSelf; ascii {
			f.of[r] = true
		}
	}
	switch {
	case re.Op == syntax.OpLiteral && len(re.Rune) == 1:
		first := re.Rune[0]
		add(first)
		for r := unicode.SimpleFold(first); re.Flags&syntax.FoldCase != 0 && r != first; r = unicode.SimpleFold(r) {
			add(r)
		}
	case re.Op == syntax.OpCharClass:
		for i := 0; i < len(re.Rune) && ascii; i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && ascii; r++ {
				add(r)
			}
		}
	default:
		return nil
	}
	if !ascii {
		return nil
	}
	return f
}

// Find is the first match from a byte on; from is the text's length where there is none.
func (f *ByteClass) Find(s string, at int) (from, to int) {
	for from = at; from < len(s) && !f.of[s[from]]; from++ {
	}
	for to = min(from+1, len(s)); f.more && to < len(s) && f.of[s[to]]; to++ {
	}
	return from, to
}

func (f *ByteClass) Count(s string) (n int64) {
	if f.more {
		for from, to := f.Find(s, 0); from < len(s); from, to = f.Find(s, to) {
			n++
		}
		return n
	}
	for i := range len(s) {
		if f.of[s[i]] {
			n++
		}
	}
	return n
}

// AppendReplaced appends a text with another in the place of the first match, or of all.
func (f *ByteClass) AppendReplaced(out []byte, s, by string, all bool) []byte {
	from, to := f.Find(s, 0)
	for from < len(s) {
		out = append(append(out, s[:from]...), by...)
		if s = s[to:]; !all {
			break
		}
		from, to = f.Find(s, 0)
	}
	return append(out, s...)
}

func (f *ByteClass) MatchString(s string) bool {
	from, _ := f.Find(s, 0)
	return from < len(s)
}

func (f *ByteClass) FindStringIndex(s string) []int { return f.FindStringSubmatchIndex(s) }

func (f *ByteClass) FindStringSubmatchIndex(s string) []int {
	from, to := f.Find(s, 0)
	if from == len(s) {
		return nil
	}
	return []int{from, to}
}

func (f *ByteClass) FindAllStringSubmatchIndex(s string, n int) (list [][]int) {
	for from, to := f.Find(s, 0); from < len(s) && (n < 0 || len(list) < n); from, to = f.Find(s, to) {
		list = append(list, []int{from, to})
	}
	return list
}

func (f *ByteClass) NumSubexp() int { return 0 }
