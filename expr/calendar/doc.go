// Package calendar computes with days, times of day, units of time and time zones, on integers: what EXTRACT, date_trunc, age and
// AT TIME ZONE do. Days are counted from 1970-01-01; times are microseconds.
//
//   - [Moment] is a day and the microseconds since it began.
//   - [DayParts], [ClockParts] and [MonthParts] have what EXTRACT takes of a day, a time of day and an interval, by the unit's name ([Unit]).
//   - [DayFloors] and [Truncation] are the beginnings of units.
//   - [Zone] is a time zone by its name.
//
// Of the days from 1900 to 2100 the parts are computed once and kept.
package calendar
