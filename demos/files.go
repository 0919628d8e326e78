// Package demos holds the texts and the programs of the lessons, for their pages.
package demos

import "embed"

// Files has a folder for each lesson: README.md is its page, NAME.go its program,
// answer.go a program that solves the exercise.
//
//go:embed attributes bounds cnf count depth join kth planes predicate semilinear sort sum
var Files embed.FS
