// Package table holds relations as the rest of stencildb sees them: columns of
// order-preserving unsigned codes, cut into chunks, with NULLs apart.
//
// The types to know:
//
//   - [Type] is an SQL type, [Value] one value of it.
//   - [Table] is a snapshot of a relation: its fields, and its rows cut into chunks.
//   - [Chunk] is a run of rows; every column of the table has one [Segment] in it.
//   - [Segment] is one attribute of one chunk: codes of b bits and what is needed
//     to turn a code back into a value.
//   - [Builder] makes a table, row by row or column by column; [Parse] reads its values from text.
//   - Package dictionary makes the sorted dictionary of a column's texts. Package slab has memory that columns use again.
//
// # Ordinals and codes
//
// Each value of a type other than VARCHAR has an ordinal, an unsigned 64-bit number that orders as the values
// do (see [Ordinal]). A VARCHAR value's ordinal is its rank in the segment's sorted dictionary. A code is the
// ordinal less the segment's smallest ordinal ("frame of reference"). So a segment needs only as many bits as
// its range of ordinals has.
//
// Some dictionaries of texts are nearly as large as their segment. For these [Segment.TextsInto] keeps a copy of the texts in the order
// of rows, for expressions over each text.
//
// # Snapshots
//
// Tables, chunks and segments never change while they are read. [Chunk.Delete] and [Chunk.Patch] make a new chunk. It takes over the codes
// of a segment that nobody reads any more ([Free]), and copies them otherwise. [Table.With] makes the table's next snapshot of new and old
// chunks. What did not change is shared, so that a pointer to a segment identifies its content. Deleted rows keep their place. A hidden
// column of one bit, [LiveField], says which rows are not deleted; it stands behind the fields, and no name finds it.
//
// # Caveats
//
//   - Codes are comparable within one segment only: another chunk of the same
//     column has another minimum, another width and another dictionary.
//   - The code stored for a NULL is 0; look at Valid before believing it.
//   - The numbers of a segment (Base, Max, Nulls, Dict) are those of all its rows, deleted ones included.
//     They bound the values of the rows that are not deleted.
//   - -0 has the code of +0, and its rows are in [Segment.NegativeZeros].
//   - Every NaN is one NaN, the largest value of its type.
package table
