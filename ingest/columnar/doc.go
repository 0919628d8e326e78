// Package columnar reads files that have their rows in groups, column by column: Parquet and Arrow. A column is read on its
// own, its groups at the same time, and the next one behind it. Where the file states the bounds of a group's values,
// they become codes as they are decoded; else the column is read twice.
//
//   - [Group], [Groups]: row groups, as a format gives them (group.go); [Statistics]: what a file states of a column in one (statistics.go)
//   - [Groups.Read]: columns to segments (read.go)
//   - [Groups.ZoneMaps]: a table as statistics tell of it, for pruning (zone_maps.go)
//   - [Groups.InPieces]: row groups that memory has no room for (pieces.go)
package columnar
