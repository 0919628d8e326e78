package hsu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
)

// paperRows is the largest table of the text.
const paperRows = 500_000

// Paper is the text's experiments.
func Paper() lab.Paper {
	return lab.Paper{
		Name: "hsu", Doc: "Hsu 2009: a database in GPU memory beside SQLite; --rows are the largest table's",
		Title:    "Implementation of a GPU Based Main Memory Database (2009): the evaluation, run again",
		Hardware: "a GeForce 9800 GT and a Core 2 Quad Q6600",
		Rows:     paperRows, Counted: "records", Software: paperRows, Here: paperRows,
		Notes: []string{
			"The text measured on a GeForce 9800 GT of 512 MB, CUDA 2.2, and a Core 2 Quad Q6600 of 2.4 GHz with 2 GB, beside SQLite in memory, whose version it does not give. It does not say how often it ran each case.",
			"Tables have 100 K to 500 K records of three integers, and a tenth and a fifth of 500 K in figures 4-1 to 4-4, as in the text. --rows is the largest; all other numbers of records are in proportion to it. On hardware there are tables of twice and of twenty times as many, too. On a software rasteriser figures 4-2 to 4-7 have fewer places.",
			"Tables stay in device memory. A result goes to host memory within the time, as published; figures 4-5 to 4-7 are without, by the device's timer where that is real.",
			"SQLite is measured with an index on c1, as the text reads it, and without. SQLite and DuckDB run by Go's database/sql, prepared statements: each record that comes back passes through it. The engine's statements give rows of values.",
			"An insertion of one record is a statement of its own. An update sets another value in each run; what a deletion takes comes back, and a table that was inserted into is made anew, before the next run's clock starts.",
			"A turning point is found by comparing medians of up to five runs, in turns, for 1, 4, 16, ... selected records, at most 1 Mi, and by bisection between the two places where the side changes that is ahead from there on.",
		},
		Figures: figures(), Systems: systems(), Claims: claims(), Most: most, Cases: cases,
	}
}

// most is the largest number of records. A storage block of the device holds a table whose capacity is a power of two, and host memory what
// databases take for it.
func most(c *glctx.Caps, memory int64) (rows int, holder string) {
	const inHost = 1000 // bytes of a record in all databases
	rows, holder = int(memory/inHost), "this machine's memory"
	block := min(c.MaxStorageBlock, c.Budget/4, math.MaxInt32)
	if capacity := 1 << (bits.Len64(uint64(block)/uint64(4*len(Columns))) - 1); capacity < rows {
		rows, holder = capacity, "a storage block of the device, of "+glctx.FormatSize(block)+","
	}
	return rows, holder
}

// capacityOf is the smallest power of two that holds so many records.
func capacityOf(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }

// point is a turning point over a table of n records.
type point struct{ n, q float64 }

// bed is what the cases share: the data of some sizes, and the database with tables of them.
type bed struct {
	*lab.Setting
	db    *DB
	data  map[int][2]Records // as they are, and by c1
	turns map[string][]point // of a function and two systems
}

// scaled is a number of the text's records, in proportion to the largest table.
func (b *bed) scaled(n int) int { return max(1, n*b.Rows/paperRows) }

// of gives n records, and these by c1; those of other sizes than sizes go.
func (b *bed) of(n int, sizes []int) (data, sorted Records) {
	for size := range b.data {
		if !slices.Contains(sizes, size) {
			delete(b.data, size)
		}
	}
	if _, ok := b.data[n]; !ok {
		r := Data(n, b.Seed)
		b.data[n] = [2]Records{r, r.Sort(C1)}
	}
	return b.data[n][0], b.data[n][1]
}

// ready opens the database, and makes its tables those of some sizes. It runs on the GL thread.
func (b *bed) ready(ctx context.Context, sizes ...int) error {
	if b.db == nil {
		b.db = Open(b.Devices[0])
		b.AtEnd(func() error { return b.db.Context.Do(context.Background(), func() error { b.db.Close(); return nil }) })
	}
	for name, t := range b.db.tables {
		if !slices.Contains(sizes, t.N) || name != nameOf(t.N) {
			if err := b.db.Drop(name); err != nil {
				return err
			}
		}
	}
	for _, n := range sizes {
		if b.db.tables[nameOf(n)] != nil {
			continue
		}
		data, _ := b.of(n, sizes)
		if err := b.load(ctx, nameOf(n), capacityOf(n), data); err != nil {
			return err
		}
	}
	return nil
}

