// Package lower turns typed expressions into predicates, values and sums over the codes of one chunk.
//
// Expressions are lowered chunk by chunk, because minimum, width and dictionary of a column belong to its segment. The same constant
// becomes another code in another chunk. [Lower] pushes NOT down to the comparisons (NOT a < b is a >= b, UNKNOWN stays UNKNOWN).
//
// # Errors of rows
//
// A division by zero or an overflow is an error of a row only if the operands to its left do not decide the result. Interval arithmetic
// over the segments' ranges rules most of them out. For the others [Lower] returns [predicate.Check]s: predicates that select exactly the
// rows that raise the error.
//
// # Where what is
//
//   - lower.go: conditions, AND, OR, NOT, BETWEEN; leaf.go: comparisons and IN; check.go: the checks; simplify.go and merge_columns.go: fewer leaves.
//   - dictionary_evaluation.go: a condition over one column is evaluated once a code; monotone.go: by bisection where it is monotone.
//   - like_dictionary.go: LIKE over a large dictionary; like_rewrite.go: functions of texts as LIKE.
//   - value.go, interval.go: arithmetic over codes, and the ranges of its results; arithmetic.go, polynomial_compare.go: comparisons of it.
//   - code_sum.go: the sum of an expression as sums over codes; computed_codes.go: the codes of an expression.
//   - row_by_row.go: what none of these can do is evaluated record by record.
//
// # Caveats
//
//   - A double operation that may both overflow and underflow is checked once, with a message that names both.
package lower
