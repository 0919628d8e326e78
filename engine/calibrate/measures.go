package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
)

// measure is a statement that measures a class of algorithm, on codes of Bits bits. The cost is what it takes
// beyond the statement base, or beyond a query that has nothing to do, divided by times.
type measure struct {
	class cost.Class
	bits  int
	sql   string // "%s" stands for the table's name
	base  string // likewise
	times float64
}

// Constants are odd: what a comparison takes with 2^n, whose lower bits say nothing, is
// not what it takes in general. selected is the selection of the measures of aggregates
// over one: half of the rows, by a column that is not aggregated.
const (
	noWork          = "SELECT COUNT(*) FROM %s" // it has nothing to do
	countHalf       = "SELECT COUNT(*) FROM %s WHERE a < 262143"
	countRange      = "SELECT COUNT(*) FROM %s WHERE a BETWEEN 104857 AND 419430"
	countCNF        = "SELECT COUNT(*) FROM %s WHERE a < 262143 AND b < 262143 AND c < 262143 AND d < 262143"
	countSemilinear = "SELECT COUNT(*) FROM %s WHERE a + 2 * b - 3 * c + 4 * d > 524288"
	sumAll          = "SELECT SUM(a) FROM %s"
	medianAll       = "SELECT MEDIAN(a) FROM %s"
	selected        = " FROM %s WHERE b < 262143"
)

