// Package harness sends statements to the engine and to another database and compares the answers. The tests
// in the packages sqlite, duckdb and backends use it.
//
// Each statement runs through the public path ([engine.DB.Query]) on the backend cpu and on a random one on
// the GPU (all in make soak). It also runs in [cpu.Scalar] or package reference, and in the other database, a
// [Peer]. Values and NULLs must be the same; where the reference raises an error, the backends must too.
//
//   - [Harness]: the engine on every backend, and a [Tally] of what came of the statements.
//   - [Harness.Check], [Harness.CheckRows]: aggregates and rows that package plantest draws as typed trees. A [Writer]
//     translates them by the peer's [Dialect], so that every coercion is explicit.
//   - [Harness.CheckText], [JoinsAgree], [NestedAgree], [WindowsAgree]: statements that package draw writes; both databases
//     are asked word for word, where coercions are each one's own.
//   - [Main] says how many tables the tests of a package draw.
//
// # Replaying a failure
//
// A failure prints the statement, the table and the command that draws it again:
//
//	go test -tags egl ./internal/oracle/sqlite -run TestSQLiteAgrees -rapid.seed=123
//
// STENCILDB_SOAK=10 draws ten times as many. Where the device has
// EXT_depth_bounds_test, classic runs with it and without it.
//
// # Caveats
//
//   - Some expressions do not exist in the other database, as REAL arithmetic in SQLite. Then only the other
//     three answers are compared; the tests log how many these were.
//   - Where a record raises an error, SQLite has NULL or a REAL instead: the
//     statement is compared between the reference and the backends alone.
package harness
