package pary

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/primitives"
)

// paperRows is the number of keys of the text.
const paperRows = 36_000_000

// Paper is the text's experiments.
func Paper() lab.Paper {
	return lab.Paper{
		Name: "pary", Doc: "Kaldewey and others 2009: p-ary search; --rows are the keys",
		Title:    "Parallel Search On Video Cards (2009): the evaluation, run again",
		Hardware: "a GeForce 8800 GTX and a Core2 Quad Q6700",
		Rows:     paperRows, Counted: "keys", Software: 4_000_000, Here: paperRows,
		Notes: []string{
			"The text measured on two GeForce 8800 GTX of 1.35 GHz and 768 MB, CUDA 1.0, and a Core2 Quad Q6700 of 2.66 GHz. It does not say how often it ran each case.",
			"The keys are 36 million strings of 16 bytes, as in the text, and 4 million on a software rasteriser, whose storage blocks hold 8 million. There a barrier is a change of coroutines: p-ary search pays for it.",
			"The text does not say which keys are asked for: here each key alike, and keys that are not there as cases of their own. It does not say how boundaries were read: p - 1 of them a step is taken, the others stand in figure 5.",
			"Times on the device are with the copies of queries and places, as published; \"no copies\" is without. Sizes of batches that only a picture shows are ours. \"Ours\" are searches that the text has not; those of 4 bytes are the engine's own, over as many words.",
		},
		Figures: figures(), Systems: systems(), Claims: claims(), Most: most, Cases: cases,
	}
}

// most is the largest number of keys: a storage block holds them, and host memory three times.
func most(c *glctx.Caps, memory int64) (rows int, holder string) {
	rows, holder = int(memory/(3*KeyBytes)), "this machine's memory"
	if n := int(min(c.MaxStorageBlock, c.Budget) / KeyBytes); n < rows {
		rows, holder = n, "a storage block of the device, of "+glctx.FormatSize(min(c.MaxStorageBlock, c.Budget))+","
	}
	return rows, holder
}

// bed is what the cases share: the keys, which are made once, and where they are resident.
type bed struct {
	*lab.Setting
	keys     []Key
	words    []uint32
	resident []primitives.Vector // the keys on each device
	numbers  primitives.Vector   // the words on the first device
	tree     primitives.Tree
}

// load makes the keys and brings them to the devices.
func (b *bed) load(ctx context.Context) error {
	if b.keys != nil {
		return nil
	}
	keys := Keys(b.Rows, b.Seed)
	for _, d := range b.Devices {
		v := primitives.New(4 * b.Rows)
		if err := d.Hold(ctx, func() error { return d.Store.Write(v.Block, 0, flat(keys)) }); err != nil {
			return err
		}
		b.resident = append(b.resident, v)
	}
	b.keys = keys
	return nil
}

// loadWords makes the keys of 4 bytes, with the tree over them.
func (b *bed) loadWords(ctx context.Context) error {
	if b.words != nil {
		return nil
	}
	words, d := Words(b.Rows, b.Seed), b.Devices[0]
	b.numbers = primitives.New(b.Rows)
	err := d.Hold(ctx, func() (err error) {
		if err = d.Store.Write(b.numbers.Block, 0, words); err == nil {
			b.tree, err = primitives.NewTree(d.GL, d.Shapes, b.numbers)
		}
		return err
	})
	if err == nil {
		b.words = words
	}
	return err
}

// Batch is what a case searches for, for the ways of package bench: words of 4 bytes among sorted ones.
type Batch struct {
	Words, Asked []uint32
	of           *batch
}

// Compare is an error where places are not those of the words that are asked for.
func (b *Batch) Compare(places []uint32) error { return b.of.compare(places) }

// batch is a batch of queries among the first n keys, with the right answer.
type batch struct {
	*bed
	n       int
	queries []Key
	want    []uint32
	rooms   []*lab.Room
	asked   []uint32 // the words of 4 bytes at the same places, once they are asked for
}

