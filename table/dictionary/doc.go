// Package dictionary makes the sorted dictionary of a column's texts.
//
// # Where what is
//
//   - builder.go: [Builder] numbers the different texts of some rows as they come. [Merge] makes one sorted dictionary of several lists,
//     and [Builder.Ranks] translates numbers to ranks in it. [Pack] lays the texts of a list one behind the other.
package dictionary
