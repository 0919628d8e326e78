package physical

import "github.com/stencildb/stencildb/table"

// SortedRun is selected rows of a chunk in the order of [Query].Order, those that are alike in the order of the
// table. A chunk may have several such runs, each of the rows behind those of the one before.
type SortedRun struct {
	Chunk int // in the whole table
	Rows  []uint32
	// Passed is how many rows before these are left out, as nobody reads them: of the one run of a table.
	Passed int
	// Keys, of a query that is [Query].KeyOnly, are the values in the place of the rows. A table has one such run alone.
	Keys *table.Segment
}
