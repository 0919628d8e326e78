// Package radixsort sorts rows by the codes of keys, on several cores.
//
//   - sort.go: [New] makes a [Sorter] of rows whose keys are packed into one to sixteen words, and sorts by the digits of
//     these. Where only the first rows are wanted it keeps a small multiple of them.
//   - quickselect.go: [Quickselect] finds the k-th of a list of anything that compares.
package radixsort
