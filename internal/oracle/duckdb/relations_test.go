//go:build duckdb

package duckdb

import (
	"testing"

	"github.com/stencildb/stencildb/internal/oracle/harness"
)

// Joins have the rows that DuckDB has, DECIMALs of different scales among their keys.
func TestDuckDBJoins(t *testing.T) {
	p := open(t)
	if err := p.Exec("PRAGMA enable_optimizer"); err != nil { // conditions of WHERE join, nothing overflows
		t.Fatal(err)
	}
	harness.JoinsAgree(t, p, true)
}

// Statements with subqueries have the rows that DuckDB has.
func TestDuckDBNested(t *testing.T) { harness.NestedAgree(t, open(t), true) }

// Statements with window functions have the rows that DuckDB has.
func TestDuckDBWindows(t *testing.T) { harness.WindowsAgree(t, open(t), true) }