func nameOf(n int) string { return fmt.Sprintf("t%d", n) }

// load makes a table of records, in the place of one of that name.
func (b *bed) load(ctx context.Context, name string, capacity int, r Records) error {
	if b.db.tables[name] != nil {
		if err := b.db.Drop(name); err != nil {
			return err
		}
	}
	t, err := b.db.Create(ctx, name, Columns, capacity)
	if err != nil || r == nil {
		return err
	}
	return t.Load(ctx, r)
}

// upTo is the condition of the experiments.
func upTo(q int) []Token { return []Token{{Column: C1, Compare: "<=", Value: int32(q)}} }

// The tables that functions change, beside those of the data.
const changed = "changed"

// published is the text's way to run a question: in device memory, the result in host memory.
func (b *bed) published(x *Question, n, capacity int) Do {
	runs := 0
	return func(ctx context.Context, q int, whole bool) (out Records, took lab.Took, err error) {
		err = b.db.Context.Do(ctx, func() error {
			if err := b.before(ctx, x, runs, capacity); err != nil {
				return err
			}
			runs++
			t, of, v := b.db.tables[changed], b.db.tables[nameOf(n)], int32(0)
			took, err = lab.Time(b.db.Context, func() (err error) {
				switch x.Function {
				case Select:
					out, err = b.db.Select(ctx, of, upTo(q))
				case SelectSort:
					out, err = b.db.SelectSorted(ctx, of, upTo(q), C3)
				case SelectGroup:
					out, err = b.db.SelectGrouped(ctx, of, upTo(q), C2, C3, Sum)
				case InsertSelect:
					err = b.db.InsertSelected(ctx, t, of, upTo(q))
				case UpdateSelected:
					v = Value(runs)
					err = b.db.Update(ctx, t, upTo(q), C3, v)
				case DeleteSelected:
					err = b.db.Delete(ctx, t, upTo(q))
				case Insert:
					var record [3]int32
					for i := range q {
						for c := range record {
							record[c] = x.More[c][i]
						}
						if err = t.Insert(ctx, record[:]); err != nil {
							return err
						}
					}
				}
				return err
			})
			if err != nil || !x.Function.Changes() {
				return err
			}
			if out, err = t.Read(); err == nil && !whole {
				out = Summary(out, v)
			}
			return err
		})
		return out, took, err
	}
}

// before makes what a run changes.
func (b *bed) before(ctx context.Context, x *Question, runs, capacity int) error {
	switch {
	case !x.Function.Changes(), x.Function == UpdateSelected && runs > 0:
		return nil
	case x.Function == InsertSelect:
		return b.load(ctx, changed, capacity, nil)
	}
	return b.load(ctx, changed, capacity, x.Data)
}

// bulk is Table.Load in the place of single insertions.
func (b *bed) bulk(x *Question, capacity int) Do {
	return func(ctx context.Context, q int, whole bool) (out Records, took lab.Took, err error) {
		err = b.db.Context.Do(ctx, func() error {
			if err := b.before(ctx, x, 0, capacity); err != nil {
				return err
			}
			t := b.db.tables[changed]
			took, err = lab.Time(b.db.Context, func() error { return t.Load(ctx, Records{x.More[C1][:q], x.More[C2][:q], x.More[C3][:q]}) })
			if err != nil {
				return err
			}
			if out, err = t.Read(); err == nil && !whole {
				out = Summary(out, 0)
			}
			return err
		})
		return out, took, err
	}
}

// sections runs do with a clock; of what is left there is a section, too, where rest names one.
func (b *bed) sections(do Do, q int, rest string) func(context.Context) ([]lab.Section, error) {
	return func(ctx context.Context) ([]lab.Section, error) {
		clock := &Clock{}
		b.db.Clock = clock
		defer func() { b.db.Clock = nil }()
		_, took, err := do(ctx, q, false)
		if rest == "" {
			return clock.Sections, err
		}
		left := took.Wall
		for _, s := range clock.Sections {
			left -= s.Took
		}
		return append(clock.Sections, lab.Section{What: rest, Name: rest, Took: left}), err
	}
}

