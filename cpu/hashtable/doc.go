// Package hashtable numbers different words, in the order in which they first come: the dense numbers of groups and
// of the keys of joins.
//
// A [Table] is an open-addressing table with linear probing (Knuth, volume 3, section 6.4), for one goroutine.
package hashtable
