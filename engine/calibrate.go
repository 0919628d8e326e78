package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Calibration is what [Calibrate] found on a device.
type Calibration struct {
	// Comparisons is the number of answers of backends on the device that were
	// compared with those of cpu, Mismatches how many differed, and Examples the
	// first of these in words.
	Comparisons int      `json:"comparisons"`
	Mismatches  int      `json:"mismatches"`
	Examples    []string `json:"examples,omitempty"`
	// Rows is the number of records, uniform integers of Bits bits, that Costs, of
	// the paper's routines on classic, are of; each is the median of Repetitions.
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

	wrong map[string]bool // backends
}

// Err is an error when the device gave a wrong answer, or failed.
func (c *Calibration) Err() error {
	if c.Mismatches == 0 {
		if len(c.Failures) > 0 {
			return fmt.Errorf("engine: %s: use --backend cpu, or another --device", c.Failures[0])
		}
		return nil
	}
	return fmt.Errorf("engine: %d of %d answers on this device differ from cpu, the first: %s: use --backend cpu, or another --device",
		c.Mismatches, c.Comparisons, c.Examples[0])
}

// sizes are those of a calibration.
type sizes struct {
	exactness int           // rows of the table whose answers are compared
	every     int           // of so many statements one is compared; 1: all
	routines  int           // rows of the table that the paper's routines are measured on
	suite     []int         // rows of those that the costs are measured on, ascending
	dear      time.Duration // what is expected to take longer on a table is not measured on it
	until     time.Duration // nothing is measured on large tables after that
}

const (
	repetitions = 5
	maxExamples = 5
)

// sizesFor are those of a kind of device. In software one statement in 13 is
// compared, by each operator in its turn: the programs alone take seconds to compile.
func sizesFor(software bool) sizes {
	if software {
		return sizes{1 << 12, 13, 1 << 18, []int{1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22}, 80 * time.Millisecond, 15 * time.Second}
	}
	return sizes{1 << 16, 1, 1 << 20, []int{1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24}, 80 * time.Millisecond, 15 * time.Second}
}

// Calibrate checks the device that o picks and measures it and the CPU. Checked is
// that every comparison and range is exact on every backend around each power of
// two, for codes in each of the layouts that classic uses (up to 22, 24, 48 and 64
// bits, with NULLs). Measured are the costs that auto goes by, and what the paper's
// routines take on classic. It takes less than 20 seconds on two cores with a
// software rasteriser. o.Backend is ignored; nothing is kept: see [cost.Save].
//
// Wrong answers are no error here: see [Calibration.Err].
func Calibrate(ctx context.Context, o Options) (*Calibration, error) {
	return calibrate(ctx, o, nil)
}

// calibrate is Calibrate with tables of the sizes given, if any.
func calibrate(ctx context.Context, o Options, s *sizes) (found *Calibration, err error) {
	start := time.Now()
	o.Backend = "auto"
	db, err := Open(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	device, err := db.openDevice(ctx, new(time.Duration))
	if err != nil {
		return nil, err
	}
	opening := time.Since(start)
	if s == nil {
		d := sizesFor(device.key().Software)
		s = &d
	}
	c := &calibration{db: db, sizes: *s, start: start, found: &Calibration{
		Rows: s.routines, Bits: uniformBits, Repetitions: repetitions, wrong: map[string]bool{},
		Profile: &cost.Profile{Key: device.key(), Measured: start, Opening: opening.Seconds(), Backends: map[string]cost.Backend{}},
	}}
	for _, name := range Backends() {
		if name != "auto" {
			c.names = append(c.names, name)
		}
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	c.found.Seconds = time.Since(start).Seconds()
	return c.found, nil
}

// calibration is a calibration in progress.
type calibration struct {
	db      *DB
	names   []string // of the backends, cpu among them
	sizes   sizes
	start   time.Time
	largest int // rows of the largest table measured
	found   *Calibration
}

func (c *calibration) run(ctx context.Context) error {
	if err := c.checkBoundaries(ctx, c.sizes.exactness); err != nil {
		return err
	}
	if err := c.measureRoutines(ctx, c.sizes.routines); err != nil {
		return err
	}
	return c.measureCosts(ctx)
}

// on executes a statement on one backend.
func (c *calibration) on(ctx context.Context, backend string, s *Statement) (*plan.Answer, time.Duration, error) {
	b, _, err := c.db.open(ctx, backend, new(time.Duration))
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	a, err := b.Execute(ctx, s.plan)
	return a, time.Since(start), err
}

// failed leaves out a backend from now on.
func (c *calibration) failed(backend string, err error) {
	c.found.Failures = append(c.found.Failures, backend+": "+err.Error())
	c.found.wrong[backend] = true
	c.names = slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return name == backend })
}

// compare answers a statement on every backend and compares the answers with that of
// cpu.
func (c *calibration) compare(ctx context.Context, sql string) error {
	s, err := c.db.Prepare(ctx, sql)
	if err != nil {
		return err
	}
	want, _, err := c.on(ctx, "cpu", s)
	if err != nil {
		return err
	}
	for _, name := range c.names {
		if name == "cpu" {
			continue
		}
		got, _, err := c.on(ctx, name, s)
		switch {
		case errors.Is(err, ErrUnsupported):
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed(name, err)
			continue
		}
		c.found.record(name, sql, got.Values[0], want.Values[0])
	}
	return nil
}

// record keeps the outcome of one comparison.
func (c *Calibration) record(backend, sql string, got, want table.Value) {
	c.Comparisons++
	if got.Null == want.Null && (got.Null || table.Compare(got, want) == 0) {
		return
	}
	c.Mismatches++
	c.wrong[backend] = true
	if len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, fmt.Sprintf("%s: %s gives %v, not %v", backend, sql, got, want))
	}
}

// checkBoundaries compares the backends around every power of two.
func (c *calibration) checkBoundaries(ctx context.Context, rows int) error {
	t, err := boundaryTable(rows)
	if err != nil {
		return err
	}
	if err := c.db.Add(t); err != nil {
		return err
	}
	for i, bits := range layouts {
		for j, where := range boundaryPredicates(t.Fields[i].Name, boundaries(bits)) {
			if j%c.sizes.every != 0 {
				continue
			}
			if err := c.compare(ctx, "SELECT COUNT(*) FROM boundaries WHERE "+where); err != nil {
				return err
			}
		}
	}
	return nil
}

// median of times that are not empty; it sorts them.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return max(times[len(times)/2], 1) // a nanosecond: a clock may stand still
}
