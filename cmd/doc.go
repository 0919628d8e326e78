// Package cmd is the command line of stencildb, one file per subcommand.
//
// [Execute] runs one command line against given streams and returns its exit
// status, so that tests run commands in-process:
//
//   - 0: done. A reader of standard output that went away is no failure.
//   - 1: something is wrong in data, files or SQL, or with the device.
//   - 2: something is wrong in flags and arguments.
//   - 130: interrupted by Ctrl-C (the context ended).
//
// Without the name of a command the arguments are files, which are loaded, and SQL: what the command query does with it,
// or without SQL the shell on a terminal.
//
// The shell reads lines with an editor (peterh/liner) on a terminal, where the lines of the settings' file come first, and as a script
// elsewhere. It answers statements as query does, through the same formats; on a terminal a pager
// takes what is longer than the screen. Its commands are a table of values: dispatch, help, completion and the nearest
// name of a mistyped one are read from it.
//
// Where standard error is a terminal, a line below it says how far loading, tracing and
// benchmarks are and how long a statement runs, and is wiped before anything else is written.
//
// Errors are one line "error: ..." on standard error; of one in SQL of several lines, and in the shell, its line of the SQL follows with a
// mark below its place. Rows are written as they
// come; a statement that fails before the first writes nothing to standard output (under
// --keep-going with --format json: one line with the error).
package cmd
