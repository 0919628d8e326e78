// Package predicates evaluates WHERE on the graphics pipeline as the 2004 paper
// does: attributes are copied to the depth buffer, a predicate is a depth test, a
// range is a depth bounds test, a semi-linear query is a discarding fragment
// program, and boolean combinations live in the stencil buffer.
//
// An [Evaluator] works on one chunk. Its routines carry the paper's names:
// [Evaluator.CopyToDepth], [Evaluator.Compare], [Evaluator.Range],
// [Evaluator.Semilinear], [Evaluator.EvalCNF], [Evaluator.EvalDNF]. They call no
// GL; they hand passes to a pass.Runner. [Evaluator.Select] chooses among them for
// a whole WHERE and returns a [Selection]: which stencil values are selected.
//
// # Deviations from the paper, and why
//
//   - A copy is skipped when the depth buffer already holds the attribute.
//   - Codes wider than 24 bits are compared limb by limb, lexicographically, as a
//     boolean combination of comparisons of limbs.
//   - NULL: its texel is 2^24, so that it lies at depth 1, beyond every code. Where
//     the far end would satisfy the comparison (>, >=, <>), the copy puts it where
//     it cannot.
//   - A single comparison stores its result by REPLACE on a stencil cleared to 0
//     (the paper's SetupStencil), not by EvalCNF with one clause.
//   - Where CNF and DNF would be large, the expression is evaluated as it nests,
//     with the stencil bits as registers (package file nested.go).
//
// # Caveats
//
//   - The selection lives in the target's stencil buffer: the next Select on the
//     same target overwrites it, and its top free bits are scratch for the k-th
//     largest.
package predicates
