package engine

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// A file whose columns do not fit the host memory budget is read batch by batch, some row groups at a time. The answers are those of
// the whole table, on cpu and on a device whose memory is smaller yet.
func TestFileLargerThanHostMemory(t *testing.T) {
	const rows, budget = 30_000, 200_000
	b := table.NewBuilder("f", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}, {Name: "w", Type: table.Type{Kind: table.BigInt}},
		{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "v", Type: table.Type{Kind: table.Varchar}}}, 4096)
	for row := range rows {
		b.Column(0).Value(table.Value{Type: table.Type{Kind: table.Integer}, I: int64(row * 7919 % 100003), Null: row%10 == 0})
		b.Column(1).Value(table.Int(int64(uint64(row) * 0x9e3779b97f4a7c15)))
		x := float64(row%1009) / 16
		if row%5000 == 7 {
			x = math.NaN()
		}
		b.Column(2).Float(x)
		b.Column(3).Value(table.Str([]string{"red", "green", "blue", "grey"}[row*31%97%4]))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	folder := t.TempDir()
	for i, c := range tab.Chunks { // a row group each
		if err := ingest.WriteFile(context.Background(), filepath.Join(folder, fmt.Sprintf("f%02d.parquet", i)), tab.With(c)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(folder, "f*.parquet")
	whole := open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	asked := []string{
		"SELECT COUNT(*), SUM(a), AVG(w), MIN(w), MAX(w), COUNT(a), selectivity() FROM f WHERE a > 50000",
		"SELECT MEDIAN(w), kth_smallest(a, 77), MEDIAN(x), MAX(x), MIN(v) FROM f WHERE v <> 'blue'",
		"SELECT COUNT(*) FROM f WHERE 10 / (a - 5) > 3",
	}
	paths := []string{path}
	for _, name := range []string{"one.parquet", "one.arrow"} { // of one row group
		one := filepath.Join(folder, name)
		if err := ingest.WriteFile(context.Background(), one, tab); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, one)
	}
	for i, o := range []Options{{Backend: "auto"}, {Backend: "compute", GPUMemory: 1 << 20}, {Backend: "auto"}, {Backend: "compute"}, {Backend: "auto"}} {
		path := paths[i/2]
		o.HostMemory = budget
		db := open(t, o)
		if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
			t.Fatal(err)
		}
		for _, text := range asked {
			if got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(whole.Query(context.Background(), text))); got != want {
				t.Errorf("%s: %s: %s, of the whole table %s", o.Backend, text, got, want)
			}
		}
		x, err := db.Explain(context.Background(), asked[0], ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "ReadGroups(batches") || !strings.Contains(lines, "sweeps 1, reading") {
			t.Errorf("%s: %s", o.Backend, lines)
		}
		if n := db.entry("f").Table.Load().Bytes(); n > budget { // COUNT reads a column that fits
			t.Errorf("%s: %d bytes of the file stay", o.Backend, n)
		}
	}
}
