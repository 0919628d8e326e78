//go:build duckdb

package oracle

import "testing"

// Joins have the rows that DuckDB has, DECIMALs of different scales among their keys.
func TestDuckDBJoins(t *testing.T) {
	p := openDuckDB(t)
	if err := p.exec("PRAGMA enable_optimizer"); err != nil { // conditions of WHERE join, nothing overflows
		t.Fatal(err)
	}
	joinsAgree(t, p, true)
}

// Statements with subqueries have the rows that DuckDB has.
func TestDuckDBNested(t *testing.T) { nestedAgree(t, openDuckDB(t), true) }

// Statements with window functions have the rows that DuckDB has.
func TestDuckDBWindows(t *testing.T) { windowsAgree(t, openDuckDB(t), true) }
