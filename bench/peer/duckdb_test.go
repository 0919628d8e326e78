//go:build duckdb

package peer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// DuckDB reads a file with its options, and of a Parquet file the columns.
func TestDuckDBReadsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "day-1.csv"), []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &workload.FileLoad{From: ingest.Source{Path: filepath.Join(dir, "day-1.csv"), Types: []ingest.ColumnType{{Name: "a'b", Type: table.Type{Kind: table.Decimal, Precision: 9, Scale: 2}}}}}
	text, err := duckDBQuery(in)
	if err != nil || !strings.HasSuffix(text, "day-1.csv'], types = {'a''b': 'DECIMAL(9,2)'})") {
		t.Errorf("%s, %v", text, err)
	}
	in.From, in.Fields, in.Columns = ingest.Source{Path: in.From.Path, Format: ingest.Parquet}, []table.Field{{Name: `a"b`}, {Name: "c"}}, []int{0}
	if text, err := duckDBQuery(in); err != nil || !strings.HasPrefix(text, `SELECT "a""b" FROM read_parquet(['`) {
		t.Errorf("%s, %v", text, err)
	}
}
