// Package postgres holds no code. Its tests send random statements to the engine and to a PostgreSQL server
// that they start, and compare rows, column types and errors.
//
// Statements are nested three deep. They have subqueries, WITH (also names that shadow tables), LATERAL in
// every place of a FROM, VALUES, DISTINCT ON, windows, set operations and grouping sets. There are INSERT,
// UPDATE, DELETE and MERGE, too. A table that a statement changes is compared whole. Each statement runs on
// backend cpu, and one in four on another backend, too.
//
//   - server_test.go starts the server: a data folder and a socket of its own, no port.
//   - draw_test.go, query_test.go, change_test.go draw statements.
//   - compare_test.go compares; known_test.go lists where the two differ on purpose.
//   - cases_test.go runs testdata/*.sql, whose answers are PostgreSQL's.
//
// # Replaying a failure
//
// A failure prints the tables and the statement, which rapid has made small, and the seed:
//
//	go test -tags egl ./internal/oracle/postgres -run TestQueries -rapid.seed=123
//
// STENCILDB_SOAK=10 draws ten times as many. STENCILDB_EACH=1000 -run TestEach draws so many statements,
// goes on after a difference, and prints each.
//
// # Caveats
//
//   - PostgreSQL 15 must be installed (Debian: postgresql-15). Its server does not run as root: where the
//     tests do, it runs as user postgres, or nobody.
//   - Where either side raises an error at run time (division by zero, more than one row), the other may have left the
//     row out. Then the statement is not compared. Errors of names, types and syntax are.
//   - AVG and quotients are numeric there and double precision here: such numbers may differ in the last digits.
package postgres
