// Package engine answers SQL: text becomes a typed query (package sql), the query
// a plan over codes (package plan), the plan an answer on one of the backends.
//
// The types to know:
//
//   - [DB] holds tables and the backends that have been opened. A table is a file
//     that is read when a query first names it ([DB.Attach], [DB.AttachBytes]) or
//     at once ([DB.Load]), or one made in memory ([DB.Add]).
//   - [Result] is the answer of one statement, with what it took.
//   - [Explanation] is the list of passes of one statement, with what each counts.
//   - [Backend] is a way to compute: "classic" is the 2004 paper on the graphics
//     pipeline, "cpu" computes the same in Go.
//
// # Backends
//
// The backend "auto" picks one for each query, plainly: "classic" where a hardware
// OpenGL device exists and classic can do the query, else "cpu". A software
// rasteriser (llvmpipe) is never picked by itself, only when asked for by name.
//
// # Caveats
//
//   - A graphics context is opened when the first query needs it, not by [Open].
//     Release it with [DB.Close].
//   - Files given to [DB.Attach] are read when a statement first names their
//     table; what is wrong with a file is that statement's error.
//   - Tables stay in host memory, and the columns that queries touched in device
//     memory, until [DB.Close].
//   - A DB may be used by several goroutines; queries on one graphics context run
//     one after the other.
package engine
