//go:build race

package slab

// poison overwrites slabs that are given back, so that tests find who reads them yet.
const poison = true
