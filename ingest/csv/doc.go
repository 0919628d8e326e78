// Package csv reads and writes CSV: RFC 4180 with PostgreSQL's COPY conventions. The reader is ours, because neither encoding/csv nor arrow-go
// keeps NULL and the empty string apart. An unquoted empty field is NULL, "" is an empty string, the word NULL is text among text.
//
//   - [Open]: the columns of files (reader.go); a block cut into fields (scanner.go); where records end (record_end.go)
//   - what is sniffed: the delimiter (delimiter.go), the header (header.go), what quotes say (quotes.go)
//   - [Form], [Writer]: lines of CSV (writer.go)
package csv
