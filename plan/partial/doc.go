// Package partial has partial aggregates: what a backend knows of the records that it selected, and how that becomes an answer.
//
// # Where what is
//
//   - selection.go: [Partial] and [Selection], the selected records on one device; [Sum]. float_sum.go: [FloatSum], the exact sum of doubles.
//   - merge.go: [Merge] joins the selections of several devices. stream.go: [Stream] joins those of parts that are visited one after the other.
//   - digit_search.go: the search for a k-th value, digit by digit. sampled_selection.go: the same between two codes that a sample suggests
//     (Floyd and Rivest, 1975).
//   - finish.go: [Finish] makes the values of aggregates. metadata_counts.go: counts that need no records.
package partial
