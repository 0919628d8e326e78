package pary

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/papers/lab"
)

// The systems. The systems on the device copy the queries to it and the places back in every run. Those whose name ends in "resident" do
// not, and figure 5 does not.
const (
	serial       = "cpu-serial"
	simd         = "cpu-simd"
	threads      = "cpu-threads"
	gpuBinary    = "gpu-binary"
	gpuPAry      = "gpu-pary"
	ownPAry      = "gpu-pary-own"
	sharedPAry   = "gpu-pary-shared"
	onlyBinary   = "gpu-binary-resident"
	onlyPAry     = "gpu-pary-resident"
	twoGPUs      = "gpus-pary"
	wide         = "gpu-pary-32-offload"
	vectors      = "cpu-pary"
	vectorsAll   = "cpu-pary-threads"
	launched     = "launch"
	copied       = "launch+copy"
	searched     = "launch+copy+search"
	loading      = "load"
	wordsPrefix  = "words-"
	CPUTree      = "words-cpu-tree" // of package bench, which may import the engine's tree
	sweepPattern = "gpu-pary-%d"
)

// sweep are the numbers of threads beside the text's 8; ours.
var sweep = []int{2, 4, 16, 32, 64, 128}

func swept() (names []string) {
	for _, p := range sweep {
		names = append(names, fmt.Sprintf(sweepPattern, p))
	}
	return names
}

// systems are all, in the order of the legend.
func systems() []lab.System {
	list := []lab.System{
		{Name: serial, Label: "binary, CPU"}, {Name: simd, Label: "binary, CPU SSE"}, {Name: threads, Label: "binary, CPU TLP"},
		{Name: gpuBinary, Label: "binary, GPU TLP"}, {Name: gpuPAry, Label: "p-ary, GPU SIMD, p = 8"},
		{Name: onlyBinary, Label: "binary, no copies"}, {Name: onlyPAry, Label: "p-ary, no copies"}, {Name: twoGPUs, Label: "p-ary, several GPUs"},
		{Name: ownPAry, Label: "p-ary, own boundaries"}, {Name: sharedPAry, Label: "p-ary, shared"},
	}
	for _, p := range sweep {
		list = append(list, lab.System{Name: fmt.Sprintf(sweepPattern, p), Label: fmt.Sprintf("ours: p = %d", p)})
	}
	return append(list, lab.System{Name: wide, Label: "ours: p = 32"}, lab.System{Name: vectors, Label: "ours: p-ary, CPU SSE"}, lab.System{Name: vectorsAll, Label: "ours: p-ary, all cores"},
		lab.System{Name: wordsPrefix + "binary", Label: "ours, 4 bytes: binary"}, lab.System{Name: wordsPrefix + "p-ary", Label: "ours, 4 bytes: p-ary"},
		lab.System{Name: wordsPrefix + "tree", Label: "ours, 4 bytes: tree"}, lab.System{Name: wordsPrefix + "ordered", Label: "ours, 4 bytes: ordered"},
		lab.System{Name: CPUTree, Label: "ours, 4 bytes: CPU tree"})
}

// Operations.
const probing, loads = "probe", "load_keys"

func searching(batch int) string  { return fmt.Sprintf("search_%d", batch) }
func missing(batch int) string    { return fmt.Sprintf("miss_%d", batch) }
func offloading(batch int) string { return fmt.Sprintf("offload_%d", batch) }
func sustained(batch int) string  { return fmt.Sprintf("sustain_%d", batch) }

func named(name func(int) string, batches []int) (list []string) {
	for _, b := range batches {
		list = append(list, name(b))
	}
	return list
}

// The batches of the figures.
var (
	batches    = []int{16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
	misses     = []int{1 << 10, 16 << 10}
	offloads   = []int{16, 32, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10}
	sustaining = []int{16, 32, 64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10}
	bounds     = []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 4, 10}
	workloads  = []int{16, 1 << 10, 16 << 10} // of table 1
)

// What figure 5 counts, a search.
const (
	steps, results, reads, conflicts = "steps", "results a step", "reads", "conflicts"
	stepsTheory, resultsTheory       = "steps in theory", "results a step in theory"
	readsTheory, readsMore, readsFew = "reads in theory, p a step", "reads in theory, p + 1 a step", "reads in theory, p - 1 a step"
)

// theory is what the text says of a search among n keys by p threads together.
func theory(n, p int) map[string]float64 {
	logP, q := math.Log2(float64(n))/math.Log2(float64(p)), float64(p)
	return map[string]float64{stepsTheory: logP, resultsTheory: 1 / logP, readsTheory: q * logP, readsMore: (q + 1) * logP, readsFew: (q - 1) * logP}
}

// binaryTheory is what it says of p binary searches at a time.
func binaryTheory(n, p int) map[string]float64 {
	log := math.Log2(float64(n))
	return map[string]float64{stepsTheory: log, resultsTheory: float64(p) / log, readsTheory: log}
}

