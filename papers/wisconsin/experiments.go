package wisconsin

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
)

// paperRows is the largest table of the text.
const paperRows = 1_000_000

// Paper is the text's experiments.
func Paper() lab.Paper {
	return lab.Paper{
		Name: "wisconsin", Doc: "Hristov 2010: queries of the Wisconsin benchmark as OpenCL had them; --rows are the largest table's",
		Title:    "Performance Evaluation of Query Processing Algorithms on GPGPUs (2010): the evaluation, run again",
		Hardware: "a GeForce 9600M GT and a Core 2 Duo of 2.66 GHz",
		Rows:     paperRows, Counted: "tuples", Software: paperRows, Here: paperRows,
		Notes: []string{
			"The text measured on a GeForce 9600M GT (PCI Express x16) and a 9400M (PCI), 256 MB each, OpenCL 1.0, and one core of a Core 2 Duo of 2.66 GHz: means of a hundred runs. There memset had 4 GB/s, memcpy 1.9 GB/s, device memory 9 to 18 GB/s, the way back to the host 0.4 to 0.8 GB/s.",
			"Tables have 1 k, 10 k, 100 k and 1 M tuples, as in the text, on every device, and the second one of a join 0.6 times as many. --rows is the largest.",
			"Input and output lie in host memory and are copied in every run, as published; \"resident\" is without. The local size is 256, where the text's is automatic, and 1 as in appendix B beside it.",
			"The text compares with C on one core. Here it is Go, which follows the same steps. OpenCL on the CPU is OpenGL on a software rasteriser, where --device names one as the second device.",
			"On a software rasteriser a barrier is a change of coroutines: scans and hash tables pay for it.",
		},
		Figures: figures(), Systems: systems(), Claims: claims(), Most: most, Cases: cases,
	}
}

// most is the largest number of tuples: the device holds them, and host memory four times. Tables larger than a storage block come in parts.
func most(c *glctx.Caps, memory int64) (rows int, holder string) {
	tuple := int64(Standard.Bytes())
	rows, holder = int(memory/(4*tuple)), "this machine's memory"
	if n := int(c.Budget / 4 / tuple); n < rows {
		rows, holder = n, "a quarter of the device's budget, of "+glctx.FormatSize(c.Budget)+","
	}
	// The words of a vector have the numbers of a signed int.
	if n := int(min(c.MaxStorageBlock, math.MaxInt32) / 4); n < rows {
		rows, holder = n, "a storage block of the device, which holds the values of an attribute,"
	}
	return rows, holder
}

// whole reports whether a storage block of the device holds a table of n tuples, of so many words each.
func whole(d *lab.Device, n, words int) bool { return n*words <= d.Shapes.MaxWords }

// inputSizes are the tables of the text up to one of so many rows, and that.
func inputSizes(rows int) (list []int) {
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000} {
		if n < rows {
			list = append(list, n)
		}
	}
	return append(list, rows)
}

// second is the number of tuples of the second table of a join.
func second(n int) int { return n * 6 / 10 }

// bed is what the cases share: the tables of the last size.
type bed struct {
	*lab.Setting
	tables map[string]*Table
}

// table makes a table, or gives the one that was made.
func (b *bed) table(l Layout, n int, seed uint64) *Table {
	name := fmt.Sprint(l.Name, n, seed)
	if b.tables[name] == nil {
		for _, t := range b.tables {
			if t.N != n && second(t.N) != n && second(n) != t.N {
				clear(b.tables)
				break
			}
		}
		b.tables[name] = Make(l, n, seed)
	}
	return b.tables[name]
}

// caseQuery is a query of a case, with its right answer in words.
type caseQuery struct {
	*bed
	inputs []*Table
	want   []uint32
	// same, when set, compares an answer with the right one.
	same func(got []uint32) bool
	ends []func() error // of what the case holds
}

// closers takes what ends with the case.
func (x *caseQuery) closers(f func() error) { x.ends = append(x.ends, f) }

