package postgres

import (
	"regexp"
	"slices"
)

// runTimeErrors are the engine's words for errors that depend on the rows that are looked at.
var runTimeErrors = regexp.MustCompile(`division by zero|out of range|overflow|more than one row|too large|invalid input|not a valid|negative substring`)

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