// note keeps a turning point, and adds what is said of it: its number of records and its share. Over the last of several sizes of table it adds the slope, too.
func (b *bed) note(to map[string]float64, f Function, n int, of, over string, t Turn) {
	share := 100 * t.Q / float64(n)
	switch {
	case t.Q == 0 && t.Ahead:
		to[beside(aheadEverywhere, over)] = 1
		return
	case t.Q == 0:
		to[beside(behindEverywhere, over)] = 1
		return
	case !t.Ahead:
		to[beside(aheadUpTo, over)] = share
		return
	}
	to[beside(turningPoint, over)], to[beside(turningShare, over)] = t.Q, share
	key := string(f) + of + over
	b.turns[key] = append(b.turns[key], point{float64(n), t.Q})
	if n != b.Rows {
		return
	}
	var x, y []float64
	for _, p := range b.turns[key] {
		x, y = append(x, p.n), append(y, p.q)
	}
	if s, ok := slope(x, y); ok {
		to[beside(turningSlope, over)] = 100 * s
	}
}

// cases are those of the figures that are asked for.
func cases(s *lab.Setting) (list []lab.Case, err error) {
	b := &bed{Setting: s, data: map[int][2]Records{}, turns: map[string][]point{}}
	software := len(s.Devices) > 0 && s.Devices[0].Context.Caps().Software
	fifth, tenth := max(1, s.Rows/5), max(1, s.Rows/10)
	if s.Asked("4-1") {
		for _, steps := range insertions {
			list = append(list, b.inserts(tenth, steps))
		}
	}
	for _, parts := range []int{10, 5} {
		for _, f := range []Function{Select, SelectGroup, InsertSelect} {
			if !s.Asked(figureOf[f]) {
				continue
			}
			for _, q := range queried(software) {
				list = append(list, b.compares(figureOf[f], overPart(f, parts, q), f, max(1, s.Rows/parts), b.scaled(q), fmt.Sprint(q)))
			}
		}
	}
	if slices.ContainsFunc([]lab.Name{"4-5", "4-6", "4-7"}, s.Asked) {
		for _, q := range queriedOnDevice(software) {
			list = append(list, b.onDevice(fifth, q))
		}
	}
	if s.Asked("4-8") || s.Asked("table4-4") {
		sizes := []int{}
		for k := 1; k <= fifths; k++ {
			sizes = append(sizes, max(1, s.Rows*k/fifths))
		}
		if !software && len(s.Devices) > 0 {
			sizes = append(sizes, 2*s.Rows, 20*s.Rows)
		}
		for _, n := range slices.Compact(sizes) {
			if c := s.Devices; len(c) > 0 && len(Columns)*capacityOf(n) > c[0].Shapes.MaxWords {
				continue
			}
			for _, f := range Turning {
				list = append(list, b.turning(f.Function, n, max(1, int(math.Round(f.Share*float64(n)/100)))))
			}
		}
	}
	return list, nil
}

// question is one over n records.
func (b *bed) question(ctx context.Context, f Function, n, q int) (x *Question, err error) {
	x = &Question{Function: f, Q: q, ways: map[string]Do{}, bed: b}
	x.Data, x.sorted = b.of(n, []int{n})
	return x, b.Devices[0].Context.Do(ctx, func() error { return b.ready(ctx, n) })
}

// caseOf is a case whose question is made when it is opened.
func (b *bed) caseOf(c lab.Case, f Function, n, q int, open func(x *Question) []lab.Way) lab.Case {
	x := &Question{}
	c.Rows, c.Data = n, x
	c.Open = func(ctx context.Context) ([]lab.Way, error) {
		made, err := b.question(ctx, f, n, q)
		if err != nil {
			return nil, err
		}
		*x = *made
		return open(x), nil
	}
	c.Close = func() error { *x = Question{}; return nil }
	return c
}