func (x *caseQuery) close() (err error) {
	for _, f := range x.ends {
		err = firstOf(err, f())
	}
	x.ends, x.want, x.inputs = nil, nil, nil
	return err
}

// deviceQuery is a query on a device over inputs.
type deviceQuery func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error)

func (x *caseQuery) compare(got []uint32) error {
	if x.same != nil && x.same(got) || x.same == nil && slices.Equal(got, x.want) {
		return nil
	}
	return fmt.Errorf("the answer of %d words is wrong: there are %d, and they are others", len(got), len(x.want))
}

// digest is that of an answer; of one that is right but in its last places that of the right one.
func (x *caseQuery) digest(got []uint32) (lab.Digest, error) {
	if x.same != nil {
		return lab.Ordered(x.want), x.compare(got)
	}
	return lab.Ordered(got), nil
}

// onHost is a way on one core.
func (x *caseQuery) onHost(system string, f func() ([]uint32, error)) lab.Way {
	return lab.Way{System: system, Check: func(context.Context) error {
		got, err := f()
		if err == nil {
			err = x.compare(got)
		}
		return err
	}, Run: func(context.Context) (out lab.Outcome, err error) {
		var got []uint32
		out, err = lab.Timed(func() (err error) {
			got, err = f()
			return err
		})
		if err == nil {
			out.Digest, err = x.digest(got)
		}
		return out, err
	}}
}

// level is that of the sections of a way; none for no sections.
const none = -1

// onDevice is a way on a device, with copies of the input and the output, or without both.
func (x *caseQuery) onDevice(system string, d *lab.Device, local int, resident bool, level int, q deviceQuery) lab.Way {
	g, inputs := &GPU{Device: d, Local: local}, make([]Input, len(x.inputs))
	for i, t := range x.inputs {
		inputs[i] = Input{Table: t}
	}
	var keep *pass.Scope // of a resident answer
	var answer primitives.Vector
	take := func(v primitives.Vector) error {
		if answer = v; v.N == 0 {
			return nil
		}
		return d.GL.Hand(v.Block, keep)
	}
	run := func(ctx context.Context) (got []uint32, took lab.Took, err error) {
		err = d.Context.Do(ctx, func() error {
			if !resident {
				took, err = lab.Time(d.Context, func() (err error) {
					got, err = q(ctx, g, inputs, nil)
					return err
				})
				return err
			}
			if inputs[0].Resident.None() {
				if err := x.load(ctx, d, inputs); err != nil {
					return err
				}
			}
			keep, answer = d.GL.Open(), primitives.Vector{}
			defer keep.Close()
			took, err = lab.Time(d.Context, func() (err error) {
				got, err = q(ctx, g, inputs, take)
				return err
			})
			if err == nil && answer.N > 0 {
				err = keep.Do(ctx, func() error {
					got, err = answer.Read(d.GL)
					return err
				})
			}
			return err
		})
		return got, took, err
	}
	w := lab.Way{System: system, Device: true, Check: func(ctx context.Context) error {
		got, _, err := run(ctx)
		if err == nil {
			err = x.compare(got)
		}
		return err
	}, Run: func(ctx context.Context) (out lab.Outcome, err error) {
		var got []uint32
		if got, out.Took, err = run(ctx); err == nil {
			out.Digest, err = x.digest(got)
		}
		return out, err
	}}
	if level != none {
		w.Sections = func(ctx context.Context) (list []lab.Section, err error) {
			timed := &GPU{Device: d, Local: local, Clock: &Clock{Level: level}}
			err = d.Context.Do(ctx, func() error {
				_, err := q(ctx, timed, inputs, nil)
				return err
			})
			return timed.Clock.Sections, err
		}
	}
	return w
}

