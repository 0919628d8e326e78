package wisconsin

import (
	"math"

	"github.com/stencildb/stencildb/papers/lab"
)

func claims() (list []lab.Claim) {
	say := func(figure lab.Name, what, says, where string, number float64, unit string, of, over string, verdict lab.Verdict, here lab.Value) {
		list = append(list, lab.Claim{Figure: figure, What: what, Says: says, Where: where, Number: number, Unit: unit, Of: of, Over: over, Here: here, Verdict: verdict})
	}
	for _, q := range []struct {
		figure          lab.Name
		operation, name string
		device, core    float64
		where           string
	}{{"7", projection, "projection", 86.2, 18.73, "T1"}, {"10", aggregationInt, "aggregation", 101.183, 18.427, "T6"}, {"11", selecting, "selection", 146.475, 24.559, "T2"},
		{"table3", joining, "join", 3845.978, 523.562, "T3"}, {"table4", integrated, "integrated query", 326.175, 76.022, "T4"}} {
		say(q.figure, q.name+", GPU beside one core", "over 1 million tuples one core is faster than the GPU", "S5.2, "+q.where, q.core/q.device, "times", gpu, sequentially, lab.Faster,
			lab.Speedup(q.operation, gpu, sequentially))
	}
	say("7", "projection of the smallest table, GPU beside one core", "over 1,000 tuples one core is 240 times as fast", "S5.2.1, T1", 0.006/1.43, "times", gpu, sequentially, lab.Faster,
		lab.Ratio(lab.Term{Operation: projection, System: sequentially, Rows: published[0]}, lab.Term{Operation: projection, System: gpu, Rows: published[0]}))
	falls := func(figure lab.Name, operation, system, what, says, where string, number float64) {
		say(figure, what, says, where, number, "times", system, "", lab.Faster,
			lab.Ratio(lab.Term{Operation: operation, System: system, Rows: lab.Smallest, PerWork: true}, lab.Term{Operation: operation, System: system, PerWork: true}))
	}
	falls("7", projection, gpu, "projection, GPU time a tuple of the smallest table beside the text's", "the GPU's time a tuple falls with the input", "S5.2.1, T1", 1430/86.2)
	falls("7", projection, sequentially, "projection, one core's time a tuple of the smallest table beside the text's", "one core's time a tuple rises with the input", "S5.2.1, T1", 6/18.73)
	falls("11", selecting, gpu, "selection, GPU time a tuple of the smallest table beside the text's", "the GPU's time a tuple falls with the input", "S5.2.3, T2", 7965/146.475)
	falls("11", selecting, sequentially, "selection, one core's time a tuple of the smallest table beside the text's", "one core's time a tuple rises with the input", "S5.2.3, T2", 13/24.559)
	say("7", "projection, the same programs on the CPU", "the bus is the reason: the same OpenCL on the CPU takes 0.88 of the time of the C program", "S5.2.1, T1", 16.533/18.73, "times", glCPU, sequentially, lab.Near,
		lab.Ratio(lab.Term{Operation: projection, System: glCPU}, lab.Term{Operation: projection, System: sequentially}))
	share := func(operation string, parts []string, of string) lab.Value {
		v := lab.Value{Of: func(v []float64) float64 {
			total := 0.0
			for _, x := range v[1:] {
				total += x
			}
			return 100 * v[0] / total
		}}
		for _, s := range append([]string{of}, parts...) {
			v.Terms = append(v.Terms, lab.Term{Operation: operation, System: gpu, Section: s})
		}
		return v
	}
	say("11", "share of the scan in the selection", "the scan is 86 % of the selection", "S5.2.3, T8, F11", 100*125.443/146.461, "%", gpu, "", lab.Near, share(selecting, selectSections, scanning))
	say("12", "share of the copy in the scan", "the copy of the mask is 81 % of the scan", "S5.2.3, F12", 81, "%", gpu, "", lab.Near, share(scanned, []string{copyOfMask, prefixSum, maskSum}, copyOfMask))
	floats := func(system, says string, number float64) {
		say("10", "floats beside ints, "+system, says, "S5.2.2, T6", number, "times", system, "", lab.Faster,
			lab.Ratio(lab.Term{Operation: aggregationInt, System: system}, lab.Term{Operation: aggregationFloat, System: system}))
	}
	floats(gpu, "floats are faster than ints on the GPU", 101.183/94.018)
	floats(sequentially, "floats are slower than ints on the CPU", 18.427/21.351)
	wide := func(system, says string, number float64) {
		say("13", "large tuples beside small ones, "+system, says, "S5.2.6, T7", number, "times", sized(system, Large), sized(system, Small), lab.Near,
			lab.Ratio(lab.Term{Operation: tupleSize, System: sized(system, Large)}, lab.Term{Operation: tupleSize, System: sized(system, Small)}))
	}
	wide(gpu, "tuples 5.7 times as large cost 24 % on the GPU", 101.803/81.934)
	wide(sequentially, "tuples 5.7 times as large cost 57 % on one core", 27.66/17.614)
	var sizes []lab.Term
	for _, n := range published {
		sizes = append(sizes, lab.Term{Operation: joining, System: gpu, Rows: n, PerWork: true})
	}
	say("table3", "the join's best size", "the join is fastest, a tuple, at 100,000 tuples", "S5.2.4, T3", 100, "thousand tuples", gpu, "", lab.Near, lab.Value{Terms: sizes, Some: true, Of: func(v []float64) float64 {
		best, measured := 0, 0
		for i, ns := range v {
			if math.IsNaN(ns) {
				continue
			}
			if measured++; measured == 1 || ns < v[best] {
				best = i
			}
		}
		if measured < 2 {
			return math.NaN()
		}
		return float64(published[best]) / 1000
	}})
	say("table3", "rebuilds of buckets", "the time of the join varies from 3.2 to 8.9 us a tuple, because buckets are rebuilt: one at least", "S5.2.4, T3", 1, "rebuilds", gpu, "", lab.AtLeast, lab.Counted(joining, gpu, rebuilds))
	return list
}
