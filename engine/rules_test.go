package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
)

func disable(t *testing.T, db *engine.DB, rules string) {
	t.Helper()
	if _, err := db.Exec(context.Background(), "SET disable_rule = '"+rules+"'"); err != nil {
		t.Fatal(err)
	}
}

// A plan without a rule is another one, of a statement that was planned before, too, and EXPLAIN says so.
func TestDisableRule(t *testing.T) {
	db := nestedDB(t, "cpu")
	engine.Inspect(db).PushAggregates(true) // the tables are too small for it to pay
	plans := func(sql string) string {
		x, err := db.Explain(context.Background(), sql, engine.ExplainOptions{})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return strings.Join(x.Lines(), "\n")
	}
	for rule, sql := range map[string]string{
		"unnest":         "SELECT b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = a)",
		"inline":         "SELECT b FROM (SELECT a, b FROM t) x WHERE a > 1",
		"factor":         "SELECT COUNT(*) FROM t, u WHERE a = k AND v > 3 OR a = k AND b > 20",
		"infer filter":   "SELECT COUNT(*) FROM t JOIN u ON a = k WHERE a = 2",
		"push into":      "SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) x WHERE a > 1 AND n > 1",
		"limit into":     "SELECT a FROM (SELECT a FROM t UNION ALL SELECT k FROM u) x LIMIT 2",
		"push filter":    "SELECT COUNT(*) FROM t JOIN u ON a = k WHERE b > 10",
		"push semi":      "SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.a WHERE x.b IN (SELECT v FROM u)",
		"group distinct": "SELECT DISTINCT a FROM t",
		"top rows":       "SELECT a FROM t ORDER BY a LIMIT 1",
		"push limit":     "SELECT a FROM t LIMIT 1",
		"push aggregate": "SELECT v, SUM(b) FROM t JOIN u ON a = k GROUP BY v",
	} {
		with := plans(sql)
		disable(t, db, rule)
		without := plans(sql)
		if name := "Disabled rules: " + rule; strings.Contains(with, "Disabled") || !strings.Contains(without, name) || strings.Replace(without, name, "", 1) == with {
			t.Errorf("%s\n%s\nwithout %s\n%s", sql, with, rule, without)
		}
		disable(t, db, "")
		if again := plans(sql); again != with {
			t.Errorf("%s\n%s\nafterwards\n%s", sql, with, again)
		}
	}
}
