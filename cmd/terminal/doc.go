// Package terminal is what a person sits before: the screen, the line of progress below it, and a program that turns pages.
//
//   - [Screen] is standard output on a terminal: control characters in data are written as escapes ([Visible]).
//   - [Console] is standard error there. Below what is written to it stands one line: a bar ([ProgressOn]) or the time that a
//     statement takes ([ClockOn]). The line is wiped before anything else is written.
//   - [Pager] holds an answer back while it fits on the screen, and gives a longer one to $PAGER.
//
// Where a stream is no terminal ([Is]), none of this is between it and the commands.
package terminal
