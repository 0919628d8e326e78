// Package draw draws random tables, and SQL over them that PostgreSQL, SQLite and DuckDB read alike, a file a subject.
//
//   - [Table], [JoinTables]: tables of few values that repeat, in one or many chunks, some of whose rows are deleted.
//   - [Query], [RowQuery]: aggregates and rows, as typed trees of package plantest.
//   - [Texts]: aggregates, groups and conditions as text.
//   - [Joins]: joins of two to four tables of any kind and condition, and what they select, group and put in order.
//   - [Nested]: subqueries, WITH and set operations; [Windows]: window functions.
//   - [Aggregations]: GROUP BY, HAVING and aggregates of expressions.
//   - [Script]: changes of two tables, with transactions and savepoints.
package draw
