// Package predicate has predicates over the codes of one chunk: what all backends evaluate. Package lower makes them.
//
// A [Pred] is a monotone tree of AND and OR over leaves, without NOT. Each leaf says which records make it TRUE, and a NULL never
// satisfies a leaf other than a [NullTest]. So the tree has two values, as WHERE has.
//
// # Where what is
//
//   - predicate.go has [Pred], and leaf.go the leaves over one column. computed.go and value.go have [Computed], which compares arithmetic
//     over codes. like.go has [Match], LIKE over a large dictionary. scalar.go has [Scalar], which only package cpu evaluates, record by
//     record.
//   - check.go: [Check], a predicate that selects the records that raise an error.
//   - boolean_folding.go: AND and OR without constants; normal_form.go: [Pred.CNF] and [Pred.DNF], the normal forms of the paper's EvalCNF.
//   - code_sets.go: sets of codes, as spans; polynomial.go: arithmetic as a sum of products; truth.go: TRUE, FALSE, UNKNOWN and their opposites.
//
// # Caveats
//
//   - The largest and smallest codes of a segment are those of the whole chunk. So a check may stand for an error that no record raises,
//     but never the reverse.
//   - Where a record raises an error, what the predicate says of it means nothing. Run the checks first.
//   - Predicates share nodes; do not change them.
package predicate
