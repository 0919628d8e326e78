package hsu

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// The systems. The first one's tables are in device memory; the result comes to host memory. Those of package bench have names that it
// takes from here.
const (
	gpu         = "gpu"
	gpuBulk     = "gpu-bulk"
	SQLCompute  = "sql-compute"
	SQLCPU      = "sql-cpu"
	SQLAuto     = "sql-auto"
	SQLBulk     = "sql-bulk"
	SQLiteIndex = "sqlite-index"
	SQLiteScan  = "sqlite-scan"
	DuckDB      = "duckdb"
)

// ours and theirs are the sides of turning points.
var (
	ours   = []string{gpu, SQLCompute, SQLCPU, SQLAuto}
	theirs = []string{SQLiteIndex, SQLiteScan}
)

// fifths are the sizes of tables of figures 4-6 to 4-8. sized is a system over the k-th of them.
const fifths = 5

func sized(k int) string { return fmt.Sprintf("gpu-%d-fifths", k) }

// systems are all, in the order of the legend.
func systems() []lab.System {
	list := []lab.System{{Name: gpu, Label: "GPU DB, as published"}, {Name: SQLiteIndex, Label: "SQLite, index on c1"}, {Name: SQLiteScan, Label: "SQLite, no index"}, {Name: SQLCompute, Label: "ours: SQL, compute"},
		{Name: SQLCPU, Label: "ours: SQL, cpu"}, {Name: SQLAuto, Label: "ours: SQL, auto"}, {Name: gpuBulk, Label: "ours: GPU DB, in one bulk"}, {Name: SQLBulk, Label: "ours: SQL, in one bulk"}}
	for k, label := range []string{"a fifth of the records", "two fifths", "three fifths", "four fifths", "all records"} {
		list = append(list, lab.System{Name: sized(k + 1), Label: label})
	}
	return list
}

// Turning are the functions of table 4-4, each with its share of the records in %.
var Turning = []struct {
	Function
	Name  string
	Share float64
}{{Select, "Selection Query", 1.926}, {SelectSort, "Selection Query and Sorting Data", 2.061}, {SelectGroup, "Selection Query and Data Grouping", 0.491},
	{InsertSelect, "Data Insert According to Selection Query", 0.784}, {UpdateSelected, "Data Update", 0.161}, {DeleteSelected, "Data Delete", 0.784}}

// The figures that have a function over both sizes of table.
var figureOf = map[Function]lab.Name{Select: "4-2", SelectGroup: "4-3", InsertSelect: "4-4"}

// emptyCapacity is that of the table that figure 4-4 inserts into.
const emptyCapacity = 1024

// insertions are the places of figure 4-1, in hundredths of the table: 500 records each. The table doubles between 31 and 32.
var insertions = []int{1, 10, 20, 31, 32, 60, 100}

// queried are the places of figures 4-2 to 4-4, fewer on a software rasteriser.
func queried(software bool) (list []int) {
	if software {
		return []int{100, 1000, 1100, 1700, 2000, 2100, 2500, 5000, 10_000}
	}
	for q := 100; q <= 2500; q += 100 {
		list = append(list, q)
	}
	for q := 3000; q <= 10_000; q += 500 {
		list = append(list, q)
	}
	return list
}

// queriedOnDevice are the places of figures 4-5 to 4-7.
func queriedOnDevice(software bool) (list []int) {
	if software {
		return []int{2500, 4000, 4500, 6000, 8000, 8500, 10_000}
	}
	for q := 2500; q <= 10_000; q += 500 {
		list = append(list, q)
	}
	return list
}

// Operations.
func inserted(steps int) string { return fmt.Sprintf("insert_%d", steps) }
func overPart(f Function, parts, q int) string {
	return fmt.Sprintf("%s_n%d_q%d", f, parts, q)
}
func deviceOnly(q int) string  { return fmt.Sprintf("device_group_q%d", q) }
func turned(f Function) string { return "turn_" + string(f) }
func named(name func(int) string, list []int) (names []string) {
	for _, x := range list {
		names = append(names, name(x))
	}
	return names
}

// singly is the section of an insertion that is no doubling.
const singly = "records"

// What is counted of turning points, beside a system.
const (
	turningPoint     = "turning point"
	turningShare     = "turning point, % of N"
	turningSlope     = "slope of turning points, % of N"
	aheadUpTo        = "ahead up to, % of N"
	aheadEverywhere  = "ahead everywhere"
	behindEverywhere = "behind everywhere"
)

func beside(counter, over string) string { return counter + ", beside " + over }

