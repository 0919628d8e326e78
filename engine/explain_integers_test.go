package engine

import (
	"context"
	"strings"
	"testing"
)

// EXPLAIN writes the integers that passes and look-ups compare columns with as digits, whatever the columns' types.
func TestExplainedIntegersAreDigits(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY, s smallint)")
		do(t, db, "INSERT INTO t VALUES (1, 3), (2, 5), (3, 9)")
		for _, text := range []string{"SELECT s FROM t WHERE k = 2", "SELECT COUNT(*) FROM t WHERE s < 5 AND k < 3", "SELECT MEDIAN(k) FROM t WHERE s > 3"} {
			if got := said(Collect(db.Query(context.Background(), "EXPLAIN "+text))); strings.HasPrefix(got, "!") || strings.Contains(got, "CAST(") {
				t.Errorf("%s: %s", text, got)
			}
		}
	})
}
