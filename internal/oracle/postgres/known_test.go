package postgres

import (
	"regexp"
	"slices"
)

// refused are the engine's words for what it does not support.
var refused = []*regexp.Regexp{}

// accepted are what PostgreSQL refuses and the engine takes, by PostgreSQL's words.
var accepted = []*regexp.Regexp{
	regexp.MustCompile(`function (sum|avg)\(unknown\) is not unique`), // of a string, which is a number here
}

func knownRefused(err error) bool {
	return slices.ContainsFunc(refused, func(r *regexp.Regexp) bool { return r.MatchString(err.Error()) })
}

func knownAccepted(_ string, err error) bool {
	return slices.ContainsFunc(accepted, func(r *regexp.Regexp) bool { return r.MatchString(err.Error()) })
}

// codeDifferences are the errors of statements that both refuse with different codes: PostgreSQL's code, the engine's, and the engine's words.
var codeDifferences = []struct {
	postgres, engine string
	words            *regexp.Regexp
}{
	{"42809", "42883", regexp.MustCompile(`^rank: want`)},                                    // which is an ordered-set aggregate there, too
	{"0A000", "42703", regexp.MustCompile(`there are no columns`)},                           // of a DEFAULT, which names none
	{"42P10", "0A000", regexp.MustCompile(`ORDER BY inside sum is not supported`)},           // refused before DISTINCT is looked at
	{"22008", "22007", regexp.MustCompile(`invalid input syntax for type (date|timestamp)`)}, // of a month 13, which is a syntax error here
	{"22015", "22008", regexp.MustCompile(`^interval out of range`)},                         // of a text, where PostgreSQL says which field
	{"42883", "0A000", regexp.MustCompile(`all columns of a table are no single value`)},
	{"42P01", "42P10", regexp.MustCompile(`invalid reference to table`)}, // PostgreSQL tells MERGE's LATERAL from that of UPDATE
}

func knownCode(want, got answer) bool {
	for _, d := range codeDifferences {
		if d.postgres == want.code && d.engine == got.code && d.words.MatchString(got.err.Error()) {
			return true
		}
	}
	return false
}
