package sql

import (
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Every keyword of statements that there are can be completed.
func TestKeywords(t *testing.T) {
	for _, text := range []string{
		"WITH RECURSIVE q AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM q WHERE n < 9) SELECT DISTINCT n FROM q EXCEPT VALUES (2) INTERSECT SELECT 3 ORDER BY 1 DESC NULLS LAST LIMIT 2 OFFSET 1",
		"SELECT * FROM a LEFT OUTER JOIN b USING (k) INNER JOIN c ON TRUE CROSS JOIN d NATURAL FULL JOIN e RIGHT JOIN LATERAL (SELECT 1) AS f ON FALSE",
		"SELECT a FROM t WHERE EXISTS (SELECT 1) AND a > ANY (SELECT 2) AND b LIKE 'x' ESCAPE '!' AND c NOT SIMILAR TO 'y' AND d IS NOT NULL AND e BETWEEN SYMMETRIC 1 AND 2 ORDER BY a FETCH FIRST 3 ROWS ONLY",
		"SELECT a, GROUPING(a), SUM(b) FILTER (WHERE c), percentile_cont(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY d) FROM t GROUP BY GROUPING SETS (ROLLUP (a), CUBE (a)) HAVING COUNT(*) > 1",
		"SELECT SUM(a) OVER (PARTITION BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE NO OTHERS) FROM ONLY t TABLESAMPLE system (10) REPEATABLE (1)",
		"SELECT CAST(a AS DECIMAL), CASE WHEN b THEN 1 ELSE 2 END, EXTRACT(year FROM c), ts AT TIME ZONE 'UTC', x::text FROM t",
		"CREATE TEMPORARY TABLE IF NOT EXISTS t (k INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v CHAR(3) DEFAULT 'x' NOT NULL UNIQUE CHECK (v > 'a'), w VARCHAR)",
		"CREATE OR REPLACE VIEW v AS TABLE t",
		"ALTER TABLE t ALTER COLUMN a SET DEFAULT 1",
		"INSERT INTO t AS x VALUES (DEFAULT) ON CONFLICT (k) DO UPDATE SET v = excluded.v RETURNING k",
		"MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1)",
		"UPDATE t SET v = 1", "DELETE FROM t USING s", "TRUNCATE t", "DROP INDEX i", "CREATE UNIQUE INDEX i ON t USING hash (k)",
		"COPY t FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ',')", "COPY (SELECT 1) TO STDOUT", "COMMENT ON COLUMN t.a IS 'x'",
		"BEGIN TRANSACTION READ ONLY", "COMMIT", "ROLLBACK TO SAVEPOINT s", "RELEASE s", "SET LOCAL backend = 1", "SET SESSION backend TO DEFAULT", "RESET backend", "DISCARD ALL",
		"PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "VACUUM t", "ANALYZE t", "CHECKPOINT", "SHOW tables", "EXPLAIN SELECT 1",
	} {
		list, err := Parse(text)
		if err == nil {
			err = list[0].Err()
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		scanned, err := pg.Scan(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range scanned.Tokens {
			word := text[token.Start:token.End]
			if token.KeywordKind != pg.KeywordKind_NO_KEYWORD && word == strings.ToUpper(word) && !slices.Contains(Keywords, word) {
				t.Errorf("%s is no keyword", word)
			}
		}
	}
	if !slices.IsSorted(Keywords) {
		t.Errorf("the keywords are not in order: %v", Keywords)
	}
}
