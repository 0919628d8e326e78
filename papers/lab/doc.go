// Package lab has what the experiments of packages papers/* share.
//
// The types to know:
//
//   - [Paper] is the experiments of a publication: figures, systems, claims, and how its cases are made. Package bench runs it as a suite:
//     it measures, draws, judges and merges; nothing here does.
//   - [Case] is one place on an axis, [Way] one way to run it. A way says how its whole output is checked before anything is timed; each
//     run's [Digest] is compared.
//   - [Device] is an OpenGL device with a context, a store and a runner of its own. [Room] is working memory that runs of a case share.
//     Host memory goes to it by textures.Store.Write. [Time] is the clock, [Sections] the parts of a run.
//   - [Op] says what a pass of a published algorithm is; passes are grouped by its Name.
//   - [Figure] and [Panel] are a figure or table of a paper as data: which results it shows, as what quantity, in which form.
//   - [Claim] is something that a paper says, with the paper's number and how ours is computed; [Table] is a published table. Both
//     take their numbers from what was measured, by [Term] and [Value].
//
// # Caveats
//
//   - Imports point one way. Package bench imports papers/*, which import lab and what is below package engine. No paper imports
//     another one, and nothing in the engine imports any.
//   - Whatever touches [Device.GL] or [Device.Store] runs inside [Device.Query], [Device.Hold] or [Room.Do].
package lab
