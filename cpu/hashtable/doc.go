// Package hashtable has the hash tables of the host.
//
//   - A [Table] numbers different words in the order in which they first come: the dense numbers of groups and of the keys
//     of joins. It is for one goroutine.
//   - A [Partitioned] finds the rows that have a key, as the build side of a hash join. It has a [RowTable] for each
//     partition, made on all cores. [Keys] are the keys of rows, some of which may be NULL.
//
// All use open addressing with linear probing (Knuth, volume 3, section 6.4).
package hashtable
