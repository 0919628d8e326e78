package source

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// precision is the digits of a numeric type, behind its opening parenthesis.
var precision = regexp.MustCompile(`^\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)$`)

// ParseType reads the name of a column type, in any case. It knows bigint, int, smallint,
// double, real, numeric(p,s) with p <= 18, boolean, date, timestamp, text or
// varchar. It knows PostgreSQL's other names of the same.
func ParseType(name string) (table.Type, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	if k, ok := table.KindNamed(n); ok && k != table.Decimal && k != table.Interval {
		return table.Type{Kind: k}, nil
	}
	base, args, ok := strings.Cut(n, "(")
	if base = strings.TrimSpace(base); base == "numeric" || base == "decimal" {
		if !ok {
			return table.Type{}, fmt.Errorf("%s needs its digits: %s(p,s)", name, base)
		}
		m := precision.FindStringSubmatch(args)
		if m == nil {
			m = make([]string, 3)
		}
		p, _ := strconv.Atoi(m[1])
		sc, _ := strconv.Atoi(m[2])
		if p < 1 || p > MaxPrecision || sc > p {
			return table.Type{}, fmt.Errorf("%s: want numeric(p,s) with 1 <= p <= %d and 0 <= s <= p", name, MaxPrecision)
		}
		return table.Type{Kind: table.Decimal, Precision: p, Scale: sc}, nil
	}
	return table.Type{}, fmt.Errorf("unknown type %q: want bigint, int, smallint, double, real, numeric(p,s), boolean, date, timestamp or text", name)
}

// MaxPrecision is the most digits of a DECIMAL column: its scaled integers fit 64
// bits.
const MaxPrecision = 18
