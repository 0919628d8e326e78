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
// Errors are one line "error: ..." on standard error. A statement's answer is
// written whole, once it is complete; a statement that fails writes nothing to
// standard output (under --keep-going with --format json: one line with the error).
package cmd
