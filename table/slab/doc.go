// Package slab keeps memory for columns of integers that is used again: new memory costs as much as the values that are written to it.
//
// # Where what is
//
//   - slab.go: [New] and [Free].
//   - poison_race.go, poison_norace.go: with the race detector memory that is given back is overwritten, so that tests find who reads it.
package slab
