// Package catalog has the tables that statements may name, and what belongs to them. These are the files that they are read
// from, their snapshots and their indexes.
//
//   - [Catalog] finds an [Entry] by its name. A transaction has a catalog of its own.
//   - [Entry] is a table, or a [Source] that columns of it are read from when a statement needs them.
//   - [Snapshots] counts the statements on each snapshot, and says what none of them has any more.
//   - [Indexes] are those of CREATE INDEX. [Indexes.RowsOfKey] finds the rows of a key, which point lookups and unique checks do.
//   - [Pruned] is what the statistics of a file's row groups spare: reading those that [Conditions] rule out, or all reading.
//
// The package knows no statement, no memory budget and no device. Its caller says whether there is room, and releases what
// is on a device.
package catalog