// open makes a batch of so many queries, of keys that are there or not.
func (b *bed) open(ctx context.Context, n, size int, misses bool) (*batch, error) {
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	x := &batch{bed: b, n: n, want: Places(size, n, b.Seed)}
	for i, at := range x.want {
		k := b.keys[at]
		if misses {
			k, x.want[i] = k.miss(), Missing
		}
		x.queries = append(x.queries, k)
	}
	for _, d := range b.Devices {
		x.rooms = append(x.rooms, d.Room())
	}
	return x, nil
}

func (x *batch) close() error {
	var errs parallel.Errors
	for _, r := range x.rooms {
		errs.Go(r.Close)
	}
	return errs.Wait()
}

// compare is an error where places are not the right ones.
func (x *batch) compare(got []uint32) error {
	for i := range x.want {
		if got[i] != x.want[i] {
			return fmt.Errorf("query %d, %q, is found at place %d, and is at %d", i, x.queries[i], got[i], x.want[i])
		}
	}
	return nil
}

// onHost is a way on the host.
func (x *batch) onHost(system string, search Search) lab.Way {
	places := make([]uint32, len(x.queries))
	find := func() error {
		search(x.keys[:x.n], x.queries, places)
		return nil
	}
	return lab.Way{System: system, Check: func(context.Context) error {
		if err := find(); err != nil {
			return err
		}
		return x.compare(places)
	}, Run: func(context.Context) (out lab.Outcome, err error) {
		out, err = lab.Timed(find)
		out.Digest = lab.Ordered(places)
		return out, err
	}}
}

// search is a search on a device.
type search func(d *lab.Device, s Searched, c Counts) error

func binary(d *lab.Device, s Searched, c Counts) error { return Binary(d.GL, ShapesOf(d), s, c) }

func pary(scheme Scheme, p int) search {
	return func(d *lab.Device, s Searched, c Counts) error { return PAry(d.GL, ShapesOf(d), scheme, p, s, c) }
}

// part is the part of a batch that one device has: queries from..to-1.
type part struct {
	*batch
	d        *lab.Device
	room     *lab.Room
	s        Searched
	from, to int
	words    []uint32 // its queries
}

// on is the part of device i of several.
func (x *batch) on(i, devices int) *part {
	from, to := i*len(x.queries)/devices, (i+1)*len(x.queries)/devices
	return &part{x, x.Devices[i], x.rooms[i], Searched{x.resident[i].First(4 * x.n), primitives.New(4 * (to - from)), primitives.New(to - from)}, from, to, flat(x.queries[from:to])}
}

// write copies the queries to the device.
func (p *part) write() error { return p.d.Store.Write(p.s.Queries.Block, 0, p.words) }

// offload copies the queries, searches, and copies the places back.
func (p *part) offload(by search, places []uint32) error {
	if err := p.write(); err != nil {
		return err
	}
	if err := by(p.d, p.s, Counts{}); err != nil {
		return err
	}
	return p.d.GL.Read(p.s.Places.Block, places[p.from:p.to])
}

// timed runs f on the GL thread by the clock.
func (p *part) timed(ctx context.Context, f func() error) (took lab.Took, err error) {
	err = p.room.Do(ctx, func() error {
		took, err = lab.Time(p.d.Context, f)
		return err
	})
	return took, err
}

// onDevice is a way on the first device, with the copies of queries and places.
func (x *batch) onDevice(system string, by search) lab.Way {
	p, places := x.on(0, 1), make([]uint32, len(x.queries))
	run := func(ctx context.Context) (lab.Took, error) {
		return p.timed(ctx, func() error { return p.offload(by, places) })
	}
	return x.way(system, places, run)
}

