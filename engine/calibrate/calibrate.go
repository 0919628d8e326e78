package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// Calibration is what [Device] found on a device.
type Calibration struct {
	// Comparisons is how many answers of backends on the device were compared with those of cpu. Mismatches
	// is how many differed, and Examples has the first of these in words.
	Comparisons int      `json:"comparisons"`
	Mismatches  int      `json:"mismatches"`
	Examples    []string `json:"examples,omitempty"`
	// Costs has the costs of the paper's routines on classic, over Rows records: uniform integers of Bits
	// bits. Each cost is the median of Repetitions.
	Rows        int        `json:"rows"`
	Bits        int        `json:"bits"`
	Repetitions int        `json:"repetitions"`
	Costs       []UnitCost `json:"costs"`
	// Profile is what auto goes by, without the backends that gave wrong answers.
	Profile *cost.Profile `json:"profile"`
	// Failures are the errors of backends that failed where they should not; auto
	// gets no costs of these either.
	Failures []string `json:"failures,omitempty"`
	// Seconds is what the calibration took.
	Seconds float64 `json:"seconds"`
}

// UnitCost is what one operation of the backend classic takes on a device.
type UnitCost struct {
	Name             string  `json:"name"` // of the paper's routine, or "upload"
	SQL              string  `json:"sql,omitempty"`
	Passes           int     `json:"passes"`
	MS               float64 `json:"ms"`
	RecordsPerSecond float64 `json:"records_per_s"`
}

// Err is an error when the device gave a wrong answer, or failed.
func (c *Calibration) Err() error {
	switch {
	case c.Mismatches > 0:
		return fmt.Errorf("engine: %d of %d answers on this device differ from cpu, the first: %s: use --backend cpu, or another --device",
			c.Mismatches, c.Comparisons, c.Examples[0])
	case len(c.Failures) > 0:
		return fmt.Errorf("engine: %s: use --backend cpu, or another --device", c.Failures[0])
	}
	return nil
}

type sizes struct {
	suite    []int         // rows of the tables, ascending
	routines int           // rows of the one that the paper's routines are measured on
	dear     time.Duration // what is expected to take longer on a table is not measured on it
	until    time.Duration // nothing is measured on large tables after that
}

const (
	repetitions = 5
	maxExamples = 5
)

// Device measures the device that o picks and the CPU: the costs that auto goes by,
// and what the paper's routines take on classic. The answers of the backends on the
// device are compared with those of cpu. It takes less than 20 seconds on two cores with
// a software rasteriser. o.Backend is ignored; nothing is kept: see [cost.Save].
//
// Wrong answers are no error here: see [Calibration.Err].
func Device(ctx context.Context, o engine.Options) (*Calibration, error) {
	return calibrate(ctx, o, nil)
}

