// Package ingest brings data into tables and out of them: CSV, Parquet and Arrow
// IPC files. It knows nothing of GL or SQL.
//
// The names to know:
//
//   - [Source] says where data come from, a file or memory; [ParseLoad] reads one from
//     the command line's NAME=PATH?options (load_argument.go, row_count.go).
//   - [Open] looks at a source (open.go): a [File] reads its columns when they are asked for (file.go), or row groups alone (row_groups.go). [Load]
//     reads all of them into a [table.Table]. Several files are one table (several_files.go); parts of a CSV are read one by one (csv_parts.go).
//   - [WriteFile] writes one (write.go).
//
// The formats are packages, which share what is below them:
//
//	csv, json        parquet, arrowipc       the formats
//	record           columnar                texts of records; files that have columns
//	inference        arrays                  types of text; columns as Arrow arrays
//	source                                   where data come from, and all that formats share
//
// # CSV
//
// The reader is csv's own, because neither encoding/csv nor arrow-go
// keeps NULL and the empty string apart. It reads RFC 4180 with PostgreSQL's COPY
// conventions: an unquoted empty field is NULL, "" is an empty string, the word
// NULL is text among text.
//
// What a [source.Source] does not say is sniffed, and [source.Options.Note] is told what was taken. The
// delimiter is taken where commas give one column and semicolons, tabs or bars the same number of
// several. No header is taken where every cell of the first line is a value of its column's type and
// one of these is not text. Taken are NULL, null, NA, N/A and \N as NULL in columns of numbers, dates
// or booleans. A column of numbers with a point, of at most six decimals and 18 digits in
// all, is DECIMAL(18,s). Numbers with more, with exponents or beside NaN are DOUBLE.
//
// The file is read when it is opened, to learn the types of the columns from every value.
// It is read again for the columns that are asked for. So the whole text is never held. Each
// time it is cut into blocks where records end, which all cores read at a time. What they
// find is put together in the order of the text.
//
// # Columns
//
// Parquet and Arrow have their rows in groups, column by column. A column is read on its
// own, its groups at the same time, and the next one behind it. [source.Options] has what is told
// of those that are there. Where the file states bounds of the values
// of a group, values become codes as they are decoded. Where it does not, the column is read
// twice. What the footer of a Parquet file states is used as far as the standard makes it
// sure. It is compared with the rows that are read. A difference is an error. A column of text becomes codes when all its words
// are known.
//
// # Names
//
// Columns of one name are told apart as name, name_1 and so on, and it is said. The
// answer of a query may have two of a name.
//
// Every error names the file, and for CSV the line and the column.
//
// # Caveats
//
//   - A column is read as a whole or not at all: an error leaves no part of it.
//   - A file whose size or time has changed when a column is read later is an error. One that
//     changes while it is read is an error or is read as it was before or after: it is not
//     locked.
//   - A timestamp with a zone in Parquet or Arrow is taken as UTC. In CSV a zone
//     other than Z or +00 makes the value no timestamp.
//   - Times in nanoseconds are read where all are whole microseconds.
//   - -0 stays -0, which is equal to 0, and every NaN is the same NaN.
//   - In memory text costs more than in the file when it hardly repeats: about 64
//     bytes for each distinct value while loading.
package ingest
