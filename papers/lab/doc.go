// Package lab has what the experiments of packages papers/* share.
//
// The types to know:
//
//   - [Figure] and [Panel] are a figure or table of a paper as data: which results it shows, as what quantity, in which form.
//   - [Claim] is something that a paper says, with the paper's number and how ours is computed; [Table] is a published table. Both
//     take their numbers from what was measured, by [Term] and [Value].
//
// Package bench draws, judges and merges; nothing here does.
package lab