func counting(title, label string, systems []string, counters ...lab.Line) lab.Panel {
	return lab.Panel{Title: title, XLabel: "keys", LogX: true, Operations: []string{probing}, Systems: systems, Shows: lab.Counter, Counters: counters, YLabel: label}
}

func figures() []lab.Figure {
	published, each := []string{gpuBinary, gpuPAry}, append([]string{gpuBinary, gpuPAry}, swept()...)
	schemes := []string{gpuBinary, ownPAry, sharedPAry, gpuPAry}
	five := []string{serial, simd, threads, gpuBinary, gpuPAry}
	ours := []string{gpuPAry, onlyPAry, onlyBinary, wide, vectors, vectorsAll, wordsPrefix + "binary", wordsPrefix + "p-ary", wordsPrefix + "tree", wordsPrefix + "ordered", CPUTree}
	over := func(title string, name func(int) string, batches []int, systems []string) lab.Panel {
		return lab.Panel{Title: title, XLabel: "queries of a batch", LogX: true, Binary: true, Operations: named(name, batches), Systems: systems, Shows: lab.Rate}
	}
	table := lab.Table{Title: "speed-up over the serial CPU implementation", Heads: []string{"[#Queries]", "16", "1k", "16k"},
		Notes: []string{"The numbers are those of figure 6: with the copies of queries and results where a GPU searches."}}
	for _, line := range []struct {
		name, system string
		paper        []float64
	}{{"binary CPU", serial, []float64{1, 1, 1}}, {"binary CPU SSE", simd, []float64{1.3, 1.4, 1.4}}, {"binary CPU TLP", threads, []float64{0.6, 1.1, 2.1}},
		{"binary GPU TLP", gpuBinary, []float64{0.3, 5.1, 5.1}}, {"p-ary GPU SIMD", gpuPAry, []float64{0.5, 5.4, 6.7}}} {
		l := lab.Row{Name: line.name, Paper: line.paper}
		for _, b := range workloads {
			l.Here = append(l.Here, lab.Speedup(searching(b), line.system, serial))
		}
		table.Rows = append(table.Rows, l)
	}
	whole := []lab.Step{{System: launched, Does: "launch"}, {System: copied, Does: "copy of the queries"}, {System: searched, Does: "search"}, {System: gpuPAry, Does: "copy of the results"}}
	breakdown := lab.Panel{XLabel: "queries of a batch", Binary: true, Operations: named(offloading, offloads), As: lab.Stacked, Steps: whole}
	shares := breakdown
	breakdown.Title, shares.Title, shares.Shows = "time of each step", "share of each step", lab.Share
	return []lab.Figure{
		{Name: "table1", Title: "Speed-up of parallel index searches", Tables: []lab.Table{table}},
		{Name: "5", Title: "P-ary and parallel binary search: theory for p = 8, and measured", Panels: []lab.Panel{
			counting("(a) response time", "steps of a search", published, lab.Line{Counter: steps}, lab.Line{Counter: stepsTheory, Label: "theory"}),
			counting("(b) throughput", "results a step of p threads", published, lab.Line{Counter: results}, lab.Line{Counter: resultsTheory, Label: "theory"}),
			counting("(c) memory accesses", "reads of a search", published, lab.Line{Counter: reads}, lab.Line{Counter: readsTheory, Label: "theory"},
				lab.Line{Counter: readsMore, Label: "theory, p + 1 a step"}, lab.Line{Counter: readsFew, Label: "theory, p - 1"}),
			counting("memory accesses by scheme", "reads of a search", schemes, lab.Line{Counter: reads}),
			counting("reads of a key that others of the p threads read, too", "conflicts of a search", schemes, lab.Line{Counter: conflicts}),
			counting("steps for each p", "steps of a search", each, lab.Line{Counter: steps}),
			counting("memory accesses for each p", "reads of a search", each, lab.Line{Counter: reads}),
			{Title: "measured throughput for each p, no copies", XLabel: "keys", LogX: true, Operations: []string{probing}, Systems: append(schemes, swept()...), Shows: lab.Rate},
		}},
		{Name: "6", Title: "Throughput of index searches", Panels: []lab.Panel{over("as published", searching, batches, five),
			over("p-ary search beside ours", searching, batches, ours), over("keys that are not there", missing, misses, five)}},
		{Name: "7", Title: "Timing breakdown of offloading a batch", Panels: []lab.Panel{breakdown, shares}},
		{Name: "8", Title: "Sustained throughput under a bound of the response time", Panels: []lab.Panel{{XLabel: "bound in ms", LogX: true, Operations: named(sustained, sustaining),
			Systems: []string{gpuPAry, twoGPUs, gpuBinary, threads, simd}, Shows: lab.Rate, Within: bounds}}},
	}
}
