// Package devicepool has the devices that queries run on.
//
//   - [GPU] is one open device: its context, what is resident on it, and the runner of its passes. [Open] opens one, and
//     [Lent] takes a context that is somebody else's, such as a window's.
//   - [Pool] is all devices of a DB, which share the chunks of each table: [Pool.Divide] cuts a query into a [Part] for each.
//   - [Content] is what was resident after the last query, by which the costs of the next one are predicted.
//   - [Algorithms] are the backends of devices by name: classic, fused, compute.
//   - [ScanQueue] has the queries that wait for a device and that one shared scan may answer.
//
// The package knows no statement and no plan above one query over codes. When a device is opened, and what follows a fault, the
// DB decides.
package devicepool
