package oracle

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/testdata"
)

// asked is a statement of a first hour with a database, the same in DuckDB's words, and the answer:
// values apart by " | ", rows by " ; ".
type asked struct{ text, duckdb, answer string }

// The files are in the test binary, which runs on machines without them (make test-gpu).
var (
	//go:embed testdata/asked.txt
	askedText string
	//go:embed testdata/orders.csv
	ordersFile []byte
	//go:embed testdata/cities.csv
	citiesFile []byte
)

// readAsked reads testdata/asked.txt: a statement a line, then where it is another one that of
// DuckDB, then the answer.
func readAsked(t *testing.T) (list []asked) {
	t.Helper()
	for line := range strings.Lines(askedText) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "-> "); ok {
			list[len(list)-1].answer = text
		} else if text, ok := strings.CutPrefix(line, "duckdb: "); ok {
			list[len(list)-1].duckdb = text
		} else {
			list = append(list, asked{text: line, duckdb: line})
		}
	}
	return list
}

// written is an answer as a line.
func written(rows [][]string) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, " | "))
	}
	return strings.Join(lines, " ; ")
}

// What a new user asks of the flights, and of a file of their own, has its answer on every backend
// that does it, and on auto.
func TestWhatIsAsked(t *testing.T) {
	h := open(t)
	h.add(t, "auto")
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("testdata", 0o755), os.WriteFile("testdata/orders.csv", ordersFile, 0o644),
		os.WriteFile("testdata/cities.csv", citiesFile, 0o644)); err != nil { // some statements read them by their paths
		t.Fatal(err)
	}
	for _, db := range h.dbs {
		for name, s := range map[string]ingest.Source{"orders": {Path: "orders.csv", Data: ordersFile}, "flights": {Path: "flights.parquet", Data: testdata.Flights200k}} {
			if err := db.Load(context.Background(), name, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, q := range readAsked(t) {
		for _, db := range append(h.asked(q.text), h.dbs[len(h.dbs)-2]) { // cpu comes before auto
			r, err := engine.Collect(db.Query(context.Background(), q.text))
			if unsupported(db, err) {
				continue
			}
			if err != nil {
				t.Errorf("%s\n%s: %v", q.text, db.name, err)
				continue
			}
			var rows [][]string
			for _, row := range r.Rows {
				var values []string
				for _, v := range row {
					values = append(values, v.String())
				}
				rows = append(rows, values)
			}
			if got := written(rows); got != q.answer {
				t.Errorf("%s\n%s:\n-> %s\nwant\n-> %s", q.text, db.name, got, q.answer)
			}
		}
	}
}