// load makes inputs resident until the case is closed.
func (x *caseQuery) load(ctx context.Context, d *lab.Device, inputs []Input) error {
	room := d.GL.Open()
	x.closers(func() error { return d.Context.Do(context.Background(), func() error { room.Close(); return nil }) })
	return room.Do(ctx, func() error {
		for i := range inputs {
			v := primitives.New(len(inputs[i].Words))
			if err := d.Store.Write(v.Block, 0, inputs[i].Words); err != nil {
				return err
			}
			inputs[i].Resident = v
		}
		return nil
	})
}

// ways are those of a query: on the device, on other devices, on one core.
func (x *caseQuery) ways(q deviceQuery, level int, host func() ([]uint32, error)) []lab.Way {
	first := x.Devices[0]
	list := []lab.Way{x.onDevice(gpu, first, 256, false, level, q), x.onDevice(gpuOne, first, 1, false, none, q)}
	switch n := x.inputs[0].N; {
	case n > 0 && whole(first, n, x.inputs[0].Layout.Words):
		list = append(list, x.onDevice(gpuResident, first, 256, true, none, q))
	case n > 0:
		list = append(list, lab.Way{System: gpuResident, Cannot: fmt.Sprintf("a storage block of the device does not hold the %d tuples", n)})
	}
	other := map[string]*lab.Device{}
	for _, d := range x.Devices[1:] {
		if d.Context.Caps().Software {
			other[glCPU] = d
		} else {
			other[gpuOther] = d
		}
	}
	for system, without := range map[string]string{glCPU: "no software rasteriser is the second device: --device names it", gpuOther: "there is one device: --device names several"} {
		w := lab.Way{System: system, Cannot: without}
		if d := other[system]; d != nil {
			w = x.onDevice(system, d, 256, false, level, q)
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b lab.Way) int { return place(a.System) - place(b.System) })
	return append(list, x.onHost(sequentially, host))
}

// near compares a number with the right one: within four units in the last place of floats, within 1 of ints that were quotients.
func (x *caseQuery) near(a Aggregate) func([]uint32) bool {
	want := math.Float64frombits(uint64(x.want[0]) | uint64(x.want[1])<<32)
	return func(got []uint32) bool {
		v := math.Float64frombits(uint64(got[0]) | uint64(got[1])<<32)
		if a.Type == "float" {
			return v == want || math.Abs(v-want) <= math.Abs(want)*4/(1<<23)
		}
		return math.Abs(v-want) <= 1
	}
}

// words are those of a number.
func words(v float64, err error) ([]uint32, error) {
	bits := math.Float64bits(v)
	return []uint32{uint32(bits), uint32(bits >> 32)}, err
}

// selects is the question of a selection by listing 8's criteria.
func selects(c Criteria) *Question {
	return &Question{SQL: fmt.Sprintf("SELECT * FROM t1 WHERE unique1 > %d AND unique1 < %d AND unique2 %% 2 = 0 AND two = 0", c.Constants[0], c.Constants[1]), width: Standard.Words, column: Standard.Integer}
}

