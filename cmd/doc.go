// Package cmd is the command line of stencildb, one file per subcommand.
//
// A subcommand is a file (query.go, shell.go, bench.go, and so on); root.go has them all. What they share:
//
//   - common.go and flags.go have flags, sql.go and script.go the SQL of a command and how it is answered.
//   - formats.go and format_*.go write answers; errors.go writes errors and notes.
//   - shell_*.go are the shell: its editor, completion, and commands.
//   - Package terminal has the screen, the line of progress below it, and the pager.
//
// [Execute] runs one command line against given streams and returns its exit
// status, so that tests run commands in-process:
//
//   - 0: done. A reader of standard output that went away is no failure.
//   - 1: something is wrong in data, files or SQL, or with the device.
//   - 2: something is wrong in flags and arguments.
//   - 130: interrupted by Ctrl-C (the context ended).
//
// Without the name of a command the arguments are files, which are loaded, and SQL. SQL runs as with the command query.
// Without SQL the shell starts on a terminal.
//
// The shell reads lines with an editor (peterh/liner) on a terminal, where the lines of the settings' file come first, and as a script
// elsewhere. It answers statements as query does, through the same formats; on a terminal a pager
// takes what is longer than the screen. Its commands are a table of values: dispatch, help, completion and the nearest
// name of a mistyped one are read from it.
//
// Where standard error is a terminal, a line below it shows the progress of loading, tracing and benchmarks,
// and how long a statement runs. It is wiped before anything else is written.
//
// Errors are one line "error: ..." on standard error. For an error in SQL of several lines, and in the shell, its line of the SQL follows
// with a mark below its place. Rows are written as they come. A statement that fails before the first row writes nothing to standard
// output. With --keep-going and --format json it writes one line with the error.
package cmd
