// Package evaluation sets a report beside the paper that its suite repeats, and judges the paper's claims.
//
// # Where what is
//
//   - papers.go: [Paper] is what a suite repeats, [Of] sets a report beside it.
//   - claims.go: a claim as data is judged. claims_2004.go: those of the 2004 paper. figures_2004.go: its figures and cases.
//   - finish.go: what the results of figures have beside the times. merge.go: [Merge] makes one report of parts.
//   - targets.go: [Target] is a time or a ratio that the project has set itself.
package evaluation
