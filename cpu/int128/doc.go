// Package int128 has what DECIMALs of more than 18 digits are computed with.
//
// An [Int] has 128 bits. A [Sum] has 192 bits. These hold the sum of 2^63 such integers, or of as many squares of
// integers of 64 bits, so that no step checks for overflow.
package int128
