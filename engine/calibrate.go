package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/table"
)

// Calibration is what [Calibrate] found on a device.
type Calibration struct {
	// Comparisons is the number of statements whose answers on classic were
	// compared with those of cpu, Mismatches how many differed, and Examples the
	// first of these in words.
	Comparisons int      `json:"comparisons"`
	Mismatches  int      `json:"mismatches"`
	Examples    []string `json:"examples,omitempty"`
	// Rows is the number of records, uniform integers of Bits bits, that the costs
	// are of; each is the median of Repetitions.
	Rows        int        `json:"rows"`
	Bits        int        `json:"bits"`
	Repetitions int        `json:"repetitions"`
	Costs       []UnitCost `json:"costs"`
}

// UnitCost is what one operation of the backend classic takes on a device.
type UnitCost struct {
	Name             string  `json:"name"` // of the paper's routine, or "upload"
	SQL              string  `json:"sql,omitempty"`
	Passes           int     `json:"passes"`
	MS               float64 `json:"ms"`
	RecordsPerSecond float64 `json:"records_per_s"`
}

// Err is an error when the device gave a wrong answer.
func (c *Calibration) Err() error {
	if c.Mismatches == 0 {
		return nil
	}
	return fmt.Errorf("engine: %d of %d answers of classic on this device differ from cpu, the first: %s: use --backend cpu, or another --device",
		c.Mismatches, c.Comparisons, c.Examples[0])
}

const (
	calibrationRows = 1 << 20
	exactnessRows   = 1 << 16
	repetitions     = 5
	maxExamples     = 5
	uniformBits     = 19 // of the paper's data_count
)

// Calibrate checks the device that o picks and measures it: that every comparison
// and range is exact around each power of two, for codes in each of the layouts
// that classic uses (up to 22, 24, 48 and 64 bits, with NULLs), and what the
// paper's routines take over 1,048,576 records. It takes seconds on a software
// rasteriser. o.Backend is ignored.
//
// Wrong answers are no error here: see [Calibration.Err].
func Calibrate(ctx context.Context, o Options) (*Calibration, error) {
	return calibrate(ctx, o, exactnessRows, calibrationRows)
}

// calibrate is Calibrate on tables of these sizes.
func calibrate(ctx context.Context, o Options, exactness, costs int) (c *Calibration, err error) {
	p := &pair{found: &Calibration{Rows: costs, Bits: uniformBits, Repetitions: repetitions}}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(o); err != nil {
		return nil, err
	}
	if err := p.checkBoundaries(ctx, exactness); err != nil {
		return nil, err
	}
	if err := p.measure(ctx, costs); err != nil {
		return nil, err
	}
	return p.found, nil
}

// pair is the backend to calibrate and the one that it is compared with.
type pair struct {
	classic, cpu *DB
	found        *Calibration
}

func (p *pair) open(o Options) (err error) {
	o.Backend = "classic"
	if p.classic, err = Open(o); err != nil {
		return err
	}
	if p.cpu, err = Open(Options{Backend: "cpu"}); err != nil {
		return err
	}
	return p.classic.Prepare()
}

func (p *pair) add(t *table.Table) error { return errors.Join(p.classic.Add(t), p.cpu.Add(t)) }

func (p *pair) close() error {
	var errs []error
	for _, db := range []*DB{p.classic, p.cpu} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// compare answers a statement on both and returns the answer of classic.
func (p *pair) compare(ctx context.Context, sql string) (*Result, error) {
	got, err := p.classic.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	want, err := p.cpu.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	p.found.record(sql, got.Rows[0][0], want.Rows[0][0])
	return got, nil
}

// record keeps the outcome of one comparison.
func (c *Calibration) record(sql string, got, want table.Value) {
	c.Comparisons++
	if got.Null == want.Null && (got.Null || table.Compare(got, want) == 0) {
		return
	}
	c.Mismatches++
	if len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, fmt.Sprintf("%s gives %v, not %v", sql, got, want))
	}
}

// layouts are the widths in bits at which classic stores codes differently: as
// integers in 24 bits of depth, as floats, in two limbs, in three.
var layouts = []int{22, 24, 48, 64}

// checkBoundaries compares the two backends around every power of two.
func (p *pair) checkBoundaries(ctx context.Context, rows int) error {
	t, err := boundaryTable(rows)
	if err != nil {
		return err
	}
	if err := p.add(t); err != nil {
		return err
	}
	for i, bits := range layouts {
		for _, where := range boundaryPredicates(t.Fields[i].Name, boundaries(bits)) {
			if _, err := p.compare(ctx, "SELECT COUNT(*) FROM boundaries WHERE "+where); err != nil {
				return err
			}
		}
	}
	return nil
}

// boundaries lists 0, the powers of two up to 2^bits and their neighbours as
// integers of bits bits, ascending. Those of 64 bits count from the smallest
// BIGINT, whose code is 0.
func boundaries(bits int) []int64 {
	codes := []uint64{0}
	for k := range bits {
		codes = append(codes, 1<<k-1, 1<<k, 1<<k+1)
	}
	last := ^uint64(0) >> (64 - bits)
	codes = append(codes, last-1, last)
	slices.Sort(codes)
	var list []int64
	for _, c := range slices.Compact(codes) {
		if bits == 64 {
			c ^= 1 << 63
		}
		list = append(list, int64(c))
	}
	return list
}

