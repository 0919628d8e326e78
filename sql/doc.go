// Package sql turns SQL text into typed queries: text -> [Statement] -> [plan.Fragment].
//
// The grammar is PostgreSQL's own (pg_query). What a statement may say here is
// one SELECT of aggregates over one table, with a WHERE clause; everything else
// that the grammar knows is refused by name and position.
//
// The types and functions to know:
//
//   - [Parse] cuts a text into its statements.
//   - [Statement.Bind] resolves names and types against a [Catalog].
//   - [Describe] writes an error with its line and column.
//
// # Statements fail one by one
//
// [Parse] cuts the text at its semicolons and keeps each statement's own error,
// which Bind returns: statements 1 and 2 can run before the syntax error in
// statement 3 is reported, and a caller that keeps going loses only that one.
// Parse itself fails only for text that is not UTF-8 or holds a NUL byte.
//
// # Text that would kill the parser
//
// pg_query is C and recurses: tens of thousands of operators in one chain
// overflow its stack, which ends the process. So a statement's length, its
// nesting and its operator chains are bounded (see [MaxText], [MaxNesting] and
// [MaxChain]) by a small scanner of our own before pg_query sees the text. Lists
// (IN (1, 2, ...)) are not bounded otherwise than by the length.
//
// # Types
//
// PostgreSQL's rules, with these differences: integer literals are BIGINT; the
// result of integer arithmetic is BIGINT; AVG is DOUBLE PRECISION. 3.5 and 1e3 are
// NUMERIC; a string literal takes the type of what it is compared with; NUMERIC
// beside REAL or DOUBLE PRECISION becomes DOUBLE PRECISION; the elements of an IN
// list of two or more have one common type with the left side, so that
// `r IN (0.1, 0.2)` compares REALs where `r = 0.1` compares DOUBLEs (PostgreSQL
// does both).
//
// Casts are explicit in the bound tree. Constant subtrees are folded, except
// where that fails (overflow, division by zero): they stay, and fail only if a
// record comes to evaluate them. An operator with a NULL constant beside it is
// NULL, whatever its other operand.
//
// # Caveats
//
//   - A column without any value (type unknown) is the constant NULL in WHERE.
//   - An interval holds microseconds once it meets a column, so a column plus an
//     interval of months is refused; constants are computed with months.
//   - NUMERIC / NUMERIC over columns is refused: its scale depends on each value.
//     Over aggregates it is allowed.
//   - A date is read as YYYY-MM-DD, with BC; not as PostgreSQL's other spellings.
//   - An aggregate takes a column, not an expression.
package sql
