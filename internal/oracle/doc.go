// Package oracle holds no code: its tests put random statements to the engine and
// to other databases and compare the answers.
//
// Each statement runs through the public path ([engine.DB.Query]) on the backend cpu
// and on one drawn from those on the GPU (on all of them in make soak), in
// [cpu.Scalar], and in SQLite or DuckDB. Values and NULLs must be the same; where
// Scalar raises an error, the backends must too.
//
//   - TestSQLite*: integers, doubles, text, booleans, dates, over random tables of
//     one and of many chunks; and the flights of package testdata.
//   - TestDuckDB* (build tag duckdb): DECIMAL, REAL, NaN and infinities, timestamps
//     with intervals, and the errors of integer overflow.
//   - TestFunctionsOfColumns: all functions and operators, many expressions in one select list,
//     and conditions; TestDuckDBFunctions: those that DuckDB has with the same meaning.
//   - TestDuckDBAnswersTheFirstQuestions: testdata/slt/first_questions.slt, which package slt puts to
//     every backend.
//   - TestGroupsAgree: GROUP BY, HAVING, sums of products and aggregates of expressions beside their
//     definitions, computed row by row with exact fractions; TestDuckDBGroups: beside DuckDB, whose
//     rounding is measured by the largest of the values.
//   - TestSQLiteJoins, TestDuckDBJoins: joins of two to four tables of any kind and condition, by an
//     algorithm that is drawn; what joins select, group and put in order.
//   - The other tests are facts that a random statement once showed to be false.
//
// Two kinds of statement are drawn. Those of package internal/plantest are typed trees;
// a writer translates them for the other database, so that every coercion is
// explicit. Those of TestSQLiteReadsTheSameText are put to both word for word,
// where coercions are each database's own.
//
// # Replaying a failure
//
// A failure prints the statement, the table and the command that draws it again:
//
//	go test -tags egl ./internal/oracle -run TestSQLiteAgrees -rapid.seed=123
//
// STENCILDB_SOAK=10 draws ten times as many. Where the device has
// EXT_depth_bounds_test, classic runs with it and without it.
//
// # Caveats
//
//   - Of an expression that the other database cannot say (REAL arithmetic in
//     SQLite, say) only the other three answers are compared; the tests log how
//     many these were.
//   - Where a record raises an error, SQLite has NULL or a REAL instead: the
//     statement is compared between Scalar and the backends alone.
package oracle
