// Package format writes and reads times, intervals and numbers by PostgreSQL's patterns: what to_char, to_date, to_timestamp and
// to_number do. A pattern is read once, and then used for many values.
//
//   - [TimePattern] writes a moment or an interval, and reads a moment. Where each number has all of its digits, reading takes them from fixed places.
//   - [NumberPattern] writes and reads numbers.
//
// Names of months and days are English. Errors have PostgreSQL's codes, and no place in the SQL: package expr adds it.
package format
