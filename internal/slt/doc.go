// Package slt reads and runs sqllogictest files: SQL in, rows out, in the format of SQLite.
//
// [Parse] reads a file into records. [File.Run] sends each of them to a database, and returns every difference as
// an error with file and line. [File.Update] writes the file again with the answers of a database. The files are
// in testdata/slt; the test of this package runs each of them on every backend. [File.RunPeer] asks another
// database, and [Unpack] writes the tables that files read.
//
// # Caveats
//
//   - Values of one row may stand on one line with tabs between them, or on a line each.
//   - I takes integers, R writes three digits behind the point, T the value as the shell prints it.
//     Write T for decimals and doubles whose digits matter.
//   - What a backend on the GPU leaves to others is skipped. Where the GPU is software, each SELECT runs on one of
//     these backends, by a hash of its text. With STENCILDB_SOAK it runs on all.
//   - `control chunkrows 4`, before the first record, gives tables chunks of four rows. Two devices are asked, too, then.
//   - `connection a` gives what follows to the session a. Each name is a session, which ends with the
//     file; default is that of files which name none.
//   - The pattern of `statement error` is a part of the SQLSTATE, a blank and the message; no regular expression.
package slt