// onDevices is a way on all devices, each with a part of the batch.
func (x *batch) onDevices(system string, by search) lab.Way {
	if len(x.Devices) < 2 {
		return lab.Way{System: system, Cannot: "there is one device: --device names several"}
	}
	places := make([]uint32, len(x.queries))
	var parts []*part
	for i := range x.Devices {
		parts = append(parts, x.on(i, len(x.Devices)))
	}
	return x.way(system, places, func(ctx context.Context) (lab.Took, error) {
		out, err := lab.Timed(func() error {
			var all parallel.Errors
			for _, p := range parts {
				all.Go(func() error {
					return p.room.Do(ctx, func() error { return p.offload(by, places) }) // the read waits for the device
				})
			}
			return all.Wait()
		})
		return out.Took, err
	})
}

// way is one that leaves its places in host memory.
func (x *batch) way(system string, places []uint32, run func(context.Context) (lab.Took, error)) lab.Way {
	return lab.Way{System: system, Device: true, Check: func(ctx context.Context) error {
		if _, err := run(ctx); err != nil {
			return err
		}
		return x.compare(places)
	}, Run: func(ctx context.Context) (out lab.Outcome, err error) {
		clear(places)
		out.Took, err = run(ctx)
		out.Digest = lab.Ordered(places)
		return out, err
	}}
}

// onlySearch is a way on the first device whose queries and places stay there.
func (x *batch) onlySearch(system string, by search) lab.Way {
	p := x.on(0, 1)
	return lab.Way{System: system, Device: true, Check: func(ctx context.Context) error {
		got := make([]uint32, len(x.queries))
		err := p.room.Do(ctx, func() error { return p.offload(by, got) }) // the queries stay
		if err != nil {
			return err
		}
		return x.compare(got)
	}, Run: func(ctx context.Context) (out lab.Outcome, err error) {
		if out.Took, err = p.timed(ctx, func() error { return by(p.d, p.s, Counts{}) }); err != nil {
			return out, err
		}
		err = p.d.Query(ctx, func() error {
			out.Digest, err = lab.DigestOf(p.d.GL, p.d.Shapes, p.s.Places, true)
			return err
		})
		return out, err
	}}
}

// counting is a resident way with the counters of its instrumented variant, beside what the text has in theory.
func (x *batch) counting(system string, by search, lanes, teams int, inTheory map[string]float64) lab.Way {
	w := x.onlySearch(system, by)
	w.Counters = func(ctx context.Context) (map[string]float64, error) {
		p, c := x.on(0, 1), Counts{primitives.Zeros(3), lanes}
		var sums []uint32
		got := make([]uint32, len(x.queries))
		err := p.room.Do(ctx, func() error {
			if err := p.write(); err != nil {
				return err
			}
			if err := by(p.d, p.s, c); err != nil {
				return err
			}
			if err := p.d.GL.Read(p.s.Places.Block, got); err != nil {
				return err
			}
			var err error
			sums, err = c.Words.Read(p.d.GL)
			return err
		})
		if err == nil {
			err = x.compare(got)
		}
		if err != nil {
			return nil, err
		}
		queries := float64(len(x.queries))
		all := map[string]float64{steps: float64(sums[0]) / float64(teams), results: queries / float64(sums[0]), reads: float64(sums[1]) / queries, conflicts: float64(sums[2]) / queries}
		maps.Copy(all, inTheory)
		return all, nil
	}
	return w
}

// offloadSteps are the cumulative steps of offloading (figure 7).
func (x *batch) offloadSteps() []lab.Way {
	p, places := x.on(0, 1), make([]uint32, len(x.queries))
	step := func(system string, f func() error) lab.Way {
		return lab.Way{System: system, Device: true, Partial: true, Run: func(ctx context.Context) (out lab.Outcome, err error) {
			out.Took, err = p.timed(ctx, f)
			return out, err
		}}
	}
	launch := func() error { return Launch(p.d.GL, ShapesOf(p.d), PEs, p.s) }
	by := pary(Reused, PEs)
	return []lab.Way{
		step(launched, launch),
		step(copied, func() error {
			if err := p.write(); err != nil {
				return err
			}
			return launch()
		}),
		step(searched, func() error {
			if err := p.write(); err != nil {
				return err
			}
			return by(p.d, p.s, Counts{})
		}),
		x.way(gpuPAry, places, func(ctx context.Context) (lab.Took, error) {
			return p.timed(ctx, func() error { return p.offload(by, places) })
		}),
	}
}

