// Package report is what a run of a suite found: the results of each system and case, as data and as JSON.
//
// # Where what is
//
//   - report.go: [Report], [Result], and their JSON. machine.go: [Machine], and the processor's time.
//   - statistics.go: medians, percentiles, and bootstrap intervals of ratios.
//   - headline.go: [Headline], a claim of a paper beside what was measured, and its verdict.
//   - floor.go: [Floor], what empty passes take, and [Tie]. pass_times.go: [PassTime].
//   - comparison.go: [Compare] sets two reports beside each other.
//   - protocol.go, systems.go: names of protocols and of systems. section.go: [Section], a table as text, and how numbers are written.
package report
