// Package index finds the rows of a segment that have a code: the indexes that CREATE INDEX makes.
//
// An [Index] of kind "sorted" is a list of rows by their codes, with a search tree of cache lines above it (search_tree.go).
// One of kind "hash" is the hash table of the hash join, and finds single codes alone.
package index
