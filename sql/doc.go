// Package sql turns SQL text into trees of typed operators: text -> [Statement] -> [plan.Node].
//
// The grammar is PostgreSQL's own (pg_query). What a statement may say here:
//
//   - SELECT over a table, over joins of tables and subqueries, or without any, with WHERE, DISTINCT, ORDER BY, LIMIT and OFFSET.
//     It is of columns and expressions over them, or of aggregates, with GROUP BY and HAVING.
//   - Set operations between SELECTs, VALUES, and WITH.
//   - SET, RESET and SHOW: a [Setting].
//   - CREATE INDEX, DROP INDEX and SHOW INDEXES: an [Index].
//   - CREATE TABLE, ALTER TABLE, DROP TABLE, CREATE VIEW, DROP VIEW: a [Change].
//   - INSERT, UPDATE, DELETE, MERGE, COMMENT and TRUNCATE: a [Change], too.
//   - BEGIN, COMMIT, ROLLBACK and savepoints: a [Transaction].
//   - COPY: a [Copy].
//   - PREPARE, EXECUTE and DEALLOCATE: a [Prepared].
//   - VACUUM, ANALYZE and CHECKPOINT: an [Upkeep].
//
// SUMMARIZE gives a row for each column. SHOW TABLES, SHOW FUNCTIONS and DESCRIBE of a table or a SELECT give rows of text.
// The tables of information_schema are queried as any other. A file is a table too, as FROM 'path' or by one of
// [FileFunctions]. Everything else that the grammar knows is refused by name and position.
//
// The types and functions to know:
//
//   - [Parse] cuts a text into its statements.
//   - [Statement.Bind] resolves names and types against a [Catalog].
//   - [Plan] makes the [physical.Query] of a SELECT over a table at hand, for those who have no engine.
//   - [Describe] writes an error with its line and column.
//
// # Statements fail one by one
//
// [Parse] cuts the text at its semicolons and keeps each statement's own error,
// which Bind returns. Statements 1 and 2 can run before the syntax error in
// statement 3 is reported. A caller that keeps going loses only that one.
// Parse itself fails only for text that is not UTF-8 or holds a NUL byte.
//
// # Text that would kill the parser
//
// pg_query is C and recurses: tens of thousands of operators in one chain
// overflow its stack, which ends the process. So a statement's length, its
// nesting and its operator chains are bounded (see [MaxText], [MaxNesting] and
// [MaxChain]). A small scanner of our own does that before pg_query sees the text. Lists
// (IN (1, 2, ...)) are not bounded otherwise than by the length.
//
// # Types
//
// PostgreSQL's rules: 98 is INTEGER, 3000000000 BIGINT, and arithmetic of integers has the wider one of their types, overflow of
// which is an error. There are these differences:
//
//   - AVG and NUMERIC / NUMERIC are DOUBLE PRECISION.
//   - A function of an integer takes one of any width.
//   - 3.5 and 1e3 are NUMERIC of as many digits as they have.
//   - A string literal takes the type of what it is compared with.
//   - NUMERIC beside REAL or DOUBLE PRECISION becomes DOUBLE PRECISION.
//   - The elements of an IN list of two or more have one common type with the left side. So `r IN (0.1, 0.2)` compares REALs
//     where `r = 0.1` compares DOUBLEs (PostgreSQL does both).
//
// Casts are explicit in the bound tree. Constant subtrees are folded, except
// where that fails (overflow, division by zero): they stay, and fail only if a
// record comes to evaluate them. An operator with a NULL constant beside it is
// NULL, whatever its other operand.
//
// # Parameters
//
// $1, $2, ... are constants that [Statement.Bind] is given with their types: a statement
// with parameters is bound anew for every execution. Text of unknown type takes the type
// that its place needs, as a string literal does. In a statement of PREPARE a number is assigned to the type of
// the numbers that it first stands beside. PostgreSQL infers a parameter's type so. 1.5 beside an INTEGER is 2.
//
// # Caveats
//
//   - A column without any value (type unknown) is the constant NULL.
//   - The NUMERICs of one CASE, COALESCE, GREATEST or LEAST have one scale, the largest: COALESCE(7, 2.50) is 7.00.
//   - x::numeric of a text that is no constant has one scale, that of the text with the most decimals among all that x can be. '1.5'
//     is 1.50 beside '2.25'. Where these are not known (an aggregate, or texts of several columns put together), and of REAL and DOUBLE
//     PRECISION, it is refused. Write x::numeric(18, 2). round(x::numeric, 2) works of all.
//   - A column of intervals (of a subquery: tables have none) has one of those that are equal, '1 day' or '24 hours'. Both
//     are an error.
//   - A date of digits alone is 2024-02-29, 20240229 or, the month first, 2/29/2024. Casts take other spellings, too (package
//     table), CSV none but the first.
package sql
