package ingest

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ParseRows reads a number of rows: 1000, 100k, 16M, 1G (decimal), 16Mi (binary) or
// 2^28; 0 too.
func ParseRows(text string) (int, error) {
	digits, unit := text, 1
	if power, ok := strings.CutPrefix(text, "2^"); ok {
		n, err := strconv.Atoi(power)
		if err != nil || n < 0 || n > 40 {
			return 0, errors.New("want 2^0 to 2^40")
		}
		return 1 << n, nil
	}
	for _, u := range rowUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			digits, unit = rest, u.rows
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > math.MaxInt/unit {
		return 0, errors.New("want a number of rows such as 1000, 100k, 16M, 16Mi or 2^28")
	}
	return n * unit, nil
}

var rowUnits = []struct {
	name string
	rows int
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}
