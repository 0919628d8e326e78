// Package engine answers SQL. Package sql makes a tree of operators of the text. Package plan cuts out what
// one backend can do of it as a fragment, and makes a plan over codes. What stands above runs here, over
// batches of rows.
//
// # What to call first
//
//   - A [DB] holds tables and the backends that have been opened: [Open] with [Options], [DB.Close]. [DB.Load] reads a table from a file or
//     bytes ([ingest.Source]). [DB.OpenFile] reads only what statements need of a large one. [DB.Attach] waits until a statement names the
//     file, and [DB.Add] takes a table. A statement may also name a file, which is kept until it changes: FROM 'trips.csv'.
//   - [DB.Query] runs a statement, [DB.QueryRow] gives its first row as a [Row], [DB.Exec] wants none, and [DB.Each] runs a script. Parameters are
//     $1, $2, ...
//   - [Rows] are an answer while it comes: [Rows.Next], then [Rows.Scan], [Rows.Values] or [Rows.Go]; [Rows.Err] and [Rows.Close] behind them. Or
//     [Rows.Batches] of Arrow, with [Rows.Schema]. [Rows.Columns] has each [Column], [Rows.SQL] the statement, [Rows.Stats] its [Stats] and what
//     was loaded, [Loading]. [Collect] makes a [Result] of rows, [CollectRows] structs or values.
//   - A [Statement] is parsed once, and without parameters also bound and planned once: [DB.Prepare], [Statement.Query], [Statement.QueryRow].
//   - A [Tx] is a transaction, whose statements read one snapshot and their own changes: [DB.Begin] with [TxOptions].
//   - A [Session] runs the statements of one asker, BEGIN and SET among them: [DB.Session].
//   - An [Appender] adds many rows to a table: [DB.Appender].
//   - [DB.Explain] with [ExplainOptions] gives the tree of a statement as an [Explanation], of a [PlanNode] for each operator.
//   - [DB.Backend] and [DB.SetBackend] have the backend, and [Backends] lists all of them. "classic" is the 2004 paper on the graphics
//     pipeline, and "fused" the same pipeline used the modern way. "compute" works on bit planes in compute shaders, and "cpu" computes the
//     same in Go. "both" has these two share a statement, and "auto" chooses. SET has the other settings, for the DB or the [Session].
//
// # Errors
//
// A statement's error is a [StatementError], with its SQLSTATE and its place; codes are those of package sqlstate. For errors.Is there are
// [ErrClosed], [ErrConflict], [ErrNoRows], [ErrDuplicateKey], [ErrNotNull], [ErrCheck], [ErrDeviceMemory] and [ErrUnsupported].
//
// # For shells and drivers
//
// [Parse] reads a statement, and [Parameter] makes a value of what a program gives. [Settings] and [SettingValues] are the words of SET.
// [DB.Names] returns the [Names] that may be completed, and [DB.Definitions] the [Definition] of each table. [SourceOf] is the source of a
// file that a statement names. [Rows.WriteCSV], [Rows.WriteJSON], [Rows.WriteJSONLines] and [Rows.WriteBatches] write an answer,
// [WriteJSONError] an error. [Rows.Copied] says that a COPY TO STDOUT asks, and [Rows.WriteCopy] writes what it asks for.
//
// All else is for bench, trace and tests, and its comment says so: [Inspect] gives the [Inside] of a DB.
//
// # The backend auto
//
// "auto" predicts for each statement what every backend would take (package cost). It uses what was measured
// on this machine or, without that, built-in costs of a device of the same class. It takes the cheapest, and
// the next one where that cannot do the query or lacks the memory. What is on the device costs nothing more.
// Uploading other columns, opening the device and compiling a long condition have a price once. A query is
// charged with one part in n + 1 of it, where n queries before would have gained. So a table of ten rows
// wakes no device, and a large one moves to the device after a few queries.
//
// # Caveats
//
//   - A graphics context is opened when the first query needs it, not by [Open]: while its
//     columns are read, where that is known then. Release it with [DB.Close].
//   - Files given to [DB.Attach] are opened when a statement first names their table; what is wrong with a
//     file is that statement's error. A column of Parquet or Arrow is read when a statement needs it. On
//     "auto" and "cpu" the statistics of a Parquet file answer what they state exactly (MIN, MAX and counts).
//     They also save reading row groups that WHERE rules out.
//   - Tables stay in host memory, and the columns that queries touched in device
//     memory, until [DB.Close].
//   - Rows that are not closed hold memory, goroutines and the snapshot of their table, no
//     more, and after [DB.Close] too.
//   - A DB may be used by several goroutines; queries on one graphics context run
//     one after the other.
package engine
