// Package draw is what the pictures of the lessons and of the debugger are drawn with. It draws those of the
// lessons: textures of records, seen as the depth and the stencil buffer hold them, and a few charts.
//
//   - [Canvas] is a picture, [Fonts] and [Face] what is written on it.
//   - [Sheet] lays [Panel]s out side by side, each with a title and a few words.
//   - [Ramp], [Tint], [Values] and [Chosen] turn records into colours.
//   - [Theme] is the colours that lessons, debugger and traces share; [CSS] and [JS] give
//     them to pages.
//
// # Caveats
//
//   - Greys go by rank: two records with the same grey may have different values.
//   - A panel narrower than its texture shows one record a pixel and leaves the
//     others out; the sheet says so.
package draw
