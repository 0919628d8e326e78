package source

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// DistinctNames names columns of one name apart: name, name_1, name_2.
func (l *Loader) DistinctNames(fields []table.Field) error {
	var names []string
	for i, f := range fields {
		if !utf8.ValidString(f.Name) {
			return sqlstate.Errorf(sqlstate.CharacterNotInRepertoire, "the name of column %d is not valid UTF-8", i+1)
		}
		names = append(names, f.Name)
	}
	for i, other := range DistinctNames(names) {
		if name := fields[i].Name; other != name {
			fields[i].Name = other
			l.Note("column %d is named %s as one before it: it is %s here", i+1, ShowName(name), ShowName(other))
		}
	}
	return nil
}

// DistinctNames are names of which those that are one before them have _1 and so on behind them.
func DistinctNames(names []string) []string {
	taken, at := map[string]bool{}, map[string]int{}
	for _, name := range names {
		taken[name] = true
	}
	out := slices.Clone(names)
	for i, name := range names {
		if at[name]++; at[name] == 1 {
			continue
		}
		other := name
		for n := at[name] - 1; taken[other]; n++ {
			other = fmt.Sprintf("%s_%d", name, n)
		}
		taken[other], out[i] = true, other
	}
	return out
}

// CheckWritable refuses a table with columns that cannot be written.
func CheckWritable(t *table.Table) error {
	for _, f := range t.Fields {
		if f.Unsupported != "" {
			return sqlstate.Errorf(sqlstate.FeatureNotSupported, "column %s cannot be written: %s", ShowName(f.Name), f.Unsupported)
		}
	}
	return nil
}
