// Package meter times systems against each other over one case. In each round every contender runs once, and the order rotates.
//
// # Where what is
//
//   - system.go: [System] keeps its own copies of tables and prepares a [Query].
//   - trial.go: [Trial] is a case with its [Contender]s, [Outcome] is what one run gave.
//   - meter.go: [Meter] runs the rounds, keeps devices awake, and makes a result of each contender.
//   - difference.go: [DifferError] is the error of answers that differ.
package meter
