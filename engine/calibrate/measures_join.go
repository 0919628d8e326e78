package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// joinSelf joins a table to itself by nearly unique keys; the smallest and the largest of them are in many rows.
const joinSelf = "SELECT x.w, y.a FROM %[1]s x JOIN %[1]s y ON x.w = y.w WHERE x.w BETWEEN 1 AND 1099511627774"

// measureJoins measures what a join takes to count its pairs, over the rows of both sides. It also measures what
// it takes to list the pairs, and to gather a column of each side.
func (c *calibration) measureJoins(ctx context.Context, backend string, b *cost.Backend) error {
	if backend != "cpu" && backend != "compute" {
		return nil
	}
	var counted, listed []cost.Point
	for _, rows := range c.sizes.suite {
		if n := len(counted); rows > c.largest || n > 0 && counted[n-1].Seconds*float64(2*rows)/float64(counted[n-1].Rows) > c.sizes.dear.Seconds() {
			break
		}
		if _, known := c.joined[rows]; !known && backend != "cpu" { // it took cpu too long
			break
		}
		text := fmt.Sprintf(joinSelf, tableOf(rows))
		count, found, err := c.join(ctx, backend, text, nil)
		if err != nil {
			return err
		}
		if backend == "cpu" {
			c.joined[rows] = found
		} else if err := c.found.compare(backend, text, table.Int(int64(found)), table.Int(int64(c.joined[rows]))); err != nil {
			return nil // it gets no costs of joins
		}
		list, _, err := c.join(ctx, backend, text, []int{0, 1})
		if err != nil {
			return err
		}
		counted = append(counted, cost.Point{Rows: 2 * rows, Seconds: count})
		listed = append(listed, cost.Point{Rows: max(found, rows/2), Seconds: max(0, list-count)})
	}
	b.Costs[cost.Join], b.Costs[cost.Pairs] = cost.Curves{cost.NewCurve(40, counted)}, cost.Curves{cost.NewCurve(40, listed)}
	return nil
}

// join is the median time of a statement's join on a backend, in seconds. The join gathers some of the columns of
// the rows; rows is their number.
func (c *calibration) join(ctx context.Context, backend, text string, columns []int) (seconds float64, rows int, err error) {
	s, err := engine.Inspect(c.db).PlanJoin(ctx, text, backend, columns)
	if err != nil {
		return 0, 0, err
	}
	var times []time.Duration
	for range 1 + repetitions {
		start := time.Now()
		n, err := s(ctx)
		if err != nil {
			return 0, 0, err
		}
		times, rows = append(times, time.Since(start)), n
	}
	return median(times[1:]).Seconds(), rows, nil
}
