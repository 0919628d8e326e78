// Package predicates evaluates WHERE on the graphics pipeline as the 2004 paper
// does. Attributes are copied to the depth buffer. A predicate is a depth test, a
// range is a depth bounds test. A semi-linear query is a discarding fragment
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
//   - The copy writes the code of a value, its distance from the smallest of the chunk, over
//     2^24. That is a power of two, so that codes and quads meet at the same depth. The paper normalises
//     the value.
//   - NULL: its texel is 2^24, so that it lies at depth 1, beyond every code. Where
//     the far end would satisfy the comparison (>, >=, <>), the copy puts it where
//     it cannot.
//   - RenderQuad draws one triangle that covers the viewport, not a quad of two. Records on the
//     diagonal are not looked at twice, and their groups of four are whole.
//   - Guard program: on hardware a quad of the depth test without a program gets one that may
//     discard and never does (package pass). An H200 that has cleared the stencil buffer decides plain depth tests
//     tile by tile. It counts wrongly where records lie at or near the far end, as NULLs do. The guard turns this early
//     depth culling off, which the paper names among the reasons for its speed (section 6.2). bench --suite paper
//     measures what it costs.
//   - SemilinearFP compares integers, int(sum) op int(b), after a dot product that float32 computes
//     exactly, since a driver made an inexact test of the float form. Other coefficients, or
//     larger values, run a generated program. [Evaluator.SemilinearFP] is the published form, for measurements.
//   - The programs discard, since core OpenGL has no alpha test.
//   - Where only the count of one predicate is asked for, the stencil buffer is not touched. The
//     occlusion query around the predicate's pass is the answer.
//   - A single comparison stores its result by REPLACE on a stencil cleared to 0
//     (the paper's SetupStencil), not by EvalCNF with one clause.
//   - The paper says that EvalCNF is easily modified for a DNF, and no more: [Evaluator.EvalDNF]
//     is ours. Its clauses have up to 126 predicates; longer ones are evaluated as they nest.
//   - Without the depth bounds test, or where it is not exact (see [DepthBoundsExact]), a range is
//     two comparisons.
//   - Where CNF and DNF would be large, the expression is evaluated as it nests,
//     with the stencil bits as registers (package file nested.go).
//
// # Caveats
//
//   - The selection lives in the target's stencil buffer. The next Select on the
//     same target overwrites it, and its top free bits are scratch for the k-th
//     largest.
package predicates
