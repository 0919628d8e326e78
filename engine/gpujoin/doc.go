// Package gpujoin has devices find the pairs of joins, and keeps the rows of them there for the joins and groups to come.
//
//   - [Pairing] finds pairs for package joinorder, and is its [joinorder.Holder] (pairing.go). join_spread.go divides a join among
//     devices. partnered_rows.go makes the rows of semi, anti and left joins with residual conditions.
//   - Backend both hands out sub-joins to cpu and the devices (coprocessing_join.go; GDB, section 5).
//   - An [Assignment] says which operators of a chain of joins are cpu's and which the device's. It goes by what they are predicted to take
//     together, with what crosses the bus between them (assignment.go).
//
// What devices keep is released by [Pairing.Close], or earlier where nobody needs it any more.
package gpujoin
