package ingest

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/table"
)

// Groups is how many row groups there are that [File.ReadGroups] reads alone; 0 where the file is read as a whole.
func (f *File) Groups() int {
	if f.once {
		return 0
	}
	return len(f.groups)
}

// GroupRows is how many rows a row group has.
func (f *File) GroupRows(group int) int { return f.groups[group].Rows }

// GroupBytes estimates what columns of a row group take in memory.
func (f *File) GroupBytes(group int, columns []int) int64 {
	return f.groups[group].MemoryBytes(f.table.Fields, columns)
}

// ZoneMaps is the table as the file's statistics tell of some columns. It has a chunk for each of its
// row groups, and segments. The segments' numbers (Base, Max, Bits, Nulls) are right as far as [table.Inexact] says, their codes are
// not. ok is false where the file states no bounds, or is no longer needed.
func (f *File) ZoneMaps(columns []int) (t *table.Table, ok bool) {
	return f.groups.ZoneMaps(f.table, columns)
}

// Shape is [File.ZoneMaps] of columns of which the file may not say anything: then their numbers leave room for all. It
// is nil where the file has no row groups, is read as a whole, or is no longer needed.
func (f *File) Shape(columns []int) *table.Table {
	if len(f.groups) == 0 || f.once {
		return nil
	}
	return f.groups.Shape(f.table, columns)
}

// ReadGroups reads columns of some row groups, as numbered in [File.ZoneMaps], into a table of
// these alone.
func (f *File) ReadGroups(ctx context.Context, numbers, columns []int, o Options) (*table.Table, error) {
	var list columnar.Groups
	for _, i := range numbers {
		list = append(list, f.groups[i])
	}
	part, err := f.part(list)
	if err != nil {
		return nil, err
	}
	return part.Read(ctx, columns, o)
}

// part is a file of some row groups alone.
func (f *File) part(list columnar.Groups) (*File, error) {
	part, err := rowGroupFile(f.from, slices.Clone(f.fields), list)
	if err == nil {
		part.inputs = f.inputs
	}
	return part, err
}
