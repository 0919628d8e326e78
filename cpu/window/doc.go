// Package window computes window functions on the host.
//
//   - [Compute] computes the functions of a [plan.Window] over all rows in memory. window.go sorts and ranks,
//     aggregate.go has aggregates of frames, frame.go where frames begin and end.
//   - A [Stream] computes them over rows that come in the window's order, piece by piece, where a few words go from piece
//     to piece (stream.go).
//
// SUM and COUNT of a frame are differences of sums from the first row on. MIN and MAX of frames that move are read from a
// tree (Leis and others 2015). Any other aggregate of a moving frame is computed anew for each.
package window