// inserts is the insertion of so many hundredths of a table's n records.
func (b *bed) inserts(n, steps int) lab.Case {
	k := max(1, n*steps/100)
	return b.caseOf(lab.Case{Figure: "4-1", Name: inserted(steps), X: float64(k), Doing: fmt.Sprintf("%s: %d after %d", Insert.SQL(), k, n), Work: float64(k), Unit: "records"}, Insert, n, k, func(x *Question) []lab.Way {
		x.More = Data(k, b.Seed+1)
		for i := range x.More[C1] {
			x.More[C1][i] += int32(n)
		}
		w := x.Way(gpu, true, b.published(x, n, capacityOf(n)))
		w.Sections = b.sections(x.ways[gpu], k, singly)
		return []lab.Way{w, x.Way(gpuBulk, true, b.bulk(x, capacityOf(n)))}
	})
}

// compares is a function over n records beside others.
func (b *bed) compares(figure lab.Name, name string, f Function, n, q int, published string) lab.Case {
	q = min(q, n)
	return b.caseOf(lab.Case{Figure: figure, Name: name, X: float64(q), Doing: f.SQL() + ", q = " + published, Work: float64(n), Unit: "records"}, f, n, q, func(x *Question) []lab.Way {
		return []lab.Way{x.Way(gpu, true, b.published(x, n, b.capacity(f, n)))}
	})
}

// capacity is that of the table that a function changes: of an empty one 1,024, in proportion to the largest table.
func (b *bed) capacity(f Function, n int) int {
	if f == InsertSelect {
		return 1 << (bits.Len(uint(b.scaled(emptyCapacity))) - 1)
	}
	return capacityOf(n)
}

// turning is a function over n records, with its turning points as counters.
func (b *bed) turning(f Function, n, q int) lab.Case {
	q = min(q, n)
	return b.caseOf(lab.Case{Figure: "4-8", Name: turned(f), X: float64(n), Doing: fmt.Sprintf("%s, q = %d, and its turning points", f.SQL(), q), Work: float64(n), Unit: "records"}, f, n, q, func(x *Question) []lab.Way {
		x.turning = true
		return []lab.Way{x.Way(gpu, true, b.published(x, n, b.capacity(f, n)))}
	})
}

// onDevice is selection and grouping on the device alone, over each of the five sizes of table: what selects and what groups are sections.
func (b *bed) onDevice(fifth, published int) lab.Case {
	q := min(b.scaled(published), fifth)
	var sizes []int
	for k := 1; k <= fifths; k++ {
		sizes = append(sizes, max(1, b.Rows*k/fifths))
	}
	return lab.Case{Figure: "4-5", Name: deviceOnly(published), Rows: b.Rows, X: float64(q), Doing: fmt.Sprintf("%s on the device, q = %d", SelectGroup.SQL(), q), Work: float64(b.Rows), Unit: "records",
		Open: func(ctx context.Context) (list []lab.Way, err error) {
			if err := b.Devices[0].Context.Do(ctx, func() error { return b.ready(ctx, sizes...) }); err != nil {
				return nil, err
			}
			for i, n := range sizes {
				_, sorted := b.of(n, sizes)
				x := &Question{Function: SelectGroup, Q: q, sorted: sorted, ways: map[string]Do{}, bed: b}
				right := x.Output(q, true).Digest(-1)
				do := func(ctx context.Context, q int, _ bool) (out Records, took lab.Took, err error) {
					err = b.db.Context.Do(ctx, func() error {
						var result *Table
						took, err = lab.Time(b.db.Context, func() (err error) {
							result, err = b.db.result(ctx, b.db.tables[nameOf(n)], upTo(q), b.db.grouping(C2, C3, Sum))
							return err
						})
						if err != nil {
							return err
						}
						defer result.free()
						out, err = result.Read()
						return err
					})
					took.Wall = lab.Took{Wall: onDevice(took)}.Wall
					return out, took, err
				}
				w := x.Way(sized(i+1), true, do)
				w.Sections, w.Run = b.sections(do, q, ""), func(ctx context.Context) (lab.Outcome, error) {
					got, took, err := do(ctx, q, true)
					if err == nil && got.Digest(-1) != right {
						err = errors.New("the groups are others")
					}
					return lab.Outcome{Took: took}, err // tables of five sizes have five outputs
				}
				list = append(list, w)
			}
			return list, nil
		}}
}
