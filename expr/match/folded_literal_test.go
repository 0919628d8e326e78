package match

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// A literal without regard to case is found where Go's automaton finds it, also in texts and for letters beyond ASCII.
func TestFoldedLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abAB kKsS\u212A\u017Fé5")
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	short := 0
	for range 300 {
		of := word(1 + r.IntN(3))
		re, err := CompileRegexp(of, "i")
		if err != nil {
			t.Fatal(of, err)
		}
		if re.folded != "" {
			short++
		}
		want := regexp.MustCompile("(?i)" + of)
		for range 20 {
			if s := word(r.IntN(8)); re.MatchString(s) != want.MatchString(s) {
				t.Errorf("%q ~* %q: %v", s, of, re.MatchString(s))
			}
		}
	}
	if short == 0 || short == 300 {
		t.Errorf("%d of 300 patterns are literals of ASCII", short)
	}
	for _, c := range []struct{ pattern, flags string }{{"ab", ""}, {"a.", "i"}, {"a|b", "i"}, {"é", "i"}} {
		if re, err := CompileRegexp(c.pattern, c.flags); err != nil || re.folded != "" {
			t.Errorf("%+v: %+v, %v", c, re, err)
		}
	}
}

// Patterns that only count characters, and ILIKE over short and long texts, match what a plain search over runes matches.
func TestLikeAgreesWithRunes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func(letters string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune([]rune(letters)[r.IntN(utf8.RuneCountInString(letters))])
		}
		return b.String()
	}
	var plain func(p, s []rune) bool
	plain = func(p, s []rune) bool {
		switch {
		case len(p) == 0:
			return len(s) == 0
		case p[0] == '%':
			return plain(p[1:], s) || len(s) > 0 && plain(p, s[1:])
		}
		return len(s) > 0 && (p[0] == '_' || p[0] == s[0]) && plain(p[1:], s[1:])
	}
	for range 3000 {
		pattern := word([]string{"_", "_%", "aB_%", "aéÉ%"}[r.IntN(4)], r.IntN(5))
		s := word([]string{"ab", "aBé", "AbÉ"}[r.IntN(3)], r.IntN(7))
		if r.IntN(4) == 0 {
			s += strings.Repeat("A", r.IntN(2)*(shortFold-len(s)+r.IntN(3)-1))
		}
		for _, fold := range []bool{false, true} {
			m, err := CompileLike(pattern, 0, fold)
			if err != nil {
				t.Fatal(err)
			}
			p, of := pattern, s
			if fold {
				p, of = strings.ToLower(p), strings.ToLower(of)
			}
			if got, want := m.Match(s), plain([]rune(p), []rune(of)); got != want {
				t.Errorf("%q LIKE %q, fold %v: %v", s, pattern, fold, got)
			}
		}
	}
}
