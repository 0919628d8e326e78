// Package trace runs a statement and keeps what each of its passes did: state,
// program, count, time, and pictures of what it read and wrote. It writes them as
// one HTML page that needs nothing else.
//
// The types to know:
//
//   - [Run] executes a statement and returns its [Trace]; [Trace.WriteHTML] writes
//     the page, of which the Trace is the data.
//   - tracer is the runner that wraps the device's own (file runner.go).
//   - grid says which records a picture of a chunk shows (file grid.go).
//   - [Search] and [Sum] are what the passes of a k-th search or of a sum have found,
//     pass by pass (file steps.go). [Decision] is what a step of a search concludes.
//   - [WriteAgainst] writes two traces of a statement side by side; [Points] are where they meet.
//
// # How a picture is made
//
// A chunk's records lie in a picture as in a texture: row by row, a power of two to a
// line. A picture has at most [MaxSide] x [MaxSide] cells. A chunk of more records is
// cut into square blocks, a cell each. Pictures of codes, depths and stencil values
// show the first record of each block. Those of bits and of records that pass how many
// records of the block have the bit or pass. The page says which. Counts beside
// pictures are of all records. The page can lay the cells out sorted, each moved whole by
// its first record (layOut in page/pictures.js).
//
// The colours of codes and depths go from the chunk's smallest value to its largest, the
// same in every pass, and between them by rank. A NULL has a colour of its own.
//
// Depth, stencil, textures and bit planes are read back from the device. Which records
// pass a draw is seen by drawing it once more. That is done with a program that leaves a 1 in a mask
// ([Marking]), and without writing depth or stencil. Their number is told of every draw,
// in parentheses where the engine does not ask for it. What exists in registers only, the
// selection in a program of backends fused and compute, is computed on the host by the
// plan's specification. It is called so.
//
// # Caveats
//
//   - A statement runs twice: first as it is, so that uploads and compilers are not
//     in the times, then pass by pass, each waited for.
//   - The mask counts against the device's budget.
//   - On devices that pass over bit planes the whole block is read back. A trace is
//     for tables whose columns fit host memory a second time.
//   - What a k-th search of backend compute has found is told from its answer: which side of
//     each threshold that is on.
//   - A pass that counts for several aggregates (Digits of backend compute) is shown as a
//     step of one search, the first one's.
package trace
