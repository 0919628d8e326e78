//go:build duckdb

package oracle

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/stencildb/stencildb/testdata"
)

// DuckDB gives the answers of testdata/asked.txt: numbers to 13 digits, rows that nothing orders in
// any order.
func TestDuckDBAnswersWhatIsAsked(t *testing.T) {
	p := openDuckDB(t)
	flights := filepath.Join(t.TempDir(), "flights.parquet")
	if err := os.WriteFile(flights, testdata.Flights200k, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE TABLE flights AS SELECT * FROM read_parquet('" + flights + "')",
		`CREATE TABLE orders AS SELECT * FROM read_csv('testdata/orders.csv', header = true, columns = {id: 'BIGINT', customer: 'VARCHAR', city: 'VARCHAR',
			ordered: 'DATE', shipped: 'TIMESTAMP', amount: 'DECIMAL(18,2)', qty: 'BIGINT', rating: 'DECIMAL(18,2)', paid: 'BOOLEAN', note: 'VARCHAR'})`,
	} {
		if err := p.exec(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range readAsked(t) {
		got, err := p.texts(q.duckdb)
		if err != nil {
			t.Errorf("%s: %v", q.duckdb, err)
			continue
		}
		want := [][]string{}
		for _, line := range strings.Split(q.answer, " ; ") {
			want = append(want, strings.Split(line, " | "))
		}
		if !strings.Contains(q.text, "ORDER BY") {
			for _, rows := range [][][]string{got, want} {
				slices.SortFunc(rows, slices.Compare)
			}
		}
		if !slices.EqualFunc(got, want, func(a, b []string) bool { return slices.EqualFunc(a, b, sameText) }) {
			t.Errorf("%s\n-> %s\nin DuckDB\n-> %s", q.text, q.answer, written(got))
		}
	}
}

// texts runs a statement and returns its values as text.
func (p *peer) texts(text string) (out [][]string, err error) {
	rows, err := p.values(text)
	for _, values := range rows {
		var row []string
		for _, v := range values {
			row = append(row, textOf(v))
		}
		out = append(out, row)
	}
	return out, err
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return strings.TrimSuffix(v.Format("2006-01-02 15:04:05.999999"), " 00:00:00")
	case duck.Decimal:
		return v.String()
	}
	return fmt.Sprint(v)
}

// sameText compares what DuckDB has with an answer.
func sameText(a, b string) bool {
	b = strings.TrimSuffix(b, " 00:00:00")
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return math.Abs(x-y) <= 1e-13*math.Max(math.Abs(x), math.Abs(y))
	}
	return a == b
}
