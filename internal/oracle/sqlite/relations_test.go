package sqlite

import (
	"testing"

	"github.com/stencildb/stencildb/internal/oracle/harness"
)

// Joins have the rows that SQLite has, whichever backend and algorithm joins.
func TestSQLiteJoins(t *testing.T) { harness.JoinsAgree(t, open(t, dialect{iso: true}), false) }

// Statements with subqueries have the rows that SQLite has.
func TestSQLiteNested(t *testing.T) { harness.NestedAgree(t, open(t, dialect{iso: true}), false) }

// Statements with window functions have the rows that SQLite has.
func TestSQLiteWindows(t *testing.T) { harness.WindowsAgree(t, open(t, dialect{iso: true}), false) }