// share is the turning point of a system in % of N: infinite where it is behind everywhere, 0 where it is ahead everywhere. It is negative
// where it is ahead up to there.
func share(f Function, of, over string) lab.Value {
	v := lab.Value{Some: true, Of: func(v []float64) float64 {
		switch {
		case v[0] > 0:
			return v[0]
		case v[1] > 0:
			return -v[1]
		case v[2] > 0:
			return 0
		case v[3] > 0:
			return math.Inf(1)
		}
		return math.NaN()
	}}
	for _, counter := range []string{turningShare, aheadUpTo, aheadEverywhere, behindEverywhere} {
		v.Terms = append(v.Terms, lab.Term{Operation: turned(f), System: of, Counter: beside(counter, over)})
	}
	return v
}

// writeShare writes one.
func writeShare(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "behind everywhere"
	case x == 0:
		return "ahead everywhere"
	case x < 0:
		return fmt.Sprintf("ahead up to %.3g", -x)
	}
	return fmt.Sprintf("%.3f", x)
}

// names of both SQLites in titles.
var peers = map[string]string{SQLiteIndex: "SQLite with an index on c1", SQLiteScan: "SQLite without an index"}

func table44() (list []lab.Table) {
	for _, over := range theirs {
		t := lab.Table{Title: "turning points in % of N, beside " + peers[over], Heads: []string{"Function", "GPU DB", "ours: compute", "ours: cpu", "ours: auto"}, Write: writeShare,
			Notes: []string{"From there on SQLite takes longer. The N is that of the text's largest table."}}
		lines := lab.Table{Title: "slope of the turning points over N, in %, beside " + peers[over], Heads: t.Heads, Write: func(x float64) string { return fmt.Sprintf("%.3f", x) }}
		for _, f := range Turning {
			row, line := lab.Row{Name: f.Name}, lab.Row{Name: f.Name}
			if over == SQLiteIndex {
				row.Paper, line.Paper = []float64{f.Share}, []float64{f.Share}
			}
			for _, of := range ours {
				row.Here, line.Here = append(row.Here, share(f.Function, of, over)), append(line.Here, lab.Counted(turned(f.Function), of, beside(turningSlope, over)))
			}
			t.Rows, lines.Rows = append(t.Rows, row), append(lines.Rows, line)
		}
		list = append(list, t, lines)
	}
	return list
}

func figures() []lab.Figure {
	all, systems := queried(false), []string{gpu, SQLiteIndex, SQLiteScan, SQLCompute, SQLCPU, SQLAuto, DuckDB}
	both := func(f Function) (list []lab.Panel) {
		for _, part := range []struct {
			title string
			parts int
		}{{"N: a tenth of the records (50 K)", 10}, {"N: a fifth (100 K)", 5}} {
			list = append(list, lab.Panel{Title: part.title, XLabel: "selected records", LogX: true, Operations: named(func(q int) string { return overPart(f, part.parts, q) }, all), Systems: systems})
		}
		return list
	}
	var each []string
	for k := 1; k <= fifths; k++ {
		each = append(each, sized(k))
	}
	onDevice := func(title, section string, systems ...string) []lab.Panel {
		return []lab.Panel{{Title: title, XLabel: "selected records", Operations: named(deviceOnly, queriedOnDevice(false)), Systems: systems, Section: section}}
	}
	var turns []lab.Panel
	for _, f := range Turning {
		turns = append(turns, lab.Panel{Title: f.Name, XLabel: "records of the table", LogX: true, Operations: []string{turned(f.Function)}, Systems: ours, Shows: lab.Counter, YLabel: "selected records",
			Counters: []lab.Line{{Counter: beside(turningPoint, SQLiteIndex)}, {Counter: beside(turningPoint, SQLiteScan), Label: "no index"}}})
	}
	return []lab.Figure{
		{Name: "4-1", Title: "Insertion, a record a statement", Panels: []lab.Panel{{Title: "into a table of a tenth of the records (50 K)", XLabel: "inserted records", Operations: named(inserted, insertions), Systems: append(slices.Clone(systems), gpuBulk, SQLBulk)}}},
		{Name: "4-2", Title: "Selection", Panels: both(Select)},
		{Name: "4-3", Title: "Selection and grouping", Panels: both(SelectGroup)},
		{Name: "4-4", Title: "Insertion according to a selection, into an empty table", Panels: both(InsertSelect)},
		{Name: "4-5", Title: "Time on the device: the grouping of what is selected", Panels: onDevice("N: a fifth of the records (100 K)", grouping, sized(1))},
		{Name: "4-6", Title: "Time on the device: selection", Panels: onDevice("N: fifths of the records (100 K to 500 K)", selecting, each...)},
		{Name: "4-7", Title: "Time on the device: selection and grouping", Panels: onDevice("N: fifths of the records (100 K to 500 K)", "", each...)},
		{Name: "4-8", Title: "Turning points: selected records from which on SQLite takes longer", Panels: turns},
		{Name: "table4-4", Title: "Turning points", Tables: table44()},
	}
}
