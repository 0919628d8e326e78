package match

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Over texts of ASCII the words are those of Go's package, and so are all matches; letters of other alphabets are as letters of ASCII.
func TestBoundariesOfWords(t *testing.T) {
	pieces := []string{`\y`, `\Y`, "a", "b", ".", `\w`, `\W`, "[ab]", "[^a]", "(a|b*)", "(?:ab|a)", "^", "$", "a*", "b+", "c?", "(b)?", "|", "(\\ya|b)", "a{1,2}", "(?:b*|a)*"}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "pieces")
		at := rapid.IntRange(0, len(list)).Draw(t, "at")
		source := strings.Join(slices.Insert(list, at, rapid.SampledFrom(pieces[:2]).Draw(t, "boundary")), "")
		if rapid.Bool().Draw(t, "shortest") {
			source += "a*?"
		}
		text, _, err := toGoSyntax(source, rapid.SampledFrom([]string{"", "i", "n"}).Draw(t, "flags"))
		if err != nil {
			t.Fatal(err)
		}
		re, err := regexp.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		longest := rapid.Bool().Draw(t, "longest")
		if longest {
			re.Longest()
		}
		f, err := newWordFinder(text, re, false, longest)
		if err != nil {
			t.Fatal(err)
		}
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab_ 1-\nc")), 0, 8, -1).Draw(t, "s")
		equal := func(got, want [][]int) bool {
			return slices.EqualFunc(got, want, func(a, b []int) bool { return slices.Equal(a, b) })
		}
		if got, want := f.FindAllStringSubmatchIndex(s, -1), re.FindAllStringSubmatchIndex(s, -1); !equal(got, want) {
			t.Fatalf("%q in %q: %v, want %v", text, s, got, want)
		}
		if got, want := f.MatchString(s), re.MatchString(s); got != want {
			t.Fatalf("%q in %q: %v, want %v", text, s, got, want)
		}
		if strings.ContainsAny(source, "^.[W") { // which tell letters apart
			return
		}
		other := strings.NewReplacer("a", "é", "b", "ж", "c", "ｃ")
		text2, _, err := toGoSyntax(other.Replace(source), "")
		if err != nil {
			t.Fatal(err)
		}
		g, err := newWordFinder(text2, regexp.MustCompile(text2), false, longest)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, _ := toGoSyntax(source, "")
		h, err := newWordFinder(plain, regexp.MustCompile(plain), false, longest)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(g.FindAllStringSubmatchIndex(other.Replace(s), -1)), len(h.FindAllStringSubmatchIndex(s, -1)); got != want {
			t.Fatalf("%q in %q: %d matches, want %d", text2, other.Replace(s), got, want)
		}
	})
}
