package wisconsin

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// The systems. Those on the device copy the input to it and the output back in every run, but for the resident one.
const (
	gpu          = "gpu"
	gpuOne       = "gpu-local-1"
	gpuResident  = "gpu-resident"
	gpuOther     = "gpu-other"
	glCPU        = "gl-cpu"
	sequentially = "sequential"
	gpuVectors   = "gpu-vectors"
	gpuBlocks    = "gpu-blocks"
	writes       = "write"
	reads        = "read"
)

// sized is a system over tuples of a size.
func sized(system string, l Layout) string { return fmt.Sprintf("%s-%d", system, l.Bytes()) }

// systems are all, in the order of the legend.
func systems() []lab.System {
	list := []lab.System{{Name: gpu, Label: "GPU"}, {Name: gpuOne, Label: "GPU, local size 1"}, {Name: gpuResident, Label: "ours: GPU, resident"}, {Name: gpuOther, Label: "second GPU"},
		{Name: glCPU, Label: "GL on the CPU"}, {Name: sequentially, Label: "one core"}, {Name: gpuVectors, Label: "GPU, mask of vectors"}, {Name: gpuBlocks, Label: "ours: GPU, blocks"},
		{Name: SQLCompute, Label: "ours: SQL, compute"}, {Name: SQLComputeCold, Label: "ours: SQL, compute, cold"}, {Name: SQLCPU, Label: "ours: SQL, cpu"},
		{Name: writes, Label: "write"}, {Name: reads, Label: "read"}}
	for _, l := range []Layout{Small, Standard, Large} {
		list = append(list, lab.System{Name: sized(gpu, l), Label: fmt.Sprintf("GPU, %d bytes", l.Bytes())}, lab.System{Name: sized(sequentially, l), Label: fmt.Sprintf("one core, %d bytes", l.Bytes())})
	}
	return list
}

// place is that of a system in the legend.
func place(system string) int {
	return slices.IndexFunc(systems(), func(s lab.System) bool { return s.Name == system })
}

// Operations.
const (
	projection       = "projection"
	aggregationInt   = "aggregation_int"
	aggregationFloat = "aggregation_float"
	selecting        = "selection"
	selectingEighth  = "selection_eighth"
	scanned          = "selection_scan"
	joining          = "join"
	integrated       = "integrated"
	tupleSize        = "tuple_size"
)

func copying(bytes int) string { return fmt.Sprintf("copy_%d", bytes) }

// Counters of the hash table.
const (
	buckets      = "buckets"
	rebuilds     = "rebuilds"
	rebuilt      = "buckets rebuilt"
	mostRebuilds = "most rebuilds"
	iterations   = "iterations"
)

// published are the sizes of the text's tables.
var published = []int{1000, 10_000, 100_000, 1_000_000}

// at is the time of a system over a table of n tuples, in ms, or in ns a tuple. Where a section is named, it is
// the time of that section.
func at(operation, system, section string, n int, perTuple bool) lab.Value {
	return lab.Value{Terms: []lab.Term{{Operation: operation, System: system, Section: section, Rows: n, PerWork: perTuple}}, Of: func(v []float64) float64 {
		if perTuple {
			return v[0] * 1e6
		}
		return v[0]
	}}
}

// column is what is measured beside a column of a published table.
type column struct{ head, operation, system string }