// cases are those of the figures that are asked for.
func cases(s *lab.Setting) (list []lab.Case, err error) {
	b := &bed{Setting: s, tables: map[string]*Table{}}
	any := func(names ...lab.Name) bool { return slices.ContainsFunc(names, s.Asked) }
	add := func(figure lab.Name, name string, n int, doing string, q *Question, open func(x *caseQuery) ([]lab.Way, error)) {
		c := lab.Case{Figure: figure, Name: name, Rows: n, X: float64(n), Doing: doing, Work: float64(n), Unit: "tuples"}
		x := &caseQuery{bed: b}
		if q != nil {
			*q = Question{q.SQL, n, second(n), b.Seed, x, q.width, q.column}
			c.Data = q
		}
		c.Open = func(context.Context) ([]lab.Way, error) { return open(x) }
		c.Close = x.close
		list = append(list, c)
	}
	for _, n := range inputSizes(s.Rows) {
		if any("7", "8", "9", "table1", "table5") {
			add("7", projection, n, "SELECT unique1 + unique2", &Question{SQL: "SELECT unique1 + unique2 FROM t1", width: 1}, b.projects(n))
		}
		if any("10", "table6") {
			add("10", aggregationInt, n, "SELECT "+MaxInt.Name, &Question{SQL: "SELECT " + MaxInt.Name + " FROM t1"}, b.aggregates(n, MaxInt))
			add("10", aggregationFloat, n, "SELECT "+MaxFloat.Name, &Question{SQL: "SELECT " + MaxFloat.Name + " FROM t1"}, b.aggregates(n, MaxFloat))
		}
		if any("11", "12", "table2", "table8") {
			add("11", selecting, n, "SELECT * WHERE unique1 > 1000 AND unique1 < 6000 AND unique2 % 2 = 0 AND two = 0", selects(Listing8(1000, 6000)), b.selects(n, Listing8(1000, 6000)))
			add("11", selectingEighth, n, "the same with bounds of unique1 that keep an eighth", selects(Constant(n)), b.selects(n, Constant(n)))
		}
		if any("12") {
			add("12", scanned, n, "the scan of the selection", nil, b.scans(n))
		}
		if any("table3") {
			add("table3", joining, n, "SELECT * FROM t1, t2 WHERE t1.unique1 = t2.unique1", &Question{SQL: "SELECT * FROM t1, t2 WHERE t1.unique1 = t2.unique1", width: 2 * Standard.Words, column: Standard.Integer}, b.joins(n))
		}
		if any("table4") {
			add("table4", integrated, n, "SELECT MAX(t1.unique1 * t1.tenpercent / 100) FROM t1, t2 WHERE t1.unique1 = t2.unique2 AND t1.unique1 BETWEEN 1001 AND 5999", &Question{SQL: "SELECT MAX(t1.unique1 * t1.tenpercent / 100) FROM t1, t2 WHERE t1.unique1 = t2.unique2 AND t1.unique1 BETWEEN 1001 AND 5999"}, b.integrates(n))
		}
		if any("13", "table7") {
			add("13", tupleSize, n, "SELECT "+MaxFloat.Name+" over tuples of 24, 80 and 136 bytes", nil, b.resizes(n))
		}
	}
	if any("14") {
		for _, bytes := range copySizes(s.Rows, s.Devices[0].Context.Caps().MaxStorageBlock) {
			list = append(list, b.copies(bytes))
		}
	}
	return list, nil
}

func (b *bed) projects(n int) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		t := b.table(Standard, n, b.Seed)
		x.inputs, x.want = []*Table{t}, t.Projection()
		list := x.ways(func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error) {
			return g.Projection(ctx, in[0], take)
		}, 0, func() ([]uint32, error) { return t.Projection(), nil })
		list[len(list)-1].Sections = func(context.Context) ([]lab.Section, error) {
			start := time.Now()
			result := make([]uint32, t.N)
			made := time.Now()
			t.project(result)
			took := map[string]time.Duration{initMemory: made.Sub(start), execution: time.Since(made)} // it has no others
			var list []lab.Section
			for _, name := range projectSections {
				list = append(list, lab.Section{What: name, Name: name, Took: took[name]})
			}
			return list, nil
		}
		return list, nil
	}
}

// aggregate is an aggregation on a device as words.
func aggregate(a Aggregate) deviceQuery {
	return func(ctx context.Context, g *GPU, in []Input, _ func(primitives.Vector) error) ([]uint32, error) {
		return words(g.Aggregation(ctx, a, in[0]))
	}
}

func (b *bed) aggregates(n int, a Aggregate) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		t := b.table(Standard, n, b.Seed)
		host := func() ([]uint32, error) { return words(t.Aggregation(a), nil) }
		x.inputs = []*Table{t}
		x.want, _ = host()
		x.same = x.near(a)
		return x.ways(aggregate(a), 0, host), nil
	}
}

func (b *bed) selects(n int, c Criteria) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		t := b.table(Standard, n, b.Seed)
		x.inputs, x.want = []*Table{t}, t.Selection(c)
		of := func(form Form) deviceQuery {
			return func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error) {
				return g.Selection(ctx, in[0], c, form, take)
			}
		}
		list := x.ways(of(Copied), 0, func() ([]uint32, error) { return t.Selection(c), nil })
		return append(list, x.onDevice(gpuVectors, x.Devices[0], 256, false, 0, of(Vectors))), nil
	}
}