var suite = []measure{
	{class: cost.Compare, bits: 7, sql: "SELECT COUNT(*) FROM %s WHERE n < 77"},
	{class: cost.Compare, bits: 19, sql: countHalf},
	{class: cost.Compare, bits: 40, sql: "SELECT COUNT(*) FROM %s WHERE w < 659706976665"},
	{class: cost.Range, bits: 7, sql: "SELECT COUNT(*) FROM %s WHERE n BETWEEN 25 AND 102"},
	{class: cost.Range, bits: 19, sql: countRange},
	{class: cost.Range, bits: 40, sql: "SELECT COUNT(*) FROM %s WHERE w BETWEEN 219902325555 AND 879609302220"},
	{class: cost.Conjunct, bits: 19, sql: countCNF, base: countHalf, times: 3},
	{class: cost.Members, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a IN (11, 5000, 70001, 131313, 200002, 300003, 400004)"},
	{class: cost.Semilinear, bits: 19, sql: countSemilinear},
	{class: cost.Program, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a * b + c %% 7 > 1000000"},
	{class: cost.Sum, bits: 7, sql: "SELECT SUM(n) FROM %s"},
	{class: cost.Sum, bits: 19, sql: sumAll},
	{class: cost.Sum, bits: 40, sql: "SELECT SUM(w) FROM %s"},
	{class: cost.SumOf, bits: 19, sql: "SELECT SUM(a)" + selected, base: countHalf},
	{class: cost.Products, bits: 19, sql: "SELECT SUM(a * b) FROM %s"},
	{class: cost.ProductsOf, bits: 19, sql: "SELECT SUM(a * c)" + selected, base: countHalf},
	{class: cost.Groups, bits: 19, sql: "SELECT SUM(a) FROM %s GROUP BY n"},
	{class: cost.ManyGroups, bits: 40, sql: "SELECT SUM(a) FROM %s GROUP BY w"},
	{class: cost.Sort, bits: 19, sql: "SELECT n FROM %s ORDER BY a"},
	{class: cost.Sort, bits: 40, sql: "SELECT n FROM %s ORDER BY w"},
	{class: cost.TopRows, bits: 19, sql: "SELECT n FROM %s ORDER BY a LIMIT 10"},
	{class: cost.FloatSum, bits: 32, sql: "SELECT SUM(r) FROM %s"},
	{class: cost.FloatSum, bits: 62, sql: "SELECT SUM(x) FROM %s"},
	{class: cost.FloatSumOf, bits: 62, sql: "SELECT SUM(x)" + selected, base: countHalf},
	{class: cost.Kth, bits: 7, sql: "SELECT MEDIAN(n) FROM %s"},
	{class: cost.Kth, bits: 19, sql: medianAll},
	{class: cost.Kth, bits: 40, sql: "SELECT MEDIAN(w) FROM %s"},
	{class: cost.KthOf, bits: 19, sql: "SELECT MEDIAN(a)" + selected, base: countHalf},
	{class: cost.Extreme, bits: 7, sql: "SELECT MAX(n) FROM %s"},
	{class: cost.Extreme, bits: 19, sql: "SELECT MAX(a) FROM %s"},
	{class: cost.Extreme, bits: 40, sql: "SELECT MAX(w) FROM %s"},
	{class: cost.ExtremeOf, bits: 19, sql: "SELECT MAX(a)" + selected, base: countHalf},
	{class: cost.Extremes, bits: 19, sql: "SELECT MIN(a), MAX(a) FROM %s"},
	{class: cost.ExtremesOf, bits: 19, sql: "SELECT MIN(a), MAX(a)" + selected, base: countHalf},
}

// timed says which time a measurement has: of a statement on a backend over a table.
type timed struct {
	backend string
	rows    int
	sql     string
}

// measurement is the median time of each measure, in seconds.
type measurement map[timed]float64

// tableOf names the table of that many rows.
func tableOf(rows int) string { return fmt.Sprintf("rows%d", rows) }

// measureCosts fills in the profile. The two smallest tables are measured always, the
// others while there is time, without the algorithms that are slow already.
func (c *calibration) measureCosts(ctx context.Context) error {
	all := measurement{}
	for i, rows := range c.sizes.suite {
		late := func() bool { return i > 1 && time.Since(c.start) > c.sizes.until }
		if late() && rows != c.sizes.routines {
			continue
		}
		c.largest = rows
		if err := c.add(ctx, tableOf(rows), rows, 1); err != nil {
			return err
		}
		for _, m := range append([]measure{{sql: noWork}}, suite...) {
			if late() {
				break
			}
			if err := c.measure(ctx, all, rows, m.sql); err != nil {
				return err
			}
		}
	}
	for _, name := range c.names {
		b := c.fit(name, all)
		for _, measure := range []func(context.Context, string, *cost.Backend) error{c.measureAgain, c.measureUpload, c.measureCompile, c.measureJoins} {
			if err := measure(ctx, name, &b); err != nil {
				return err
			}
		}
		c.found.Profile.Backends[name] = b
	}
	return nil
}

// add makes a table, each of whose chunks has so many rows.
func (c *calibration) add(ctx context.Context, name string, rows, chunks int) error {
	t, err := generate.Calibration().Generate(ctx, rows*chunks, 1, rows)
	if err != nil {
		return err
	}
	t.Name = name
	return c.db.Add(t)
}

// measure measures a statement on every backend that is not too slow for it. The
// repetitions of one backend lie between those of the others.
func (c *calibration) measure(ctx context.Context, all measurement, rows int, sql string) error {
	s, err := engine.Inspect(c.db).Plan(ctx, fmt.Sprintf(sql, tableOf(rows)))
	if err != nil {
		return err
	}
	var quick []string
	for _, name := range c.names {
		if !c.tooSlow(all, timed{name, rows, sql}) {
			quick = append(quick, name)
		}
	}
	able, err := c.able(ctx, quick, s)
	if err != nil {
		return err
	}
	times := map[string][]time.Duration{}
	for i := range 3 * repetitions {
		for _, name := range able {
			if enough(i, times[name]) {
				continue
			}
			took, err := c.time(ctx, name, s)
			if err != nil {
				return err
			}
			times[name] = append(times[name], took)
		}
	}
	for name, list := range times {
		all[timed{name, rows, sql}] = median(list).Seconds()
	}
	return nil
}

// time times a statement. A short statement runs a few times before. Otherwise it would pay for the caches,
// and for the sleep of threads and device, that the backend before it left. That costs more than such a
// query.
func (c *calibration) time(ctx context.Context, backend string, s statement) (took time.Duration, err error) {
	for i := 0; i == 0 || i < 4 && took < time.Millisecond; i++ {
		_, stats, err := s.ExecuteOn(ctx, backend)
		if err != nil {
			return 0, err
		}
		took = stats.Elapsed
	}
	return took, nil
}

// enough reports whether a statement that took so long has been repeated as often as
// it takes: what is short is disturbed more easily.
func enough(times int, list []time.Duration) bool {
	switch {
	case times < 3:
		return false
	case times < repetitions:
		return median(list) > 20*time.Millisecond
	}
	return median(list) > time.Millisecond
}

// tooSlow reports whether a statement takes too long, by what it took on the table
// before; or could not be run there.
func (c *calibration) tooSlow(all measurement, t timed) bool {
	rows, last := t.rows, 0
	for _, n := range c.sizes.suite {
		if n < rows {
			last = n
		}
	}
	if last == 0 {
		return false
	}
	t.rows = last
	took, ok := all[t]
	return !ok || took*float64(rows)/float64(last) > c.sizes.dear.Seconds()
}

// fit turns what the measures of a backend took into costs.
func (c *calibration) fit(name string, all measurement) cost.Backend {
	b := cost.Backend{Swept: name == "cpu", Costs: map[cost.Class]cost.Curves{}}
	b.Overhead = all[timed{name, c.sizes.suite[0], noWork}]
	for _, x := range suite {
		var points []cost.Point
		for _, rows := range c.sizes.suite {
			took, ok := all[timed{name, rows, x.sql}]
			less, okBase := all[timed{name, rows, cmp.Or(x.base, noWork)}]
			if ok && okBase {
				points = append(points, cost.Point{Rows: rows, Seconds: max(0, took-less) / max(1, x.times)})
			}
		}
		if len(points) > 0 {
			b.Costs[x.class] = append(b.Costs[x.class], cost.NewCurve(x.bits, points))
		}
	}
	b.FitMemory()
	return b
}

// repeated executes a statement several times on a backend.
func (c *calibration) repeated(ctx context.Context, backend, sql string, times int) (took []time.Duration, last engine.Stats, err error) {
	s, err := engine.Inspect(c.db).Plan(ctx, sql)
	for i := 0; i < times && err == nil; i++ {
		_, last, err = s.ExecuteOn(ctx, backend)
		took = append(took, last.Elapsed)
	}
	return took, last, err
}

// measureAgain finds what an algorithm costs once more for a further chunk.
func (c *calibration) measureAgain(ctx context.Context, backend string, b *cost.Backend) error {
	const chunks = 16
	if backend == "cpu" { // the first
		if err := c.add(ctx, "chunks", c.sizes.suite[0], chunks); err != nil {
			return err
		}
	}
	took, _, err := c.repeated(ctx, backend, fmt.Sprintf(countHalf, "chunks"), 1+repetitions)
	if err == nil {
		b.FitAgain(median(took[1:]).Seconds(), chunks)
	}
	return err
}

// measureUpload fits the time of an upload to that of a small column and a large one. A
// backend that reads the table where it is has none.
func (c *calibration) measureUpload(ctx context.Context, backend string, b *cost.Backend) error {
	var x, y [2]float64 // bytes, seconds
	for i, rows := range []int{c.sizes.suite[0], c.largest} {
		var times []time.Duration
		for f := range 5 {
			_, stats, err := c.repeated(ctx, backend, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE fresh%d < 262143", tableOf(rows), f), 1)
			if err != nil || stats.Load == 0 {
				return err
			}
			times = append(times, stats.Load)
		}
		x[i], y[i] = float64(4*rows), median(times).Seconds()
	}
	b.Upload = cost.FitTransfer(x, y)
	return nil
}

// measureCompile finds what a predicate adds to the compilation of a condition, by one
// that no calibration before has had: programs are kept.
func (c *calibration) measureCompile(ctx context.Context, backend string, b *cost.Backend) error {
	const pairs = 24
	var list []string
	for range pairs {
		col := rand.IntN(4)
		list = append(list, fmt.Sprintf("%c %c %d AND %c <> %d", "abcd"[col], "<>"[rand.IntN(2)], rand.IntN(1<<19), "bcda"[col], rand.IntN(1<<19)))
	}
	sql := "SELECT COUNT(*) FROM " + tableOf(c.sizes.suite[0]) + " WHERE " + strings.Join(list, " OR ")
	took, _, err := c.repeated(ctx, backend, sql, 2)
	if err == nil && backend != "cpu" {
		b.Compile = max(0, (took[0]-took[1]).Seconds()) / (2 * pairs)
	}
	return err
}