// calibrate is [Device] with tables of the sizes given, if any.
func calibrate(ctx context.Context, o engine.Options, s *sizes) (found *Calibration, err error) {
	start := time.Now()
	o.Backend = "auto"
	db, err := engine.Open(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	device, err := engine.Inspect(db).GPU(ctx)
	if err != nil {
		return nil, err
	}
	key := devicepool.KeyOf(device.Context.Caps())
	opening := time.Since(start)
	if s == nil {
		s = &sizes{[]int{1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24}, 1 << 20, 80 * time.Millisecond, 15 * time.Second}
		if key.Software {
			s.suite[4], s.routines = 1<<22, 1<<17
		}
	}
	c := &calibration{db: db, sizes: *s, start: start, joined: map[int]int{}, names: []string{"cpu", "classic", "fused", "compute"}, found: &Calibration{
		Rows: s.routines, Bits: 19, Repetitions: repetitions,
		Profile: &cost.Profile{Key: key, Measured: start, Opening: opening.Seconds(), Backends: map[string]cost.Backend{}},
	}}
	if err := c.measureCosts(ctx); err != nil {
		return nil, err
	}
	if slices.Contains(c.names, "classic") {
		if err := c.measureRoutines(ctx); err != nil {
			return nil, err
		}
	}
	c.found.Seconds = time.Since(start).Seconds()
	return c.found, nil
}

// statement is a statement that is planned: an [engine.Planned].
type statement interface {
	Text() string
	ExecuteOn(ctx context.Context, backend string) ([]table.Value, engine.Stats, error)
}

type calibration struct {
	db      *engine.DB
	names   []string // of the backends that have not failed, cpu first
	sizes   sizes
	start   time.Time
	largest int         // rows of the largest table measured
	joined  map[int]int // rows of the join of a table of so many rows to itself, on cpu
	found   *Calibration
}

// able executes a statement on each of some backends, which uploads and compiles, and returns those that can
// do it. The answers are compared with that of cpu, if cpu is one of them. A backend that fails or gives a
// wrong answer is left out from then on.
func (c *calibration) able(ctx context.Context, names []string, s statement) (list []string, err error) {
	var want []table.Value
	for _, name := range names {
		got, _, err := s.ExecuteOn(ctx, name)
		switch {
		case errors.Is(err, backends.ErrUnsupported) || errors.Is(err, backends.ErrDeviceMemory):
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			c.found.Failures = append(c.found.Failures, name+": "+err.Error())
		case name == "cpu":
			want = got
		case want != nil:
			err = c.found.compare(name, s.Text(), got[0], want[0])
		}
		if err == nil {
			list = append(list, name)
		} else {
			c.names = slices.DeleteFunc(slices.Clone(c.names), func(n string) bool { return n == name })
		}
	}
	return list, nil
}

// compare keeps the outcome of one comparison; a wrong answer is an error.
func (c *Calibration) compare(backend, sql string, got, want table.Value) error {
	c.Comparisons++
	if got.Null == want.Null && (got.Null || table.Compare(got, want) == 0) {
		return nil
	}
	c.Mismatches++
	err := fmt.Errorf("%s: %s gives %v, not %v", backend, sql, got, want)
	if len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, err.Error())
	}
	return err
}

// routine is a routine of the paper to measure: a statement, or the passes of one that
// copy to the depth buffer, or the others.
type routine struct{ name, sql, part string }

var routines = []routine{
	{"CopyToDepth", countHalf, "copy"}, {"Compare", countHalf, "rest"}, {"Range", countRange, "rest"},
	{"EvalCNF", countCNF, ""}, {"Semilinear", countSemilinear, ""}, {"MEDIAN", medianAll, ""}, {"SUM", sumAll, ""},
}

// measureRoutines fills in the costs of the paper's routines.
func (c *calibration) measureRoutines(ctx context.Context) error {
	rows := c.sizes.routines
	add := func(name, sql string, passes int, seconds float64) {
		c.found.Costs = append(c.found.Costs, UnitCost{name, sql, passes, 1e3 * seconds, float64(rows) / seconds})
	}
	add("upload", "", 0, c.found.Profile.Backends["classic"].Upload.Time(4*int64(rows)))
	for _, r := range routines {
		s, err := engine.Inspect(c.db).Plan(ctx, fmt.Sprintf(r.sql, tableOf(rows)))
		if err != nil {
			return err
		}
		var times []time.Duration
		passes := 0
		for range 1 + repetitions {
			took, err := c.routine(ctx, s, r.part)
			if err != nil {
				return err
			}
			passes, times = took.Passes, append(times, took.Elapsed)
		}
		add(r.name, s.Text(), passes, median(times[1:]).Seconds())
	}
	return nil
}

// routine executes a statement on classic, or some of its passes, each waited for.
func (c *calibration) routine(ctx context.Context, s *engine.Planned, part string) (took engine.Stats, err error) {
	if part == "" {
		_, took, err = s.ExecuteOn(ctx, "classic")
		return took, err
	}
	steps, err := s.PassesOn(ctx, "classic")
	for _, step := range steps {
		if _, copies := step.Op.(pass.CopyToDepth); copies == (part == "copy") {
			took.Elapsed += time.Duration(*step.MS * 1e6)
			took.Passes++
		}
	}
	return took, err
}

// median of times that are not empty; it sorts them.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return max(times[len(times)/2], 1) // a nanosecond: a clock may stand still
}
