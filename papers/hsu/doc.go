// Package hsu has the database of "Implementation of a GPU Based Main Memory Database" (Hsu, National Chiao Tung University 2009) as
// published, and its experiments. The engine does not use it.
//
//	text                                   here
//	S3.1 CREATE, DROP                      [DB.Create], [DB.Drop]; [Table.Load] is the initial stage
//	S3.3.1, F 3-2 column-major tables      [Table]
//	S3.3.2, F 3-4 to 3-6 SetSelectFlag     [Where], [Postfix], [DB.SetSelectFlag], select.comp
//	F 3-7 moving records                   [DB.MoveSelected], move.comp; the prefix sum is package scan's
//	S3.3.3, F 3-9, 3-10 sorting            [DB.SortData]; the sort is primitives.Sort
//	S3.3.4, F 3-11 to 3-14 grouping        [DB.GroupData], group.comp; the segmented scan is package scan's
//	S3.3.5 update                          [DB.Update]
//	S3.3.6 delete                          [DB.Delete]
//	S3.3.7 insert, insert by selection     [Table.Insert], [DB.InsertSelected]
//	S4.2.1 data                            [Data]
//
// # Slips, and what is taken
//
//   - Both abstracts have 2.161 %, table 4-4 and the conclusions 2.061 %. The table is taken.
//   - S4.2.3 measures "from 2,500 records to 1,000 records": to 10,000, as in S4.2.2.
//   - The N of figure 4-2 is not given. Its crossing at 1,700 records is 1.7 % of 100,000, near table 4-4, and 3.4 % of 50,000: it is
//     judged at 100,000.
//   - S4.2.2.3 promises the GPU time of grouping for S4.3; it stands in S4.2.3.
//   - "The ordinary prefix notation" that becomes postfix is infix.
//   - F 3-10 reads sortedTable where it means dataTable, and ends with two lines of F 3-6.
//   - F 3-14 writes to resultIndex and reads addr, which nothing sets, and has threaded for threadID. Its last group goes to the number
//     of records in the place of the number of groups. Taken is the place that the prefix sum of the flags gives, less 1. The array of
//     flags has one element more than there are records; it is set, and ends the last group.
//   - F 3-11 compares the first element with that before it: its flag is set.
//   - F 3-5 and 3-6 go to the top of a stack that nothing has set: it is 0 before the first token, and counts levels.
//   - Device memory has a latency of 400 to 600 clocks (T 2-1) and of 200 to 300 (S3.3.1).
//   - F 4-1: "50,000 more" records into a table of 50,000, with an average over its expansions. A table whose capacity is a power of two
//     doubles once on the way from 50,000 to 100,000 (at 65,536). The one doubling is timed.
//
// # Silences, and what is taken
//
//   - Which prefix sum places records: the inclusive one, whose last value is the number of records, less 1.
//   - How deep a stack is: as deep as the postfix needs. How it lies in memory: column-major as tables do, level by level.
//   - Parentheses: a condition may have them.
//   - How a record that is inserted is sent: a word a column.
//   - How often a table doubles that is too small by far: until it fits, each time into a new table.
//   - The capacity of a result that is read: its records. That of a table after a deletion: as before.
//   - How integers are sorted by the library's unsigned words: with the sign bit inverted.
//   - What a sum does that is too large: it wraps at 2^32. What an average does: it is divided as integers are, towards zero.
//   - The number of threads of a block: 256.
//   - Whether SQLite has an index on c1: "the index structure of SQLite is B-tree" (S4.1.1), so that one is made. Without it SQLite is measured, too.
//   - Which columns a statement reads: all three.
//
// # Deviations
//
//   - CUDPP's scan writes to another array. Package scan works in place, on a copy of the flags.
package hsu
