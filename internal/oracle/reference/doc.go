// Package reference computes statements by the definitions, row by row, with exact fractions: [Rows] those that select
// rows, [Groups] those with an aggregation. It is slow and shares no code with a backend but package expr's evaluator.
package reference
