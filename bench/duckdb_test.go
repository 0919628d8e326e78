//go:build duckdb

package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/ingest"
)

// DuckDB makes a table of a user's file, with the options of the file, and of several.
func TestDuckDBLoadsFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("it's.csv", "1;x\n-;y\n3;z\n")
	write("day-1.csv", "a,b\n1,2\n")
	write("day-2.csv", "a,b\n3,4\n5,6\n")
	write("other.tab", "a\tb\n1\t2\n")
	write("other.txt", "a,b\n1,2\n")
	for text, loads := range map[string]bool{"it's.csv?delim=;&header=false&null=-": true, "day-*.csv": true, "other.tab": true, "other.txt": false} {
		_, from, err := ingest.ParseLoad("t=" + filepath.Join(dir, text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := statements(t, "SELECT COUNT(*) FROM t", NamedFile{"t", from}).Run(t.Context(), Config{Backends: []string{"cpu"}, Peers: []string{"duckdb"}, Rounds: 1})
		if err != nil {
			t.Fatal(err)
		}
		if (r.Find(report.LoadCase, r.Results[0].Rows, "duckdb") != nil) != loads || (len(r.Skipped) == 0) != loads {
			t.Errorf("%s: %+v, skipped %+v", text, r.Results, r.Skipped)
		}
	}
}
