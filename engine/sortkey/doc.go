// Package sortkey makes normalized sort keys (Graefe, "Implementing sorting in database systems", 2006). Values become keys
// that compare as numbers or as bytes in the order of ORDER BY, DESC and NULLS FIRST included.
//
//   - [Coded] is a key as codes, for rows that stay where they are: package radixsort sorts these. [Piece] has those of some rows.
//   - [Bytes] are the keys of rows of a batch as bytes, for rows that move: package externalsort compares these.
package sortkey
