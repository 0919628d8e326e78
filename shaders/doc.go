// Package shaders holds the GLSL of the graphics pipeline: files under glsl/, one
// a verb of the paper, and fragment programs generated from arithmetic.
//
// The types to know:
//
//   - [Source] is the text of a fragment program with a name; it is a plain value,
//     made without GL.
//   - [Cache] compiles each distinct text once and keeps the program.
//   - [Func] is arithmetic as a GLSL function of one record, for every kind of shader.
//   - [Uniform] is a value for a program's uniform, checked against its location
//     when set.
//
// # Caveats
//
//   - A new fragment program costs 14 to 45 ms to compile on llvmpipe. Constants
//     are uniforms, never text, so that a shape is compiled once.
//   - The generator writes what plan.Program asks for exactly: int where every
//     intermediate value fits 32 bits, pairs of words where it does not, and
//     doubles kept as bits between operations.
package shaders
