// Package prose counts the words of sentences. Tests hold the texts and the doc comments to short ones.
package prose

import (
	"regexp"
	"strings"
)

// Longest is how many words a sentence has at most.
const Longest = 25

var (
	itsEnd    = regexp.MustCompile(`[.?!][*_)"]*(\s+|$)`)
	aWord     = regexp.MustCompile(`[\pL\pN]`)
	shortened = strings.NewReplacer("e.g. ", "eg ", "i.e. ", "ie ", "Fig. ", "Fig ", "vs. ", "vs ")
)

// Sentences are those of a paragraph.
func Sentences(paragraph string) []string {
	return itsEnd.Split(shortened.Replace(paragraph), -1)
}

// Words counts the words of a sentence. Signs alone are none.
func Words(sentence string) (n int) {
	for _, word := range strings.Fields(sentence) {
		if aWord.MatchString(word) {
			n++
		}
	}
	return n
}