// wordWays are the engine's own searches, over keys of 4 bytes at the same places.
func (x *batch) wordWays(ctx context.Context) (list []lab.Way, err error) {
	if err := x.loadWords(ctx); err != nil {
		return nil, err
	}
	asked := make([]uint32, len(x.want))
	for i, at := range x.want {
		asked[i] = x.words[at]
	}
	x.asked = asked
	d := x.Devices[0]
	queries, out := primitives.New(len(asked)), primitives.New(len(asked))
	for _, name := range primitives.SearchWays {
		places := make([]uint32, len(asked))
		run := func(ctx context.Context) (took lab.Took, err error) {
			err = d.Query(ctx, func() error {
				took, err = lab.Time(d.Context, func() error {
					if err := d.Store.Write(queries.Block, 0, asked); err != nil {
						return err
					}
					if err := primitives.Search(d.GL, d.Shapes, name, primitives.Sorted{Words: x.numbers, Tree: x.tree}, queries, out); err != nil {
						return err
					}
					return d.GL.Read(out.Block, places)
				})
				return err
			})
			return took, err
		}
		list = append(list, x.way(wordsPrefix+name, places, run))
	}
	return list, nil
}

// loadWay copies the keys to the device again.
func (b *bed) loadWay() lab.Way {
	d, v, words := b.Devices[0], b.resident[0], flat(b.keys)
	run := func(ctx context.Context) (took lab.Took, err error) {
		err = d.Hold(ctx, func() error {
			took, err = lab.Time(d.Context, func() error { return d.Store.Write(v.Block, 0, words) })
			return err
		})
		return took, err
	}
	return lab.Way{System: loading, Device: true, Partial: true, Check: func(ctx context.Context) error {
		if _, err := run(ctx); err != nil {
			return err
		}
		return d.Hold(ctx, func() error {
			got, err := v.Read(d.GL)
			if err == nil && !slices.Equal(got, words) {
				err = fmt.Errorf("the keys on the device are others than those of the host")
			}
			return err
		})
	}, Run: func(ctx context.Context) (out lab.Outcome, err error) {
		out.Took, err = run(ctx)
		return out, err
	}}
}

// probes is the number of queries of figure 5: 1,024, fewer among few keys.
func probes(rows int) int { return max(16, min(1<<10, rows/16)) }

// sizes are the numbers of keys of figure 5, from 64 K on.
func sizes(rows int) (list []int) {
	for n := min(64<<10, max(1, rows/8)); n < rows; n *= 4 {
		list = append(list, n)
	}
	return append(list, rows)
}

// upTo are the batches that are measured: up to four times as large as there are keys. On a software rasteriser they have at most 64 K,
// so that the suite ends in a quarter of an hour.
func (b *bed) upTo(list []int) []int {
	largest := 4 * max(b.Rows, 4)
	if b.Devices[0].Context.Caps().Software {
		largest = min(largest, 64<<10)
	}
	return slices.DeleteFunc(slices.Clone(list), func(n int) bool { return n > largest })
}

