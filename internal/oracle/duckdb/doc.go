// Package duckdb holds no code: its tests, with the build tags duckdb and duckdb_arrow, compare the engine with DuckDB.
//
//   - TestDuckDBAgrees: DECIMAL, REAL, NaN and infinities, timestamps with intervals; and the errors of integer overflow.
//   - TestDuckDBFunctions: functions that mean the same there.
//   - TestDuckDBGroups: aggregates; DuckDB's rounding is measured by the largest of the values.
//   - TestDuckDBJoins, TestDuckDBNested, TestDuckDBWindows: as in package sqlite.
//   - TestDuckDBAnswersTheFirstQuestions: testdata/slt/first_questions.slt, which package slt puts to every backend.
//   - TestDuckDBAgreesOnTPCH: the 22 queries of TPC-H at scale 0.01.
package duckdb
