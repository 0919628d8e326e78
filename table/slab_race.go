//go:build race

package table

// poison overwrites slabs that are given back, so that tests find who reads them yet.
const poison = true
