package ingest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Files are those of a path: itself, or those that match, in the order of their names. They match where
// no file has that name and it is a pattern (with * or [...], as [filepath.Match] has them). None
// is an error, and so is one that cannot be opened.
func Files(path string) ([]string, error) {
	list := []string{path}
	if _, err := os.Stat(path); err != nil && strings.ContainsAny(path, "*[") {
		if list, err = filepath.Glob(path); err != nil {
			return nil, sqlstate.Errorf(sqlstate.InvalidParameterValue, "%s: not a pattern for files: a [ has no ]", path)
		}
		if len(list) == 0 {
			return []string{path}, files.Readable(path)
		}
	}
	for _, path := range list {
		if err := files.Readable(path); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// merged is several files as one: their rows one after the other. Columns go by their names;
// the first file says which there are, and in which order.
func merged(list []*File, path string) (*File, error) {
	first, l := list[0], *list[0].from
	l.Source.Path = path
	var all columnar.Groups
	var inputs []*source.Input
	for _, f := range list {
		at := make([]int, len(first.fields)) // of its columns
		for i, want := range first.fields {
			at[i] = slices.IndexFunc(f.fields, func(has table.Field) bool { return has.Name == want.Name })
			if at[i] < 0 {
				return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s has no column %s, which %s has", f.from.Source.Path, source.ShowName(want.Name), first.from.Source.Path)
			}
			if has := f.fields[at[i]]; has.Type != want.Type {
				return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "column %s is %s in %s and %s in %s: name the files one by one", source.ShowName(want.Name), has.Type, f.from.Source.Path, want.Type, first.from.Source.Path)
			}
			first.fields[i].Unsupported = cmp.Or(want.Unsupported, f.fields[at[i]].Unsupported)
		}
		if len(f.fields) > len(first.fields) {
			extra := slices.IndexFunc(f.fields, func(has table.Field) bool {
				return !slices.ContainsFunc(first.fields, func(want table.Field) bool { return want.Name == has.Name })
			})
			return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s has no column %s, which %s has", first.from.Source.Path, source.ShowName(f.fields[extra].Name), f.from.Source.Path)
		}
		inputs = append(inputs, f.from.Input)
		for _, g := range f.groups {
			all = append(all, columnar.Group{
				Rows:   g.Rows,
				Column: func(col int) (func(int) (arrow.Array, error), error) { return g.Column(at[col]) },
				Stated: func(col int) columnar.Statistics { return g.Stated(at[col]) },
				Bytes:  func(col int) int64 { return g.Bytes(at[col]) },
				Path:   f.from.Source.Path,
				Name:   g.Name,
			})
		}
	}
	f, err := rowGroupFile(&l, first.fields, all)
	if err == nil {
		f.inputs = inputs
		f.once = slices.ContainsFunc(list, func(f *File) bool { return f.once })
	}
	return f, err
}
