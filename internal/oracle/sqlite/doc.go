// Package sqlite holds no code: its tests compare the engine with SQLite.
//
//   - TestSQLiteAgrees: integers, doubles, text, booleans, dates, over random tables of one and of many chunks.
//   - TestSQLiteReadsTheSameText: statements that both read word for word.
//   - TestSQLiteAgreesOnTheFlights: the flights of package testdata.
//   - TestSQLiteJoins, TestSQLiteNested, TestSQLiteWindows: joins by an algorithm that is drawn, subqueries, windows.
//   - TestSQLiteChanges: scripts that change tables, in transactions.
package sqlite
