// Package record reads texts of records, CSV or JSON, block by block on all cores. A first pass learns the types of the columns from every value;
// later ones read the columns that are asked for. So the whole text is never held.
//
//   - [Reader], [Format]: the passes, and what CSV and JSON do each in their own way (reader.go)
//   - [Block]: whole records of a text (block.go); blank lines that are left out (blank_lines.go)
//   - names, declared types and places of errors (columns.go); what is said of types that were found (notes.go)
//   - text to ordinals (values.go), and these to a table (convert.go); parts of a text one by one (parts.go, lengths.go)
package record
