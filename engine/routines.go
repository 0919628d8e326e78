package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/pass"
)

// UnitCost is what one operation of the backend classic takes on a device.
type UnitCost struct {
	Name             string  `json:"name"` // of the paper's routine, or "upload"
	SQL              string  `json:"sql,omitempty"`
	Passes           int     `json:"passes"`
	MS               float64 `json:"ms"`
	RecordsPerSecond float64 `json:"records_per_s"`
}

// routine is a routine of the paper to measure.
type routine struct {
	name string
	sql  string
	part string // "copy" or "rest": only these passes of the statement
}

var routines = []routine{
	{"CopyToDepth", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %d", half), "copy"},
	{"Compare", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %d", half), "rest"},
	{"Range", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a BETWEEN %d AND %d", half/2, half), "rest"},
	{"EvalCNF", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %[1]d AND b < %[1]d AND c < %[1]d AND d < %[1]d", half), ""},
	{"Semilinear", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a + 2 * b - 3 * c + 4 * d > %d", 2*half), ""},
	{"MEDIAN", "SELECT MEDIAN(a) FROM uniform", ""},
	{"SUM", "SELECT SUM(a) FROM uniform", ""},
}

// measureRoutines fills in the costs of the paper's routines. The repetitions of one
// lie between those of the others, so that what else the machine does falls on all
// alike.
func (c *calibration) measureRoutines(ctx context.Context, rows int) error {
	if err := c.db.Add(synthetic("uniform", rows, 1)); err != nil {
		return err
	}
	for _, r := range routines { // uploads a to d and compiles
		if err := c.compare(ctx, r.sql); err != nil {
			return err
		}
	}
	upload := make([]time.Duration, fresh)
	times := make([][]time.Duration, len(routines))
	passes := make([]int, len(routines))
	for i := range repetitions {
		s, err := c.db.Prepare(ctx, fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE fresh%d < %d", i%fresh, half))
		if err != nil {
			return err
		}
		a, _, err := c.on(ctx, "classic", s)
		if err != nil {
			return err
		}
		upload[i%fresh] = a.Load
		for j, r := range routines {
			took, n, err := c.routine(ctx, r)
			if err != nil {
				return err
			}
			times[j], passes[j] = append(times[j], took), n
		}
	}
	c.found.Costs = []UnitCost{unitCost(routine{name: "upload"}, 0, rows, upload)}
	for j, r := range routines {
		c.found.Costs = append(c.found.Costs, unitCost(r, passes[j], rows, times[j]))
	}
	return nil
}

func unitCost(r routine, passes, rows int, times []time.Duration) UnitCost {
	took := median(times)
	return UnitCost{Name: r.name, SQL: r.sql, Passes: passes,
		MS: float64(took) / 1e6, RecordsPerSecond: float64(rows) / took.Seconds()}
}

// routine measures once: a whole statement by the wall clock, or some of its passes,
// each waited for.
func (c *calibration) routine(ctx context.Context, r routine) (took time.Duration, passes int, err error) {
	s, err := c.db.Prepare(ctx, r.sql)
	if err != nil {
		return 0, 0, err
	}
	if r.part == "" {
		a, took, err := c.on(ctx, "classic", s)
		if err != nil {
			return 0, 0, err
		}
		return took, a.Passes, nil
	}
	b, _, err := c.db.open(ctx, "classic", new(time.Duration))
	if err != nil {
		return 0, 0, err
	}
	_, steps, err := b.(analyzer).Analyze(ctx, s.plan)
	if err != nil {
		return 0, 0, err
	}
	for _, step := range steps {
		if _, copies := step.Op.(pass.CopyToDepth); copies == (r.part == "copy") {
			took += step.Elapsed
			passes++
		}
	}
	return took, passes, nil
}
