//go:build duckdb

package duckdb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/stencildb/stencildb/internal/slt"
	"github.com/stencildb/stencildb/testdata"
)

// DuckDB gives the answers of the first questions, in its own words where they are others.
func TestDuckDBAnswersTheFirstQuestions(t *testing.T) {
	const name = "first_questions.slt"
	text, err := testdata.SLT.ReadFile("slt/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := slt.Parse(name, string(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := slt.Unpack("."); err != nil {
		t.Fatal(err)
	}
	p := open(t)
	err = f.RunPeer("duckdb", func(_, text string) (out [][]slt.Value, err error) {
		rows, err := p.Values(text)
		for _, values := range rows {
			var row []slt.Value
			for _, v := range values {
				row = append(row, slt.Value{Text: textOf(v), Null: v == nil})
			}
			out = append(out, row)
		}
		return out, err
	})
	if err != nil {
		t.Error(err)
	}
}

// textOf writes a value as the engine does.
func textOf(v any) string {
	switch v := v.(type) {
	case time.Time:
		return strings.TrimSuffix(v.Format("2006-01-02 15:04:05.999999"), " 00:00:00")
	case duck.Decimal:
		return v.String()
	}
	return fmt.Sprint(v)
}
