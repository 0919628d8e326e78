// Package plantest draws random tables and random typed conditions for property tests. The packages of plan
// use it. So do tests that compare backends with one another and with other databases. Everything comes from
// the [rapid.T] at hand, so that a failure shrinks and its seed replays it.
//
// [Knobs] says what may occur. [Table] draws a table, [Where] a condition over
// it, [Query] a condition with aggregates. Conditions print as SQL by their
// String methods.
//
// # Caveats
//
//   - Values sit on boundaries far more often than they would by chance, so that
//     many conditions overflow or divide by zero. A test that compares answers must
//     expect errors on both sides.
//   - A condition may be one that lower.Lower refuses (a DOUBLE cast to an integer
//     within an expression over several columns). Refusals are errors, too.
package plantest
