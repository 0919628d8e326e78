package match

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// finder finds matches of a regular expression, as [regexp.Regexp] does, whose methods these are.
type finder interface {
	MatchString(s string) bool
	FindStringIndex(s string) []int
	FindStringSubmatchIndex(s string) []int
	FindAllStringSubmatchIndex(s string, n int) [][]int
	NumSubexp() int
}

// Go's syntax has no \m and \M, for the beginning and the end of a word. They become a boundary and one of two runes that no
// text has: the next character is of a word, or the last one is.
const (
	beforeWord = '\U0010fffe'
	behindWord = '\U0010ffff'
	beginsWord = `(?:\b\x{10fffe})`
	endsWord   = `(?:\b\x{10ffff})`
)

// wordFinder finds matches of a pattern with boundaries of words, which for Go's package are those of ASCII only. It runs the package's
// programs with words of any language. It takes time in proportion to the text and the program (Thompson's algorithm with the captures of
// Pike).
type wordFinder struct {
	*regexp.Regexp              // for texts of ASCII, if simple
	simple         bool         // nothing but \y and \Y
	prog           *syntax.Prog // all instructions
	longest        bool         // of the matches that begin first, not the first by the order of alternatives
}

// newWordFinder is a finder for a pattern that Go's package takes.
func newWordFinder(text string, re *regexp.Regexp, simple, longest bool) (*wordFinder, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	return &wordFinder{re, simple, prog, longest}, err
}

// isWordRune reports a character of words, as \w; a negative one is none.
func isWordRune(r rune) bool {
	return r == '_' || r >= 0 && (unicode.IsLetter(r) || unicode.Is(unicode.Nd, r))
}

func (f *wordFinder) plain(s string) bool {
	if !f.simple {
		return false
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (f *wordFinder) MatchString(s string) bool {
	if f.plain(s) {
		return f.Regexp.MatchString(s)
	}
	return f.find(s, 0) != nil
}

func (f *wordFinder) FindStringIndex(s string) []int {
	at := f.FindStringSubmatchIndex(s)
	if at == nil {
		return nil
	}
	return at[:2]
}

func (f *wordFinder) FindStringSubmatchIndex(s string) []int {
	if f.plain(s) {
		return f.Regexp.FindStringSubmatchIndex(s)
	}
	return f.find(s, 0)
}

func (f *wordFinder) FindAllStringSubmatchIndex(s string, n int) (list [][]int) {
	if f.plain(s) {
		return f.Regexp.FindAllStringSubmatchIndex(s, n)
	}
	for from, last := 0, -1; from <= len(s) && (n < 0 || len(list) < n); {
		at := f.find(s, from)
		if at == nil {
			break
		}
		if !(at[1] == from && at[0] == last) { // no empty one right behind another one
			list = append(list, at)
		}
		if last = at[1]; at[1] == from {
			_, size := utf8.DecodeRuneInString(s[from:])
			from += max(size, 1)
		} else {
			from = at[1]
		}
	}
	return list
}

// walk is a place of a program, with the places of the groups so far.
type walk struct {
	pc     uint32
	groups []int
}

// walks are places of a program at a place of the text, in the order of their alternatives.
type walks struct {
	list []walk
	at   []int // of each instruction, the round in which it was added last
}

// find is the first match that begins at a byte of a text or behind it; nil for none.
func (f *wordFinder) find(s string, from int) (found []int) {
	now, next := &walks{at: make([]int, len(f.prog.Inst))}, &walks{at: make([]int, len(f.prog.Inst))}
	before := rune(-1)
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:from])
	}
	rune1 := func(at int) (r rune, size int) {
		if at >= len(s) {
			return -1, 0
		}
		return utf8.DecodeRuneInString(s[at:])
	}
	r, size := rune1(from)
	var start []int
	for at, round := from, 1; ; round++ {
		if found == nil {
			if start == nil {
				start = slices.Repeat([]int{-1}, max(2, f.prog.NumCap))
			}
			start[0] = at
			n := len(now.list)
			if f.add(now, uint32(f.prog.Start), round, at, before, r, start); len(now.list) > n {
				start = nil // which these have
			}
		}
		if len(now.list) == 0 && found != nil {
			return found
		}
		after, afterSize := rune1(at + size)
		for _, w := range now.list {
			if f.longest && found != nil && w.groups[0] > found[0] {
				continue
			}
			in := &f.prog.Inst[w.pc]
			if in.Op == syntax.InstMatch {
				if !f.longest || found == nil || w.groups[0] < found[0] || at > found[1] {
					found = slices.Clone(w.groups)
					found[1] = at
				}
				if !f.longest { // the alternatives behind it
					break
				}
			} else if r >= 0 && in.MatchRune(r) {
				f.add(next, in.Out, round+1, at+size, r, after, w.groups)
			}
		}
		if at >= len(s) {
			return found
		}
		now, next = next, now
		next.list = next.list[:0]
		before, at, r, size = r, at+size, after, afterSize
	}
}

// add adds the states that a place of the program reaches without a character. before and after are the characters of the text around the
// place; a negative one is none.
func (f *wordFinder) add(to *walks, pc uint32, round, at int, before, after rune, groups []int) {
	if to.at[pc] == round {
		return
	}
	to.at[pc] = round
	switch in := &f.prog.Inst[pc]; in.Op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		f.add(to, in.Out, round, at, before, after, groups)
		f.add(to, in.Arg, round, at, before, after, groups)
	case syntax.InstNop:
		f.add(to, in.Out, round, at, before, after, groups)
	case syntax.InstCapture:
		if int(in.Arg) < len(groups) {
			groups = slices.Clone(groups)
			groups[in.Arg] = at
		}
		f.add(to, in.Out, round, at, before, after, groups)
	case syntax.InstEmptyWidth:
		if holds := emptyBetween(before, after); syntax.EmptyOp(in.Arg)&^holds == 0 {
			f.add(to, in.Out, round, at, before, after, groups)
		}
	case syntax.InstRune1:
		if c := in.Rune[0]; c == beforeWord || c == behindWord {
			if c == beforeWord && isWordRune(after) || c == behindWord && isWordRune(before) {
				f.add(to, in.Out, round, at, before, after, groups)
			}
			return
		}
		to.list = append(to.list, walk{pc, groups})
	default:
		to.list = append(to.list, walk{pc, groups})
	}
}

// emptyBetween is what holds between two characters.
func emptyBetween(before, after rune) syntax.EmptyOp {
	op := syntax.EmptyOpContext(before, after) &^ (syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary)
	if isWordRune(before) != isWordRune(after) {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}
