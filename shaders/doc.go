// Package shaders holds the GLSL: fragment and compute programs in files under glsl/, one
// a verb, and the cache of compiled programs. Programs written from arithmetic are made by
// package plan/glsl.
//
// The types to know:
//
//   - [Source] is the text of a program with a name; it is a plain value, made without
//     GL.
//   - [Cache] compiles each distinct text once and keeps the program.
//   - [Uniform] is a value for a program's uniform, checked against its location
//     when set.
//
// # Caveats
//
//   - A new fragment program costs 14 to 45 ms to compile on llvmpipe. Constants
//     are uniforms, never text, so that a shape is compiled once.
package shaders
