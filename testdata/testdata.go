// Package testdata embeds the real data set of the tour and the tests. README.md
// beside it says where the data come from and under which licence.
package testdata

import _ "embed"

// Flights200k is a Parquet file of 200,000 flights within the United States: delay
// (minutes, SMALLINT), distance (miles, SMALLINT) and time (hour of the day of
// departure, REAL). No value is NULL.
//
//go:embed flights-200k.parquet
var Flights200k []byte