// boundaryTable has a column a layout, with each boundary in its turn at places
// that follow no line of a texture, and a tenth NULL.
func boundaryTable(rows int) (*table.Table, error) {
	var fields []table.Field
	for _, bits := range layouts {
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", bits), Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("boundaries", fields, 0)
	random := rand.New(rand.NewPCG(uint64(rows), 0))
	for i, bits := range layouts {
		values := boundaries(bits)
		for row := range rows {
			switch {
			case row < len(values): // each once, whatever the dice say
				b.Column(i).Int(values[row])
			case random.IntN(10) == 0:
				b.Column(i).Null()
			default:
				b.Column(i).Int(values[random.IntN(len(values))])
			}
		}
	}
	if err := b.EndRows(rows); err != nil {
		return nil, err
	}
	return b.Table(), nil
}

// boundaryPredicates compares a column with each constant by the six operators
// and as the start of a range.
func boundaryPredicates(column string, constants []int64) []string {
	list := []string{column + " IS NULL", column + " IS NOT NULL"}
	for i, c := range constants {
		for _, op := range []string{"<", "<=", "=", "<>", ">=", ">"} {
			list = append(list, fmt.Sprintf("%s %s %d", column, op, c))
		}
		end := constants[min(i+4, len(constants)-1)] // over the next power of two
		list = append(list, fmt.Sprintf("%s BETWEEN %d AND %d", column, c, end))
	}
	return list
}

// cost is an operation to measure.
type cost struct {
	name string
	sql  string
	part string // "copy" or "rest": only these passes of the statement
}

const half = 1 << (uniformBits - 1)

var costs = []cost{
	{"CopyToDepth", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %d", half), "copy"},
	{"Compare", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %d", half), "rest"},
	{"Range", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a BETWEEN %d AND %d", half/2, half), "rest"},
	{"EvalCNF", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a < %[1]d AND b < %[1]d AND c < %[1]d AND d < %[1]d", half), ""},
	{"Semilinear", fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE a + 2 * b - 3 * c + 4 * d > %d", 2*half), ""},
	{"MEDIAN", "SELECT MEDIAN(a) FROM uniform", ""},
	{"SUM", "SELECT SUM(a) FROM uniform", ""},
}

// measure fills in the costs. The repetitions of one operation lie between those
// of the others, so that what else the machine does falls on all alike.
func (p *pair) measure(ctx context.Context, rows int) error {
	t, err := uniformTable(rows)
	if err != nil {
		return err
	}
	if err := p.add(t); err != nil {
		return err
	}
	for _, c := range costs { // uploads a to d and compiles
		if _, err := p.compare(ctx, c.sql); err != nil {
			return err
		}
	}
	upload := make([]time.Duration, repetitions)
	times := make([][]time.Duration, len(costs))
	passes := make([]int, len(costs))
	for i := range repetitions {
		r, err := p.classic.Query(ctx, fmt.Sprintf("SELECT COUNT(*) FROM uniform WHERE fresh%d < %d", i, half))
		if err != nil {
			return err
		}
		upload[i] = r.Load
		for j, c := range costs {
			took, n, err := c.run(ctx, p.classic)
			if err != nil {
				return err
			}
			times[j], passes[j] = append(times[j], took), n
		}
	}
	p.found.Costs = []UnitCost{unitCost(cost{name: "upload"}, 0, rows, upload)}
	for j, c := range costs {
		p.found.Costs = append(p.found.Costs, unitCost(c, passes[j], rows, times[j]))
	}
	return nil
}

func unitCost(c cost, passes, rows int, times []time.Duration) UnitCost {
	slices.Sort(times)
	took := max(times[len(times)/2], 1) // a nanosecond: a clock may stand still
	return UnitCost{Name: c.name, SQL: c.sql, Passes: passes,
		MS: float64(took) / 1e6, RecordsPerSecond: float64(rows) / took.Seconds()}
}

// run measures once: a whole statement by the wall clock, or some of its passes,
// each waited for.
func (c cost) run(ctx context.Context, db *DB) (took time.Duration, passes int, err error) {
	if c.part == "" {
		r, err := db.Query(ctx, c.sql)
		if err != nil {
			return 0, 0, err
		}
		return r.Elapsed, r.Passes, nil
	}
	x, err := db.Explain(ctx, c.sql, true, false)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range x.Steps {
		if strings.HasPrefix(s.Pass, "CopyToDepth(") == (c.part == "copy") {
			took += s.Elapsed
			passes++
		}
	}
	return took, passes, nil
}

// uniformTable has columns a to d of uniform integers, and one more a repetition
// whose upload can be timed.
func uniformTable(rows int) (*table.Table, error) {
	integer := table.Type{Kind: table.Integer}
	var fields []table.Field
	for _, name := range []string{"a", "b", "c", "d"} {
		fields = append(fields, table.Field{Name: name, Type: integer})
	}
	for i := range repetitions {
		fields = append(fields, table.Field{Name: fmt.Sprintf("fresh%d", i), Type: integer})
	}
	b := table.NewBuilder("uniform", fields, 0)
	for i := range fields {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		c := b.Column(i)
		for row := range rows {
			switch row {
			case 0: // the ends of the range, for the width
				c.Int(0)
			case 1:
				c.Int(1<<uniformBits - 1)
			default:
				c.Int(int64(random.Uint64() >> (64 - uniformBits)))
			}
		}
	}
	if err := b.EndRows(rows); err != nil {
		return nil, err
	}
	return b.Table(), nil
}
