package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/cost"
)

// measure is a statement that tells what a class of algorithm costs, on codes of
// Bits bits: what it takes beyond the statement base, or beyond a query that has
// nothing to do, divided by times.
type measure struct {
	class cost.Class
	bits  int
	sql   string // after FROM, of the table: "%s" stands for its name
	base  string // likewise
	times float64
}

// Constants are odd: what a comparison takes with 2^n, whose lower bits say nothing, is
// not what it takes in general.
const countHalf = "SELECT COUNT(*) FROM %s WHERE a < 262143"

// selected is the selection of the measures of aggregates over one: half of the rows,
// by a column that is not aggregated.
const selected = " FROM %s WHERE b < 262143"

var suite = []measure{
	{class: cost.Compare, bits: 7, sql: "SELECT COUNT(*) FROM %s WHERE n < 77"},
	{class: cost.Compare, bits: 19, sql: countHalf},
	{class: cost.Compare, bits: 40, sql: "SELECT COUNT(*) FROM %s WHERE w < 659706976665"},
	{class: cost.Range, bits: 7, sql: "SELECT COUNT(*) FROM %s WHERE n BETWEEN 25 AND 102"},
	{class: cost.Range, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a BETWEEN 104857 AND 419430"},
	{class: cost.Range, bits: 40, sql: "SELECT COUNT(*) FROM %s WHERE w BETWEEN 219902325555 AND 879609302220"},
	{class: cost.Conjunct, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a < 262143 AND b < 262143 AND c < 262143 AND d < 262143", base: countHalf, times: 3},
	{class: cost.Members, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a IN (11, 5000, 70001, 131313, 200002, 300003, 400004)"},
	{class: cost.Semilinear, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a + 2 * b - 3 * c + 4 * d > 524288"},
	{class: cost.Program, bits: 19, sql: "SELECT COUNT(*) FROM %s WHERE a * b + c %% 7 > 1000000"},
	{class: cost.Sum, bits: 7, sql: "SELECT SUM(n) FROM %s"},
	{class: cost.Sum, bits: 19, sql: "SELECT SUM(a) FROM %s"},
	{class: cost.Sum, bits: 40, sql: "SELECT SUM(w) FROM %s"},
	{class: cost.SumOf, bits: 19, sql: "SELECT SUM(a)" + selected, base: countHalf},
	{class: cost.FloatSum, bits: 32, sql: "SELECT SUM(r) FROM %s"},
	{class: cost.FloatSum, bits: 62, sql: "SELECT SUM(x) FROM %s"},
	{class: cost.FloatSumOf, bits: 62, sql: "SELECT SUM(x)" + selected, base: countHalf},
	{class: cost.Kth, bits: 7, sql: "SELECT MEDIAN(n) FROM %s"},
	{class: cost.Kth, bits: 19, sql: "SELECT MEDIAN(a) FROM %s"},
	{class: cost.Kth, bits: 40, sql: "SELECT MEDIAN(w) FROM %s"},
	{class: cost.KthOf, bits: 19, sql: "SELECT MEDIAN(a)" + selected, base: countHalf},
	{class: cost.Extreme, bits: 7, sql: "SELECT MAX(n) FROM %s"},
	{class: cost.Extreme, bits: 19, sql: "SELECT MAX(a) FROM %s"},
	{class: cost.Extreme, bits: 40, sql: "SELECT MAX(w) FROM %s"},
	{class: cost.ExtremeOf, bits: 19, sql: "SELECT MAX(a)" + selected, base: countHalf},
	{class: cost.Extremes, bits: 19, sql: "SELECT MIN(a), MAX(a) FROM %s"},
	{class: cost.ExtremesOf, bits: 19, sql: "SELECT MIN(a), MAX(a)" + selected, base: countHalf},
}

// noWork is a query that has nothing to do.
const noWork = "SELECT COUNT(*) FROM %s"

// measurement is the median time of each measure, by backend and rows, in seconds.
type measurement map[string]map[int]map[string]float64 // backend, rows, sql

func (m measurement) set(backend string, rows int, sql string, took time.Duration) {
	if m[backend] == nil {
		m[backend] = map[int]map[string]float64{}
	}
	if m[backend][rows] == nil {
		m[backend][rows] = map[string]float64{}
	}
	m[backend][rows][sql] = took.Seconds()
}

// measureCosts fills in the profile. The two smallest tables are measured always, the
// others while there is time, without the algorithms that are slow already.
func (c *calibration) measureCosts(ctx context.Context) error {
	all := measurement{}
	for i, rows := range c.sizes.suite {
		if err := c.measureSize(ctx, all, rows, i > 1); err != nil {
			return err
		}
	}
	for _, name := range c.names {
		if c.found.wrong[name] {
			continue
		}
		b := c.fit(name, all[name])
		if err := c.measureAgain(ctx, name, &b); err != nil {
			return err
		}
		if err := c.measureUpload(ctx, name, &b); err != nil {
			return err
		}
		c.found.Profile.Backends[name] = b
	}
	return nil
}

// measureSize runs the measures on a table of that many rows; if hurried, as many as
// there is time for.
func (c *calibration) measureSize(ctx context.Context, all measurement, rows int, hurried bool) error {
	late := func() bool { return hurried && time.Since(c.start) > c.sizes.until }
	if late() {
		return nil
	}
	c.largest = rows
	name := fmt.Sprintf("rows%d", rows)
	if err := c.db.Add(synthetic(name, rows, 1)); err != nil {
		return err
	}
	list := append([]measure{{sql: noWork}}, suite...)
	for _, m := range list {
		if late() {
			return nil
		}
		s, err := c.db.Prepare(ctx, fmt.Sprintf(m.sql, name))
		if err != nil {
			return err
		}
		if err := c.measureOne(ctx, all, rows, m.sql, s); err != nil {
			return err
		}
	}
	return nil
}

// measureOne measures a statement on every backend that is not too slow for it. The
// repetitions of one backend lie between those of the others.
func (c *calibration) measureOne(ctx context.Context, all measurement, rows int, sql string, s *Statement) error {
	times := map[string][]time.Duration{}
	for _, name := range c.names {
		if c.tooSlow(all[name], rows, sql) {
			continue
		}
		_, _, err := c.on(ctx, name, s) // uploads and compiles
		switch {
		case errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDeviceMemory):
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed(name, err)
		default:
			times[name] = nil
		}
	}
	for i := range 3 * repetitions {
		for _, name := range c.names {
			list, ok := times[name]
			if !ok || enough(i, list) {
				continue
			}
			took, err := c.time(ctx, name, s)
			if err != nil {
				return err
			}
			times[name] = append(list, took)
		}
	}
	for name, list := range times {
		all.set(name, rows, sql, median(list))
	}
	return nil
}

// time times a statement. One that is short runs a few times before: it would pay for
// the caches, and for the sleep of threads and device, that the backend before it left
// behind, which costs more than such a query.
func (c *calibration) time(ctx context.Context, backend string, s *Statement) (took time.Duration, err error) {
	for i := 0; i == 0 || i < 4 && took < time.Millisecond; i++ {
		if _, took, err = c.on(ctx, backend, s); err != nil {
			return 0, err
		}
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
func (c *calibration) tooSlow(m map[int]map[string]float64, rows int, sql string) bool {
	last := 0
	for _, n := range c.sizes.suite {
		if n < rows {
			last = n
		}
	}
	if last == 0 {
		return false
	}
	took, ok := m[last][sql]
	return !ok || took*float64(rows)/float64(last) > c.sizes.dear.Seconds()
}

// fit turns what the measures of a backend took into costs.
func (c *calibration) fit(name string, m map[int]map[string]float64) cost.Backend {
	b := cost.Backend{Swept: name == "cpu", Costs: map[cost.Class]cost.Curves{}}
	b.Overhead = m[c.sizes.suite[0]][noWork]
	for _, x := range suite {
		base := noWork
		if x.base != "" {
			base = x.base
		}
		var points []cost.Point
		for _, rows := range c.sizes.suite {
			took, ok := m[rows][x.sql]
			less, okBase := m[rows][base]
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

// measureAgain finds what an algorithm costs once more for a further chunk.
func (c *calibration) measureAgain(ctx context.Context, backend string, b *cost.Backend) error {
	const chunks = 16
	least := c.sizes.suite[0]
	table := fmt.Sprintf("chunks%d", least)
	if _, ok := (&catalog{ctx: ctx, db: c.db}).Table(table); !ok {
		if err := c.db.Add(synthetic(table, least, chunks)); err != nil {
			return err
		}
	}
	s, err := c.db.Prepare(ctx, fmt.Sprintf(countHalf, table))
	if err != nil {
		return err
	}
	var times []time.Duration
	for range 1 + repetitions {
		_, took, err := c.on(ctx, backend, s)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	b.FitAgain(median(times[1:]).Seconds(), chunks)
	return nil
}

// measureUpload fits the time of an upload to that of a small column and a large one.
func (c *calibration) measureUpload(ctx context.Context, backend string, b *cost.Backend) error {
	var x, y [2]float64 // bytes, seconds
	for i, rows := range []int{c.sizes.suite[0], c.largest} {
		var times []time.Duration
		for f := range fresh {
			s, err := c.db.Prepare(ctx, fmt.Sprintf("SELECT COUNT(*) FROM rows%d WHERE fresh%d < %d", rows, f, half))
			if err != nil {
				return err
			}
			a, _, err := c.on(ctx, backend, s)
			if err != nil {
				return err
			}
			if a.Load == 0 { // it reads the table where it is
				return nil
			}
			times = append(times, a.Load)
		}
		x[i], y[i] = float64(4*rows), median(times).Seconds()
	}
	b.Upload = cost.FitTransfer(x, y)
	return nil
}
