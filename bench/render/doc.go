// Package render shows a report: as text, as Go's benchmark format, as one HTML page, and its figures as SVG, PNG and CSV.
//
// # Where what is
//
//   - page.go: [Page] is a report as it is shown. text.go: text and Go's format. html.go, report.html.tmpl: the page. files.go: a folder of
//     figures.
//   - figures.go: the figures of a report. series.go: the lines and bars of a panel. draw.go, styles.go, ticks.go: how these are drawn.
//   - evaluation_2004.go, published_tables.go, targets.go, choices.go, estimates.go, statements.go, operators.go: what a suite's report has
//     after the times.
package render