// scans has the parts of the scan (figure 12): the whole query runs, and its sections are those of the scan.
func (b *bed) scans(n int) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		t, c := b.table(Standard, n, b.Seed), Listing8(1000, 6000)
		x.inputs, x.want = []*Table{t}, t.Selection(c)
		return []lab.Way{x.onDevice(gpu, x.Devices[0], 256, false, 1, func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error) {
			return g.Selection(ctx, in[0], c, Copied, take)
		})}, nil
	}
}

// plain are the pairs of a join by a map, in the order of the larger table, which is the first.
func plain(first, second *Table, on Keys) (want []uint32) {
	rows := make(map[int32]int, second.N)
	for i := range second.N {
		rows[second.number(i, on.Second)] = i
	}
	for i := range first.N {
		if r, ok := rows[first.number(i, on.First)]; ok {
			want = append(append(want, first.tuple(i)...), second.tuple(r)...)
		}
	}
	return want
}

// blocksOf is the number of blocks of a nested loop over a table of n tuples. mostBlocked is the largest number of tuples at which it is
// measured: the work is their square.
func blocksOf(n int) int { return max(1, min(256, n/8)) }

func mostBlocked(d *lab.Device) int {
	if d.Context.Caps().Software {
		return 10_000
	}
	return 100_000
}

func (b *bed) joins(n int) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		first, other := b.table(Standard, n, b.Seed), b.table(Standard, second(n), b.Seed+1)
		x.inputs, x.want = []*Table{first, other}, plain(first, other, Listing11)
		if !whole(x.Devices[0], second(n), 2*Standard.Words) || n == 0 {
			return []lab.Way{{System: gpu, Cannot: fmt.Sprintf("a storage block of the device does not hold the %d pairs", second(n))},
				x.onHost(sequentially, func() ([]uint32, error) { return first.Join(other, Listing11) })}, nil
		}
		list := x.ways(func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error) {
			return g.HashJoin(ctx, in[0], in[1], Listing11, take, nil)
		}, 0, func() ([]uint32, error) { return first.Join(other, Listing11) })
		list[0].Counters = func(ctx context.Context) (counts map[string]float64, err error) {
			g := &GPU{Device: x.Devices[0], Local: 256}
			err = g.Context.Do(ctx, func() error {
				_, err := g.HashJoin(ctx, Input{Table: first}, Input{Table: other}, Listing11, nil, func(c *Cuckoo) error {
					b, err := c.Builds(g)
					counts = map[string]float64{buckets: float64(b.Buckets), rebuilds: float64(b.Rebuilds), rebuilt: float64(b.Rebuilt), mostRebuilds: float64(b.Most), iterations: float64(b.Iterations)}
					for times, n := range b.ByRebuilds {
						counts[fmt.Sprintf("buckets rebuilt %d times", times)] = float64(n)
					}
					return err
				})
				return err
			})
			return counts, err
		}
		w := lab.Way{System: gpuBlocks, Cannot: fmt.Sprintf("a nested loop is measured up to %d tuples: its work is their square", mostBlocked(x.Devices[0]))}
		if n <= mostBlocked(x.Devices[0]) {
			w = x.onDevice(gpuBlocks, x.Devices[0], 256, false, none, func(ctx context.Context, g *GPU, in []Input, take func(primitives.Vector) error) ([]uint32, error) {
				return g.BlockJoin(ctx, in[0], in[1], Listing11, blocksOf(n), take)
			})
		}
		return append(list, w), nil
	}
}

