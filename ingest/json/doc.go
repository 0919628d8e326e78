// Package json reads JSON: an object a line, or an array of objects. It is read as CSV is, in blocks of whole objects. The members of an object are the fields of a
// record. A string is what is between quotes, and a member that is not there is NULL.
//
//   - [Open]: the columns of files (reader.go)
//   - where objects end (cutter.go), and their members (scanner.go)
package json