// cases are those of the figures that are asked for. Table 1 is of figure 6's.
func cases(s *lab.Setting) (list []lab.Case, err error) {
	b := &bed{Setting: s}
	add := func(figure lab.Name, name string, n, size int, at float64, doing string, misses bool, ways func(ctx context.Context, x *batch) ([]lab.Way, error)) {
		c := lab.Case{Figure: figure, Name: name, Rows: n, X: at, Doing: doing, Work: float64(size), Unit: "searches"}
		data := &Batch{}
		c.Data = data
		var x *batch
		c.Open = func(ctx context.Context) (_ []lab.Way, err error) {
			if x, err = b.open(ctx, n, size, misses); err != nil {
				return nil, err
			}
			w, err := ways(ctx, x)
			*data = Batch{x.words, x.asked, x}
			return w, err
		}
		c.Close = func() error {
			if x == nil {
				return nil
			}
			return x.close()
		}
		list = append(list, c)
	}
	if s.Asked("5") {
		for _, n := range sizes(s.Rows) {
			add("5", probing, n, probes(s.Rows), float64(n), fmt.Sprintf("search for %d keys of the first %d", probes(s.Rows), n), false, probeWays)
		}
	}
	for _, size := range b.upTo(batches) {
		if s.Asked("6") || s.Asked("table1") && slices.Contains(workloads, size) {
			add("6", searching(size), s.Rows, size, float64(size), fmt.Sprintf("search for %d keys", size), false, searchWays)
		}
	}
	for _, size := range b.upTo(misses) {
		if s.Asked("6") {
			add("6", missing(size), s.Rows, size, float64(size), fmt.Sprintf("search for %d strings that are no keys", size), true, publishedWays)
		}
	}
	if s.Asked("7") {
		list = append(list, lab.Case{Figure: "7", Name: loads, Rows: s.Rows, Doing: "copy the keys to the device", Work: KeyBytes * float64(s.Rows), Unit: "bytes",
			Open: func(ctx context.Context) ([]lab.Way, error) {
				if err := b.load(ctx); err != nil {
					return nil, err
				}
				return []lab.Way{b.loadWay()}, nil
			}})
		for _, size := range b.upTo(offloads) {
			add("7", offloading(size), s.Rows, size, float64(size), fmt.Sprintf("offload a search for %d keys, step by step", size), false,
				func(_ context.Context, x *batch) ([]lab.Way, error) { return x.offloadSteps(), nil })
		}
	}
	if s.Asked("8") {
		for _, size := range b.upTo(sustaining) {
			add("8", sustained(size), s.Rows, size, float64(size), fmt.Sprintf("search for %d keys", size), false, func(_ context.Context, x *batch) ([]lab.Way, error) {
				by := pary(Reused, PEs)
				return []lab.Way{x.onDevice(gpuPAry, by), x.onDevices(twoGPUs, by), x.onDevice(gpuBinary, binary), x.onHost(threads, Threads(Serial)), x.onHost(simd, SIMD)}, nil
			})
		}
	}
	return list, nil
}

func probeWays(_ context.Context, x *batch) (list []lab.Way, err error) {
	size := len(x.queries)
	list = []lab.Way{x.counting(gpuBinary, binary, PEs, (size+PEs-1)/PEs, binaryTheory(x.n, PEs))}
	for _, s := range []struct {
		system string
		scheme Scheme
		p      int
	}{{gpuPAry, Reused, PEs}, {ownPAry, Own, PEs}, {sharedPAry, Shared, PEs}} {
		list = append(list, x.counting(s.system, pary(s.scheme, s.p), s.p, size, theory(x.n, s.p)))
	}
	for _, p := range sweep {
		list = append(list, x.counting(fmt.Sprintf(sweepPattern, p), pary(Reused, p), p, size, theory(x.n, p)))
	}
	return list, nil
}

// publishedWays are the five of the text.
func publishedWays(_ context.Context, x *batch) ([]lab.Way, error) {
	return []lab.Way{x.onHost(serial, Serial), x.onHost(simd, SIMD), x.onHost(threads, Threads(Serial)), x.onDevice(gpuBinary, binary), x.onDevice(gpuPAry, pary(Reused, PEs))}, nil
}

// searchWays are these and ours.
func searchWays(ctx context.Context, x *batch) ([]lab.Way, error) {
	list, err := publishedWays(ctx, x)
	if err != nil {
		return nil, err
	}
	words, err := x.wordWays(ctx)
	return slices.Concat(list, []lab.Way{x.onlySearch(onlyBinary, binary), x.onlySearch(onlyPAry, pary(Reused, PEs)), x.onDevice(wide, pary(Reused, 32)),
		x.onHost(vectors, Vectors), x.onHost(vectorsAll, Threads(Vectors))}, words), err
}
