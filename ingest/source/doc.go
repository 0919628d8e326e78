// Package source says where data come from and how they are read, and opens them: the part of reading that all formats share.
// It knows no format but by its name.
//
//   - [Source], [Options]: what is read and within which bounds (source.go, type_names.go)
//   - [Loader], [Input]: a source that is being read, and its bytes: a file, memory, or what came through a pipe (loader.go, input.go)
//   - [FormatOf]: the format and the compression by extension, and by the first bytes (format.go); packing and unpacking (compression.go); encodings of text (encoding.go)
//   - [Damagef], [MemoryError]: what is wrong with a file, and a table that has no room (errors.go)
//   - [PageAllocator]: allocations that only a corrupt length asks for are refused (allocator.go); garbage is bounded while files are read (gc_limit.go)
//   - [ShowName], [Quote]: names and texts as errors show them (quoting.go); columns of one name (column_names.go)
package source
