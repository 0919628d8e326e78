package sql

import (
	"strings"

	"github.com/stencildb/stencildb/expr"
)

// Keywords are those that a statement may have here, in upper case.
var Keywords = strings.Fields(`
	ANALYZE AND AS ASC BETWEEN BIGINT BOOLEAN BY CASE CAST COALESCE COLLATE DATE DESC DESCRIBE
	DISTINCT DOUBLE ELSE END EXPLAIN FALSE FORMAT FROM GREATEST GROUP ILIKE IN INTEGER INTERVAL IS
	JSON LEAST LIKE LIMIT NOT NULL NULLIF NUMERIC OFFSET OR ORDER PRECISION REAL SELECT SHOW
	SMALLINT SYMMETRIC TABLES THEN TIMESTAMP TRUE VARCHAR WHEN WHERE WITHIN`)

// Functions are the names of those that there are.
func Functions() []string {
	list := append(expr.FunctionNames(), typeOfName)
	list = append(list, clockFunctions...)
	for _, a := range aggregates {
		list = append(list, a.name)
	}
	return list
}
