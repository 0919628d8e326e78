package bench

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
)

// Suites lists the suites in the order in which to show them.
func Suites() []Suite {
	listed.Do(func() { suites = listSuites() })
	return slices.Clone(suites)
}

// The suites are made once: reports ask for theirs often.
var (
	listed sync.Once
	suites []Suite
)

func listSuites() []Suite {
	return append([]Suite{{
		Name: "operations", Doc: "the paper's operations over up to four attributes, on every backend and peer",
		Rows: small, Backends: report.Backends(), Operations: workload.Operations,
	}, {
		Name: "auto", Doc: "the backend auto beside the best of the others, case by case",
		Rows: small, Backends: report.Backends(), Alone: true, Operations: workload.Operations,
	}, {
		Name: "targets", Doc: "the speeds that the project has set itself (H200; two cores with DuckDB), beside those measured",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{evaluation.SoftwareRows}
			}
			return []int{evaluation.SmallHardwareRows, evaluation.HardwareRows}
		},
		Backends: report.Backends(), Operations: slices.DeleteFunc(slices.Clone(workload.Operations), func(o workload.Operation) bool {
			return !slices.ContainsFunc(evaluation.Targets(), func(t evaluation.Target) bool { return t.Operation == o.Name })
		}),
	}, {
		Name: "paper", Doc: "the evaluation of the 2004 paper: its figures 2 to 10, and 11 for selectivities",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return workload.Ladder(1_000_000)
			}
			return workload.Ladder(1 << 28)
		},
		Backends: []string{report.Classic, "fused", "compute", "cpu"}, Operations: workload.FigureOperations, Graphics: true, Table: "tcpip",
		Figures: evaluation.Figures, ladder: workload.Ladder,
	}, {
		Name: "load", Doc: "whole processes, from their start to their end, that read a file and answer",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{1_000_000, evaluation.SoftwareRows}
			}
			return []int{120_000_000}
		},
		Backends: []string{"cpu", "compute", "auto"}, Operations: loadOperations, Files: true, Table: "lineorder",
	}, {
		Name: "relational", Doc: "sorts, groups and joins over tables of --rows each",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{1_000_000, 16_000_000}
			}
			return []int{1 << 20, 1 << 24, 1 << 26}
		},
		Backends: []string{"cpu", "compute", "auto"}, Operations: workload.RelationalOperations(), tables: []workload.Source{workload.RelationalSource()},
	}, {
		Name: "functions", Doc: "every scalar function over --rows values that hardly repeat",
		Rows:     func(report.Machine) []int { return []int{1_000_000} },
		Backends: []string{"cpu"}, Fresh: true, Gaps: true, Operations: workload.FunctionOperations(), tables: []workload.Source{workload.FunctionsSource()},
	}, {
		Name: "ssb", Doc: "the thirteen queries of the Star Schema Benchmark; --rows are those of lineorder, 6M at scale 1",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{workload.SSBRows}
			}
			return []int{20 * workload.SSBRows}
		},
		Backends: []string{"cpu", "compute", "auto"}, Fresh: true, Operations: workload.SSBOperations(), tables: []workload.Source{workload.SSBSource()},
	}, {
		Name: "tpch", Doc: "the 22 queries of TPC-H; --rows are those of lineitem, 6M at scale 1",
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{workload.TPCHRows}
			}
			return []int{10 * workload.TPCHRows}
		},
		Backends: []string{"cpu", "compute", "auto"}, Fresh: true, Gaps: true, Estimates: true, Operations: workload.TPCHOperations(), tables: []workload.Source{workload.TPCHSource()},
	}}, parySuite(), wisconsinSuite(), hsuSuite())
}

// small are the sizes of tables of which nobody says how large they are.
func small(report.Machine) []int { return []int{1_000, 100_000, 1_000_000, 16_000_000} }

// FindSuite returns the suite of that name.
func FindSuite(name string) (Suite, error) {
	var names []string
	for _, s := range Suites() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, fmt.Errorf("no suite %q: there are %s", name, strings.Join(names, ", "))
}