// bySize is a table with a line for each size of the input.
func bySize(title string, perTuple bool, columns []column, paper [][]float64, notes ...string) lab.Table {
	t := lab.Table{Title: title, Heads: []string{"Tuples"}, Notes: notes}
	for _, c := range columns {
		t.Heads = append(t.Heads, c.head)
	}
	for i, n := range published {
		row := lab.Row{Name: fmt.Sprint(n), Paper: paper[i]}
		for _, c := range columns {
			row.Here = append(row.Here, at(c.operation, c.system, "", n, perTuple))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

const columnsNote = "9600GT: the device; 9400M: the second device, where --device names one; CPU: one core, here in Go."

// three are the columns of tables 2 to 4.
func three(operation string) []column {
	return []column{{"9600GT", operation, gpu}, {"9400M", operation, gpuOther}, {"CPU", operation, sequentially}}
}

func table5() lab.Table {
	t := lab.Table{Title: "run-time in ms for the projection query and its 4 main sections", Heads: []string{"Device, input", "Total", "Init kernel", "Init memory", "Exec kernel", "Clean up"},
		Notes: []string{columnsNote, "Go's collector cleans up at its own time: the sequential form has no such section, and no kernel."}}
	for _, device := range []struct {
		name, system string
		paper        [][]float64
	}{
		{"9600GT", gpu, [][]float64{{1.530, 0.007, 0.054, 1.078, 0.386}, {2.306, 0.004, 0.061, 1.831, 0.405}, {13.135, 0.010, 0.115, 11.420, 1.582}, {84.519, 0.009, 0.173, 75.446, 8.883}}},
		{"9400M", gpuOther, [][]float64{{1.582, 0.006, 0.053, 1.136, 0.381}, {2.955, 0.006, 0.085, 2.432, 0.427}, {13.830, 0.011, 0.164, 12.312, 1.334}, {84.378, 0.009, 0.163, 74.934, 9.265}}},
		{"CPU", sequentially, [][]float64{{0.054, 0.006, 0.007, 0.031, 0.005}, {0.139, 0.006, 0.035, 0.089, 0.004}, {1.818, 0.017, 0.025, 1.758, 0.013}, {16.626, 0.015, 0.049, 16.545, 0.012}}},
	} {
		for i, n := range published {
			row := lab.Row{Name: fmt.Sprintf("%s %d", device.name, n), Paper: device.paper[i]}
			for _, section := range append([]string{""}, projectSections...) {
				row.Here = append(row.Here, at(projection, device.system, section, n, false))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func table7() lab.Table {
	t := lab.Table{Title: "run-time per tuple in ns for the aggregation query with different tuple sizes", Heads: []string{"Device, input", "small", "standard", "large"},
		Notes: []string{"The text says ms; its standard row is the float column of table 6."}}
	for _, device := range []struct {
		name, system string
		paper        [][]float64
	}{
		{"9600GT", gpu, [][]float64{{4402, 4407, 4458}, {876.8, 863.2, 913.7}, {172.43, 160.03, 169.73}, {81.934, 94.015, 101.803}}},
		{"CPU", sequentially, [][]float64{{18, 18, 19}, {17.0, 17.6, 17.8}, {17.02, 21.30, 27.68}, {17.614, 21.204, 27.660}}},
	} {
		for i, n := range published {
			row := lab.Row{Name: fmt.Sprintf("%s %d", device.name, n), Paper: device.paper[i]}
			for _, l := range []Layout{Small, Standard, Large} {
				row.Here = append(row.Here, at(tupleSize, sized(device.system, l), "", n, true))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// projectSections are those of table 5.
var projectSections = []string{initKernel, initMemory, execution, cleanUp}

// selectSections are those of table 8.
var selectSections = []string{initKernel, initMemory, initPass, scanning, resultSet, resultMemory, finishPass, cleanUp}

func table8() lab.Table {
	t := lab.Table{Title: "run-time in ms for the different sections in the select query", Heads: []string{"Device, section", "1000", "10000", "100000", "1000000"},
		Notes: []string{columnsNote, "In the text the lines of the 9600 are shifted by one: the first is the total."}}
	for _, device := range []struct {
		name, system string
		paper        [][]float64
	}{
		{"9600", gpu, [][]float64{{7.997, 12.779, 27.749, 146.461}, {0.004, 0.004, 0.008, 0.009}, {0.047, 0.049, 0.117, 0.158}, {0.858, 0.845, 0.882, 2.079}, {5.626, 10.271, 22.733, 125.443},
			{0.002, 0.002, 0.002, 0.131}, {0.018, 0.019, 0.068, 0.045}, {0.938, 1.020, 2.451, 9.130}, {0.495, 0.560, 1.479, 9.457}}},
		{"9400", gpuOther, [][]float64{{8.830, 14.599, 20.887, 105.498}, {0.005, 0.005, 0.007, 0.010}, {0.062, 0.056, 0.106, 0.145}, {0.949, 0.962, 0.917, 2.024}, {5.963, 11.084, 15.141, 78.088},
			{0.001, 0.002, 0.002, 0.097}, {0.008, 0.032, 0.031, 0.028}, {1.160, 1.712, 2.836, 13.073}, {0.623, 0.737, 1.837, 12.023}}},
	} {
		for i, section := range append([]string{"total"}, selectSections...) {
			row := lab.Row{Name: device.name + " " + section, Paper: device.paper[i]}
			if section == "total" {
				section = ""
			}
			for _, n := range published {
				row.Here = append(row.Here, at(selecting, device.system, section, n, false))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// perTuple is a panel of ns a tuple over the size of the input.
func perTuple(title, operation string, systems ...string) lab.Panel {
	return lab.Panel{Title: title, XLabel: "tuples", LogX: true, Operations: []string{operation}, Systems: systems, Shows: lab.PerUnit}
}

func sections(title, operation string, shows lab.Quantity, systems ...string) lab.Panel {
	return lab.Panel{Title: title, XLabel: "tuples", Operations: []string{operation}, Systems: systems, As: lab.Stacked, Shows: shows}
}

func figures() []lab.Figure {
	devices := []string{gpu, gpuOne, gpuOther, gpuResident, SQLCompute, SQLComputeCold}
	hosts := []string{glCPU, sequentially, SQLCPU}
	largest := sections("time of the sections at the text's size", selecting, lab.Milliseconds, gpu, gpuVectors)
	largest.Paper, largest.XLabel, largest.Names = true, "", []string{"selection"}
	scanLargest := sections("time of the parts", scanned, lab.Milliseconds, gpu)
	var copies []string
	for n := 1 << 10; n <= 1<<30; n *= 4 {
		copies = append(copies, copying(n))
	}
	return []lab.Figure{
		{Name: "7", Title: "Run-time of the projection query per tuple", Panels: []lab.Panel{perTuple("on the GPU", projection, devices...), perTuple("on the CPU", projection, hosts...)}},
		{Name: "8", Title: "Run-time of the projection query for GPU and CPU", Panels: []lab.Panel{{XLabel: "", Operations: []string{projection},
			Names: []string{"projection"}, Systems: []string{gpu, gpuOne, gpuOther, glCPU, sequentially}, As: lab.Bars, Paper: true}}},
		{Name: "9", Title: "Proportions of the sections of the projection query", Panels: []lab.Panel{sections("on the GPU", projection, lab.Share, gpu), sections("on one core", projection, lab.Share, sequentially)}},
		{Name: "10", Title: "Aggregation: run-time per tuple", Panels: []lab.Panel{perTuple("ints on the GPU", aggregationInt, devices...), perTuple("floats on the GPU", aggregationFloat, devices...),
			perTuple("ints on the CPU", aggregationInt, hosts...), perTuple("floats on the CPU", aggregationFloat, hosts...)}},
		{Name: "11", Title: "Sections of the select query", Panels: []lab.Panel{largest, sections("share of the sections", selecting, lab.Share, gpu),
			perTuple("run-time per tuple", selecting, append(slices.Clone(devices), gpuVectors, sequentially, SQLCPU)...), perTuple("an eighth selected at every size", selectingEighth, gpu, gpuVectors, gpuResident, sequentially)}},
		{Name: "12", Title: "Parts of the scan of the select query", Panels: []lab.Panel{scanLargest, sections("share of the parts", scanned, lab.Share, gpu)}},
		{Name: "13", Title: "Influence of the tuple size", Panels: []lab.Panel{perTuple("on the GPU", tupleSize, sized(gpu, Small), sized(gpu, Standard), sized(gpu, Large)),
			perTuple("on one core", tupleSize, sized(sequentially, Small), sized(sequentially, Standard), sized(sequentially, Large))}},
		{Name: "14", Title: "Memory throughput for increasing amounts of data", Panels: []lab.Panel{{XLabel: "bytes", LogX: true, Binary: true, Operations: copies, Systems: []string{writes, reads}, Shows: lab.Bandwidth}}},
		{Name: "table1", Title: "The projection query", Tables: []lab.Table{bySize("run-time in ms for the projection query", false,
			[]column{{"9600GT", projection, gpu}, {"9400M", projection, gpuOther}, {"CPU OpenCL", projection, glCPU}, {"CPU C", projection, sequentially}},
			[][]float64{{1.430, 2.202, 0.006, 0.006}, {2.980, 5.071, 0.127, 0.091}, {15.070, 12.668, 1.781, 1.917}, {86.200, 91.955, 16.533, 18.730}}, columnsNote)}},
		{Name: "table2", Title: "The selection query", Tables: []lab.Table{bySize("run-time per tuple in ns for the selection query", true, three(selecting),
			[][]float64{{7965, 8845, 13}, {1307.3, 1451.8, 11.5}, {268.87, 208.35, 22.05}, {146.475, 108.544, 24.559}}, columnsNote)}},
		{Name: "table3", Title: "The join query", Panels: []lab.Panel{perTuple("run-time per tuple, with the spread of the runs", joining, append(slices.Clone(devices), gpuBlocks, sequentially, SQLCPU)...),
			{Title: "rebuilds of buckets", XLabel: "tuples", LogX: true, Operations: []string{joining}, Systems: []string{gpu}, Shows: lab.Counter, YLabel: "of a run",
				Counters: []lab.Line{{Counter: buckets, Label: "buckets"}, {Counter: rebuilds, Label: "rebuilds"}, {Counter: iterations, Label: "iterations"}}}},
			Tables: []lab.Table{bySize("run-time per tuple in ns for the join query", true, three(joining),
				[][]float64{{15369, 13862, 447}, {5249.9, 2726.2, 180.3}, {3389.11, 1610.9, 562.46}, {3845.978, 2603.181, 523.562}}, columnsNote)}},
		{Name: "table4", Title: "The integrated query", Panels: []lab.Panel{perTuple("run-time per tuple", integrated, append(slices.Clone(devices), sequentially, SQLCPU)...)},
			Tables: []lab.Table{bySize("run-time per tuple in ns for the integrated query", true, three(integrated),
				[][]float64{{20717, 25466, 333}, {3452.9, 3847.8, 59.8}, {679.60, 644.11, 78.35}, {326.175, 233.390, 76.022}}, columnsNote)}},
		{Name: "table5", Title: "The projection query and its sections", Tables: []lab.Table{table5()}},
		{Name: "table6", Title: "The aggregation query", Tables: []lab.Table{bySize("run-time per tuple in ns for the aggregation query with different settings", true,
			[]column{{"9600GT", aggregationInt, gpu}, {"9400M", aggregationInt, gpuOther}, {"9600GT float", aggregationFloat, gpu}, {"CPU", aggregationInt, sequentially}, {"CPU float", aggregationFloat, sequentially}},
			[][]float64{{4545, 5367, 4382, 15, 18}, {970.2, 880.4, 874.0, 13.7, 17.4}, {223.61, 161.74, 158.82, 18.37, 21.46}, {101.183, 80.069, 94.018, 18.427, 21.351}},
			columnsNote, "The text says ms. Its column of the 9400M as the active card (3865, 721.2, 153.39, 66.426) has no counterpart.")}},
		{Name: "table7", Title: "Tuple sizes", Tables: []lab.Table{table7()}},
		{Name: "table8", Title: "The sections of the select query", Tables: []lab.Table{table8()}},
	}
}
