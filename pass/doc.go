// Package pass has the one idea of stencildb's graphics code: a query is a
// sequence of passes, and a pass is a value.
//
//   - [Pass] is one draw over the rows of a chunk, or one dispatch of a compute program. It has every piece of
//     pipeline state it depends on. Its [Op] says what it is, as data; words derive from it.
//   - [Runner] runs passes. Algorithms (packages predicates, aggregates, fused, compute and primitives) never
//     call GL: they hand passes to a runner.
//   - [Drawer] hands passes over one chunk to a runner, and carries the first error in their counts.
//   - [GL] is the runner that draws, and owns the draw state. Others draw by its leave ([GL.Lend]):
//     package textures, which makes what is resident, and the window of demos/debugger.
//   - [Scope] is what one query has on the device between its passes; several are open
//     at a time.
//   - [Recorder] runs nothing, answers everything and keeps the passes (EXPLAIN). [Meter] counts
//     passes and samples on the way; [Profiler] times each (EXPLAIN ANALYZE).
//     [Failer] fails at the n-th call of any method (tests of faults).
//
// # Caveats
//
//   - A count is in flight until Wait: run everything that does not depend on it
//     first.
//   - Whatever a pass does not mention is off: there is no state from the pass
//     before, except what its target holds.
package pass
