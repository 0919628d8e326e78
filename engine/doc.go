// Package engine answers SQL: text becomes a tree of operators (package sql), what one
// backend can do of it is cut out as a fragment and becomes a plan over codes (package
// plan), and what stands above runs here, over batches of rows.
//
// The types to know:
//
//   - [DB] holds tables and the backends that have been opened. A table is read from a
//     file or its bytes ([ingest.Source]), at once ([DB.Load]) or when a query first names
//     it ([DB.Attach]), or made in memory ([DB.Add]). A statement may also name a file,
//     which is kept until it changes: FROM 'trips.csv', FROM read_csv('trips.csv',
//     header => false).
//   - [Rows] is the answer of a statement while it comes: a cursor over rows, or Arrow
//     record batches. [Collect] makes a [Result] of it, which is all in memory.
//   - [Explanation] is the tree of one statement, with the passes of its fragment.
//   - [Statement] is one that is parsed once, and without parameters also bound and planned
//     once ([DB.Prepare]).
//     [DB.Query] keeps the statements used last in that form by their text.
//   - [Tx] is a transaction ([DB.Begin]): a DB whose statements read one snapshot and their own changes. A [Session] runs the
//     statements of one asker, BEGIN and COMMIT among them.
//   - [Options] names the backend: "classic" is the 2004 paper on the graphics pipeline,
//     "fused" the same pipeline used the modern way, "compute" works on bit planes in
//     compute shaders, "cpu" computes the same in Go, "both" has these two share the work of a
//     statement, operator by operator, as is predicted to be the fastest, "auto" chooses among them.
//     SET changes the backend, the host memory, the join algorithm, who runs the operators on "both", the statement timeout and which rules plans do
//     without, for all statements of the DB that begin from then on, or of the [Session].
//   - [Calibration] is what [Calibrate] found on a device.
//   - [Inside] is a DB for the trace, the debugger, the benchmarks and tests, and [devicepool.GPU] a
//     device without a DB for the benchmarks and the lessons.
//
// # The backend auto
//
// "auto" predicts for each statement what every backend would take (package cost),
// from what was measured on this machine or, without that, from built-in costs of a
// device of the same class. It takes the cheapest, and the next one where that cannot
// do the query or lacks the memory. What is on the device costs nothing more; of the
// upload of other columns, of opening the device and of compiling a long condition, a
// query is charged with one part in n + 1, where n queries before it would have gained
// from them. So a table of ten rows wakes no device, and a large one moves to the
// device after a few queries.
//
// # Caveats
//
//   - A graphics context is opened when the first query needs it, not by [Open]: while its
//     columns are read, where that is known then. Release it with [DB.Close].
//   - Files given to [DB.Attach] are opened when a statement first names their table; what
//     is wrong with a file is that statement's error. A column of Parquet or Arrow is read
//     when a statement needs it. On "auto" and "cpu" the statistics of a Parquet file answer
//     what they state exactly (MIN, MAX and counts), and spare reading row groups that WHERE rules out.
//   - Tables stay in host memory, and the columns that queries touched in device
//     memory, until [DB.Close].
//   - Rows that are not closed hold memory, goroutines and the snapshot of their table, no
//     more, and after [DB.Close] too.
//   - A DB may be used by several goroutines; queries on one graphics context run
//     one after the other.
package engine
