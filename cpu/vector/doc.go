// Package vector computes expressions over blocks of rows for one goroutine: what groups, joins, conditions and
// UPDATE on the host read that are no columns.
//
// An [Evaluator] uses the loops of package expr. An expression over one column of few codes is computed once a code
// ([Source.Once]). An expression without loops is computed row by row by its definition ([Evaluator.At]). Here DECIMALs are held
// to 38 digits.
package vector
