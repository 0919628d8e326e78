package pary

import (
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// within is the largest throughput, in searches a second, of the batches whose median keeps a bound in ms. The medians are those of
// some batches of figure 8.
func within(bound float64, medians []float64) (most float64) {
	for i, ms := range medians {
		if ms <= bound {
			most = max(most, float64(sustaining[i])/ms*1e3)
		}
	}
	return most
}

func sustainedBy(systems ...string) (terms []lab.Term) {
	for _, s := range systems {
		for _, b := range sustaining {
			terms = append(terms, lab.Term{Operation: sustained(b), System: s})
		}
	}
	return terms
}

// peak is the throughput of a system within a bound, in millions a second.
func peak(system string, bound float64) lab.Value {
	return lab.Value{Terms: sustainedBy(system), Some: true, Of: func(v []float64) float64 { return within(bound, v) / 1e6 }}
}

// shareOf is its share, in %, of what it and another system have together within a bound.
func shareOf(of, over string, bound float64) lab.Value {
	return lab.Value{Terms: sustainedBy(of, over), Some: true, Of: func(v []float64) float64 {
		a, b := within(bound, v[:len(sustaining)]), within(bound, v[len(sustaining):])
		return 100 * a / max(a+b, 1)
	}}
}

func counted(system, counter string) lab.Term {
	return lab.Term{Operation: probing, System: system, Counter: counter}
}

func claims() (list []lab.Claim) {
	say := func(figure lab.Name, what, says, where string, number float64, unit string, of, over string, verdict lab.Verdict, here lab.Value) {
		list = append(list, lab.Claim{Figure: figure, What: what, Says: says, Where: where, Number: number, Unit: unit, Of: of, Over: over, Here: here, Verdict: verdict})
	}
	speed := func(batch int, what, says string, number float64, of, over string) {
		say("6", what, says, "S4, T1, F6", number, "times", of, over, lab.Faster, lab.Speedup(searching(batch), of, over))
	}
	say("5", "steps", "a p-ary search has fewer steps than a binary one: log2 p times fewer", "S3, F5a", 3, "times", gpuBinary, gpuPAry, lab.Near, lab.Ratio(counted(gpuBinary, steps), counted(gpuPAry, steps)))
	for _, s := range []struct {
		system, scheme string
		number         float64
	}{{ownPAry, "2p reads a step", 16. / 3}, {sharedPAry, "p + 1", 3}, {gpuPAry, "p - 1", 7. / 3}} {
		say("5", "memory accesses, "+s.scheme, "a p-ary search has more than twice, nearly three times as many memory accesses (with "+s.scheme+")", "S3, S5, F5c", s.number, "times", s.system, gpuBinary,
			lab.Near, lab.Ratio(counted(s.system, reads), counted(gpuBinary, reads)))
	}
	say("5", "conflicts of p binary searches", "p binary searches have p log2 p conflicts at least", "S3", PEs*3, "conflicts", gpuBinary, "", lab.AtLeast,
		lab.Value{Terms: []lab.Term{counted(gpuBinary, conflicts)}, Of: func(v []float64) float64 { return PEs * v[0] }})
	say("5", "conflicts of a p-ary search", "a p-ary search has p - 1 conflicts at most", "S3", PEs-1, "conflicts", gpuPAry, "", lab.AtMost, lab.Counted(probing, gpuPAry, conflicts))
	speed(16<<10, "p-ary beside binary, 16k queries", "p-ary search on the GPU has up to 30 % more throughput than binary search", 6.7/5.1, gpuPAry, gpuBinary)
	speed(1<<10, "p-ary beside binary, 1k queries", "with 1k queries it has 6 % more", 5.4/5.1, gpuPAry, gpuBinary)
	speed(16, "p-ary beside binary, 16 queries", "its response time is better, too", 5./3, gpuPAry, gpuBinary)
	speed(16, "p-ary on the GPU beside the CPU, 16 queries", "small batches lose on the GPU", 0.5, gpuPAry, serial)
	speed(16, "binary on the GPU beside the CPU, 16 queries", "small batches lose on the GPU", 0.3, gpuBinary, serial)
	speed(16<<10, "p-ary on the GPU beside the CPU, 16k queries", "large batches win", 6.7, gpuPAry, serial)
	var sse []lab.Term
	for _, b := range workloads {
		sse = append(sse, lab.Term{Operation: searching(b), System: serial}, lab.Term{Operation: searching(b), System: simd})
	}
	say("6", "SSE, the worst of 16, 1k and 16k queries", "SSE pays for every batch", "S4, T1, F6", 1.3, "times", simd, serial, lab.Faster, lab.Value{Terms: sse, Of: func(v []float64) float64 {
		return min(v[0]/v[1], v[2]/v[3], v[4]/v[5])
	}})
	speed(16, "threads, 16 queries", "threads on the CPU lose with small batches", 0.6, threads, serial)
	speed(16<<10, "threads, 16k queries", "threads on the CPU pay for large batches", 2.1, threads, serial)
	var parts []lab.Term
	for _, s := range []string{copied, searched, gpuPAry} {
		parts = append(parts, lab.Term{Operation: offloading(32), System: s})
	}
	say("7", "offloading, share at 32 queries", "about 70 % of the time of 32 queries is spent on the launch and on copies", "S4, F7", 70, "%", gpuPAry, "", lab.Near, lab.Value{Terms: parts, Of: func(v []float64) float64 {
		return 100 * (1 - max(0, v[1]-v[0])/v[2])
	}})
	say("7", "load of the keys", "576 MB of keys take 400 ms to the device", "S4", 1.44, "GB/s", loading, "", lab.AtLeast, lab.Value{Terms: []lab.Term{{Operation: loads, System: loading, PerWork: true}},
		Of: func(v []float64) float64 { return 1e-6 / v[0] }})
	for _, s := range []struct{ system, name string }{{twoGPUs, "two GPUs"}, {gpuPAry, "one GPU"}} {
		say("8", s.name+" within 2 ms", "two GPUs reach their peak of 7.5 million searches a second from 2 ms on (here "+s.name+")", "S4, F8", 7.5, "million a second", s.system, "", lab.AtLeast, peak(s.system, 2))
		say("8", s.name+" beside the CPU's threads within 0.2 ms", "the GPU can be used efficiently from 0.2 ms on (here "+s.name+": what it has of the throughput of both)", "S4, F8", 50, "%", s.system, threads, lab.AtLeast, shareOf(s.system, threads, 0.2))
	}
	return slices.Clip(list)
}
