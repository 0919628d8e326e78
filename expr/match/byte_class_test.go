package match

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A pattern of one character of ASCII, or of some in a row, finds what Go's package finds; another pattern is none of these.
func TestByteClass(t *testing.T) {
	is := map[string]bool{"[aeiou]": true, "[0-9]+": true, "a": true, "a+": true, `\d`: true, `\d+`: true, `\.`: true, "[A-C]": true, "[[:space:]]": true, "[aé]": false, "[^a]": false, ".": false, "é": false, "ab": false, "a*": false,
		"a+?": false, "a{2}": false, "(a)": false, "^a": false, `\ya`: false, "a|b": true, "": false, "[[:alpha:]]": false}
	var sources []string
	for source, want := range is {
		sources = append(sources, source)
		re, err := CompileRegexp(source, "")
		if err != nil {
			t.Fatal(err)
		}
		if (re.Class != nil) != want {
			t.Errorf("%q is a class of bytes: %v", source, re.Class != nil)
		}
	}
	slices.Sort(sources)
	for source, want := range map[string]bool{"b": true, "k": false, "[r-t]": false, "[aeiou]+": true} { // the sign of Kelvin is a k, the long s an s
		if re, err := CompileRegexp(source, "i"); err != nil || (re.Class != nil) != want {
			t.Errorf("%q in any case is a class of bytes: %v, %v", source, re.Class != nil, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		source, flags := rapid.SampledFrom(sources).Draw(t, "pattern"), rapid.SampledFrom([]string{"", "i", "q"}).Draw(t, "flags")
		text, words, err := toGoSyntax(source, flags)
		if err != nil {
			t.Fatal(err)
		}
		f, re := newByteClass(text), regexp.MustCompile(text)
		if f == nil || words != "" {
			return
		}
		re.Longest()
		s := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune("aAebB1 .éK\n+[]")), 0, 12, -1), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.SampledFrom([]byte("ab1\xff\xc3\xa9")), 0, 8).Draw(t, "bytes"))
		})).Draw(t, "s")
		want := re.FindAllStringSubmatchIndex(s, -1)
		equal := func(got, want [][]int) bool {
			return slices.EqualFunc(got, want, func(a, b []int) bool { return slices.Equal(a, b) })
		}
		for n := -1; n < 3; n++ {
			if got, want := f.FindAllStringSubmatchIndex(s, n), re.FindAllStringSubmatchIndex(s, n); !equal(got, want) {
				t.Fatalf("%q in %q: %v, want %v", text, s, got, want)
			}
		}
		if f.Count(s) != int64(len(want)) || f.MatchString(s) != (want != nil) || !slices.Equal(f.FindStringIndex(s), re.FindStringIndex(s)) {
			t.Fatalf("%q in %q: %d, %v, %v", text, s, f.Count(s), f.MatchString(s), f.FindStringIndex(s))
		}
		if got, want := string(f.AppendReplaced([]byte("-"), s, "<>", true)), "-"+re.ReplaceAllLiteralString(s, "<>"); got != want {
			t.Fatalf("%q in %q replaced: %q, want %q", text, s, got, want)
		}
		if got, want := string(f.AppendReplaced(nil, s, "", false)), s; len(want) > 0 && f.MatchString(s) == (got == want) {
			t.Fatalf("%q in %q, the first one left out: %q", text, s, got)
		}
	})
}
