// Package vector computes expressions over blocks of rows for one goroutine: what groups, joins, conditions and
// UPDATE on the host read that are no columns.
//
// An [Evaluator] uses the loops of package expr. What reads one column of few codes it computes once a code ([Source.Once]),
// and where an expression has no loops it goes row by row by the definition ([Evaluator.At]). Here DECIMALs are held to 38 digits.
package vector
