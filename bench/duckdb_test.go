//go:build duckdb

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
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
		if (r.Find(loadName, r.Results[0].Rows, "duckdb") != nil) != loads || (len(r.Skipped) == 0) != loads {
			t.Errorf("%s: %+v, skipped %+v", text, r.Results, r.Skipped)
		}
	}
	in := &intake{from: ingest.Source{Path: filepath.Join(dir, "day-1.csv"), Types: []ingest.ColumnType{{Name: "a'b", Type: table.Type{Kind: table.Decimal, Precision: 9, Scale: 2}}}}}
	text, err := duckFile(in)
	if err != nil || !strings.HasSuffix(text, "day-1.csv'], types = {'a''b': 'DECIMAL(9,2)'})") {
		t.Errorf("%s, %v", text, err)
	}
	in.from, in.fields, in.columns = ingest.Source{Path: in.from.Path, Format: ingest.Parquet}, []table.Field{{Name: `a"b`}, {Name: "c"}}, []int{0}
	if text, err := duckFile(in); err != nil || !strings.HasPrefix(text, `SELECT "a""b" FROM read_parquet(['`) {
		t.Errorf("%s, %v", text, err)
	}
}