func (b *bed) integrates(n int) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) ([]lab.Way, error) {
		first, other := b.table(Standard, n, b.Seed), b.table(Standard, second(n), b.Seed+1)
		word := MaxInt.Identity
		for i := range first.N {
			if u := first.number(i, Unique1); first.between(i, 1000, 6000) && int(u) < other.N { // unique2 has all up to there
				word = MaxInt.Of(word, MaxInt.Go(first, i))
			}
		}
		x.inputs = []*Table{first, other}
		x.want, _ = words(MaxInt.finish(word, 1), nil)
		x.same = x.near(MaxInt)
		if !whole(x.Devices[0], n, Standard.Words) {
			return []lab.Way{{System: gpu, Cannot: fmt.Sprintf("a storage block of the device does not hold the %d tuples that are joined", n)},
				x.onHost(sequentially, func() ([]uint32, error) { return words(first.Integrated(other)) })}, nil
		}
		return x.ways(func(ctx context.Context, g *GPU, in []Input, _ func(primitives.Vector) error) ([]uint32, error) {
			return words(g.Integrated(ctx, in[0], in[1]))
		}, none, func() ([]uint32, error) { return words(first.Integrated(other)) }), nil
	}
}

func (b *bed) resizes(n int) func(*caseQuery) ([]lab.Way, error) {
	return func(x *caseQuery) (list []lab.Way, err error) {
		for _, l := range []Layout{Small, Standard, Large} {
			t := b.table(l, n, b.Seed)
			y := &caseQuery{bed: b, inputs: []*Table{t}}
			host := func() ([]uint32, error) { return words(t.Aggregation(MaxFloat), nil) }
			y.want, _ = host()
			y.same = y.near(MaxFloat)
			list = append(list, y.onDevice(sized(gpu, l), b.Devices[0], 256, false, none, aggregate(MaxFloat)), y.onHost(sized(sequentially, l), host))
		}
		return list, nil
	}
}

// copySizes are the sizes of figure 14: 1 KB to 1 GB. They end at the bytes of the largest table where these are fewer than
// the text's.
func copySizes(rows int, block int64) (list []int) {
	largest := min(int64(1)<<30, block)
	if rows < paperRows {
		largest = min(largest, max(4<<10, int64(rows*Standard.Bytes())))
	}
	for n := int64(1 << 10); n <= largest; n *= 4 {
		list = append(list, int(n))
	}
	return list
}

// copies is a blocking write and a blocking read of so many bytes (section 5.2.7).
func (b *bed) copies(bytes int) lab.Case {
	x := &caseQuery{bed: b}
	return lab.Case{Figure: "14", Name: copying(bytes), Rows: b.Rows, X: float64(bytes), Doing: fmt.Sprintf("copy %d bytes to the device, or from it", bytes), Work: float64(bytes), Unit: "bytes",
		Close: x.close, Open: func(ctx context.Context) ([]lab.Way, error) {
			d, list := b.Devices[0], make([]uint32, bytes/4)
			for i := range list {
				list[i] = uint32(i) * 2654435761
			}
			v, back := primitives.New(len(list)), make([]uint32, len(list))
			room := d.Room()
			x.closers(room.Close)
			timed := func(f func() error) func(context.Context) (lab.Outcome, error) {
				return func(ctx context.Context) (out lab.Outcome, err error) {
					err = room.Do(ctx, func() error {
						out.Took, err = lab.Time(d.Context, f)
						return err
					})
					return out, err
				}
			}
			write := timed(func() error { return d.Store.Write(v.Block, 0, list) })
			read := timed(func() error { return d.GL.Read(v.Block, back) })
			if _, err := write(ctx); err != nil {
				return nil, err
			}
			return []lab.Way{{System: writes, Device: true, Partial: true, Run: write}, {System: reads, Device: true, Run: func(ctx context.Context) (lab.Outcome, error) {
				clear(back)
				out, err := read(ctx)
				out.Digest = lab.Ordered(back)
				return out, err
			}, Check: func(ctx context.Context) error {
				if _, err := read(ctx); err != nil || slices.Equal(back, list) {
					return err
				}
				return fmt.Errorf("what is read back is not what was written")
			}}}, nil
		}}
}
