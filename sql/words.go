package sql

import (
	"strings"

	"github.com/stencildb/stencildb/expr"
)

// Keywords are those that a statement may have here, in upper case.
var Keywords = strings.Fields(`
	ALL ANALYZE AND AS ASC BETWEEN BIGINT BOOLEAN BY CASE CAST COALESCE COLLATE DATE DEFAULT DESC
	DESCRIBE DISTINCT DOUBLE ELSE END EXPLAIN FALSE FILTER FIRST FORMAT FROM GREATEST GROUP HAVING
	ILIKE IN INTEGER INTERVAL IS JSON LAST LEAST LIKE LIMIT NOT NULL NULLIF NULLS NUMERIC OFFSET ON OR
	ORDER PRECISION REAL RESET SELECT SET SHOW SMALLINT SUMMARIZE SYMMETRIC TABLES THEN TIMESTAMP TO TRUE VARCHAR
	WHEN WHERE WITHIN`)

// Functions are the names of those that there are.
func Functions() []string {
	list := append(expr.FunctionNames(), typeOfName)
	list = append(list, clockFunctions...)
	for _, a := range aggregates {
		list = append(list, a.name)
	}
	return list
}
