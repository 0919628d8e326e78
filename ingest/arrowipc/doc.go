// Package arrowipc reads and writes Arrow IPC files (Feather version 2) and streams.
//
//   - [Open]: fields and record batches (reader.go); a stream cut into messages (messages.go); lengths that a corrupt file gives are verified before arrow-go sees them (verify.go)
//   - [NewFile], [NewStream]: record batches to a file or stream (writer.go)
package arrowipc
