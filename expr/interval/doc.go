// Package interval makes values of the SQL type INTERVAL. [Parse] reads a text. A [Sum] adds up months, days and microseconds exactly,
// and becomes a value if that has room for them.
package interval
