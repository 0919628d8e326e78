// Package lesson is what the lessons share, so that each shows only its subject. It has the data, a graphics
// context, pictures, and exercises that are checked. It runs passes and says what they did.
//
// The types to know:
//
//   - [Lesson] is one lesson: its page, its program, its exercises.
//   - [Exercise] is a question; a [Key] judges answers to it, in a terminal and on the
//     page.
//   - [Stage] is what a lesson's program runs on: the flights, a runner of passes, a
//     depth-stencil buffer over the flights' texels.
//   - [Steps] is a runner that keeps what each pass left behind.
//
// # Caveats
//
//   - A Stage remembers the first error and does nothing from then on; counts are 0 then. So a lesson's
//     program need not check each error. [Lesson.Play] returns the error.
//   - The flights are put in an order for the eye (see [Flights]); row numbers are
//     not those of the file.
//   - A lesson's program runs on the GL thread.
package lesson
