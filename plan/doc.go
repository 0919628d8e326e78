// Package plan turns a typed WHERE expression into predicates over the codes of
// one chunk: what both the graphics pipeline (package predicates) and the CPU
// backend (package cpu) run. It knows neither SQL text nor GL.
//
// A plan is made chunk by chunk, because minimum, width and dictionary of a
// column belong to its segment: the same constant becomes another code in
// another chunk.
//
// # Two-valued by construction
//
// WHERE keeps the records for which the expression is TRUE. [Lower] pushes NOT
// down to the comparisons (NOT a < b is a >= b, UNKNOWN stays UNKNOWN), and every
// leaf says which records make it TRUE; a NULL never satisfies a leaf other than
// a [NullTest]. What remains is a monotone tree of AND and OR over leaves.
//
// # Errors of rows
//
// A division by zero or an overflow is an error of a row only where the operands
// to the left of it leave the result undecided. Interval arithmetic over the
// segments' ranges rules most of them out; for the others [Lower] returns
// [Check]s: predicates that select exactly the rows that raise the error.
//
// # Trees
//
// A statement is a tree of [Node]s over names and values: [Scan], [Filter], [Project],
// [Join], [Aggregate], [GroupingSets], [Distinct], [Sort], [Limit], [Values], a file each. A [Derived] reads the rows of a
// [Subplan], a tree of its own; [Unnest] makes joins of subqueries in expressions. A rule, such as [PushLimit], is a function from a
// node to a node. [Cut] puts a [Fragment] in the place of what one backend does as a
// whole, and [NewQuery] lowers it for a snapshot of its table.
//
// # What else is here
//
// [Pred.CNF] and [Pred.DNF] are the normal forms of the paper's
// EvalCNF; [Space] is the code space that the chunks of a column share. A [Selection]
// is the selected records on one device, [Merge] joins those of several devices, and
// [Finish] makes the answers. A [CodeSum] is the sum of an expression as sums over codes.
//
// # Caveats
//
//   - The largest and smallest codes of a segment are those of the whole chunk:
//     a check may stand for an error that no record raises, never the reverse.
//   - Where a record raises an error, what the predicate says of it means nothing.
//     Run the checks first.
//   - A double operation that may both overflow and underflow is checked once, with
//     a message that names both.
//   - Predicates share nodes; do not change them.
package plan
