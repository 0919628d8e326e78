// Package debugger shows a statement pass by pass: what each of them reads and writes, in a
// window or as a series of pictures.
//
// The types to know:
//
//   - [Demo] is a statement under the debugger: [Open] makes one, [Demo.Handle] takes
//     what a person does, [Demo.Frame] draws.
//   - [Model] is what is shown: the statement, its passes, the step, whether it runs,
//     the constants. It knows nothing of GL (file model.go).
//   - observer is the runner that takes a statement to a step (file observer.go).
//   - traced executes a statement on another backend than classic (file traced.go); shown is a
//     picture of its trace (file pictures.go).
//   - view draws the panes, the list, the number lines and the text (file view.go).
//   - [Window] is the loop of a window, [Headless] that without a display.
//
// # How a step is shown
//
// Backend classic is shown as it happens. The others are shown by their traces (package trace), which have
// all pictures, counts and decisions before the first step. What follows is about classic.
//
// Step k is the moment after pass k. The statement is executed with a runner that lets k passes happen and
// then stops it. The device draws what it holds at that moment: attribute texture, depth and stencil buffer.
// Of the records only the stencil values, for their legend, and the texel under the mouse are read back. The
// device's pictures are copied into a frame in the host's memory, on which the host writes. One step on, the
// runner answers the passes before from their counts, and only the next one happens. A changed constant is a
// changed statement: it is planned and executed anew up to the step at hand. The step after the last pass is
// the answer.
//
// A colour buffer shows which records pass. The pass's own program is wrapped so that what it does not
// discard leaves a 1.
//
// # What a pixel shows
//
// Records lie in a pane as in the texture, row by row, a power of two to a line. A pane may have fewer pixels
// than the chunk has records. Then a pixel of codes, depth and stencil shows the first of its records. One of
// the result shows the share of its records that pass. Colours and heights of codes, and places on the number
// lines of constants, go by rank, or in proportion on request.
//
// # Caveats
//
//   - The panes show one chunk: that over which the pass at hand goes. The keys page up and page
//     down go to the pass that does the same in another one.
//   - Ranks and number lines of a chunk of more than 2^20 records are those of a sample.
//   - While a constant is being dragged, passes after the current one are those of the plan:
//     of a search only the routine is known. Where the whole statement takes software longer than a frame, its answer waits until
//     the constant is let go.
//   - Over many records a trace takes longer than a frame. While a constant is being dragged, the pictures
//     are those of the statement before, and the frame says so.
//   - [Window] needs a build with windows; see package glctx.
package debugger
