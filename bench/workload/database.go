package workload

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// databaseSource is the tables of a benchmark of package generate, without the columns that no query reads.
// The number of rows is that of the first table, which has so many at scale 1.
func databaseSource(name string, atOne int, unread ...string) Source {
	const seed = 1
	at := slices.IndexFunc(generate.Databases(), func(d generate.Database) bool { return d.Name == name })
	tables := func(ctx context.Context, rows int, which func([]generate.Generator) []generate.Generator) (list []*table.Table, err error) {
		all, err := generate.Databases()[at].Tables(float64(rows) / float64(atOne))
		if err != nil {
			return nil, fmt.Errorf("%d rows: %w", rows, err)
		}
		for _, g := range which(all) {
			var columns []string
			for _, f := range g.Fields() {
				if !slices.Contains(unread, f.Name) {
					columns = append(columns, f.Name)
				}
			}
			t, err := g.Generate(ctx, g.DefaultRows, seed, 0, columns...)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
		return list, nil
	}
	return Source{
		Data: report.Data{Name: name, Seed: seed}, RowBytes: 8 * 16,
		Table: func(ctx context.Context, rows int) (*table.Table, error) {
			list, err := tables(ctx, rows, func(all []generate.Generator) []generate.Generator { return all[:1] })
			if err != nil {
				return nil, err
			}
			return list[0], nil
		},
		Beside: func(ctx context.Context, rows int) ([]*table.Table, error) {
			return tables(ctx, rows, func(all []generate.Generator) []generate.Generator { return all[1:] })
		},
	}
}
