// Package peer has the other databases that run beside stencildb. Each is linked by a build tag of its name.
//
// # Where what is
//
//   - peers.go: [Peer], and [Registry] of those that are built in.
//   - sql.go: a peer behind database/sql. duckdb.go and sqlite.go: what is particular to each.
package peer
