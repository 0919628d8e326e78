package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// A run on two backends gives every case on both, with the same answers.
func TestSuitesRun(t *testing.T) {
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Suites() {
		if s.Figures != nil || s.Files || s.OwnTables() { // see TestEveryFigure, the binary's TestBenchOfProcesses, and TestSuitesOfOwnTables
			continue
		}
		r, err := s.Run(t.Context(), Config{
			Rows: []int{1, 100}, Backends: []string{"auto", "classic", "cpu"}, Peers: []string{},
			Source: workload.Generated("tcpip", 2), Rounds: 2, Machine: machine, Command: "stencildb bench",
		})
		if err != nil {
			t.Fatal(s.Name, err)
		}
		if r.Reference != "cpu" || len(r.Skipped) > 0 || len(r.Results) != 2*len(s.Operations)*3 {
			t.Errorf("%s: reference %s, %d results, skipped %v", s.Name, r.Reference, len(r.Results), r.Skipped)
		}
		for _, x := range r.Results {
			if x.Ratio == nil || x.Ratio.Rounds != 2 || len(x.MS) != 2 || x.MinMS <= 0 || x.MedianCPU <= 0 || len(x.Answer) != 1 {
				t.Errorf("%s: %+v", s.Name, x)
			}
		}
		checkSchema(t, r)
		var b bytes.Buffer
		if err := render.Of(r).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if err := render.Of(r).WriteGo(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{machine.CPU, "median_where", "100 rows", "tcpip, seed 2", "/op=sum/rows=100/system=auto-"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the text lacks %q:\n%s", s.Name, want, &b)
			}
		}
	}
}

// The suites over tables of their own give the same on all backends, in the order that they ask for.
func TestSuitesOfOwnTables(t *testing.T) {
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]int{"ssb": 60_000, "relational": 5_000} {
		s, err := FindSuite(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), Config{Rows: []int{rows}, Backends: []string{"cpu", "compute", "classic"}, Peers: []string{}, Rounds: 1, Machine: machine, Command: "stencildb bench"})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Skipped) > 0 || len(r.Results) != 3*len(s.Operations) {
			t.Errorf("%s: %d results, skipped %v", name, len(r.Results), r.Skipped)
		}
		checkSchema(t, r)
	}
}

// A statement that stencildb refuses runs on the peers, and the others run on all; the summary says what was refused.
func TestSuitesWithGaps(t *testing.T) {
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	peer.Registry["one"] = peer.Peer{Open: constant("1")}
	defer delete(peer.Registry, "one")
	s := suite(t, "tpch")
	s.Operations = nil
	for name, sql := range map[string]string{"refused": "SELECT no_such_function(o_orderkey) FROM orders", "counted": "SELECT COUNT(*) FROM region WHERE r_regionkey = 1"} {
		s.Operations = append(s.Operations, workload.Operation{Name: name, Query: func(*workload.TableProfile) meter.Query { return meter.Query{SQL: sql} }})
	}
	r, err := s.Run(t.Context(), Config{Rows: []int{6000}, Backends: []string{"cpu"}, Peers: []string{"one"}, Rounds: 1, Machine: machine, Command: "stencildb bench"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) != 1 || r.Skipped[0].Operation != "refused" || r.Skipped[0].System != refusing || !strings.Contains(r.Skipped[0].Reason, "no_such_function") {
		t.Errorf("skipped %+v", r.Skipped)
	}
	for _, c := range []struct {
		operation, system string
		runs              bool
	}{{"refused", "one", true}, {"refused", "cpu", false}, {"counted", "one", true}, {"counted", "cpu", true}} {
		if (r.Find(c.operation, 6000, c.system) != nil) != c.runs {
			t.Errorf("%s on %s: want a result %v", c.operation, c.system, c.runs)
		}
	}
	text, err := report.Bytes(render.Of(r).WriteText)
	if err != nil || !strings.Contains(string(text), refusing+", 6,000 rows: refused: ") || !strings.Contains(string(text), "geometric mean") {
		t.Errorf("%v\n%s", err, text)
	}
	if e := r.Estimates; len(e) != 1 || e[0].Operation != "counted" || !slices.Equal(e[0].QErrors, []float64{1}) || !strings.Contains(string(text), "Of all 1 nodes over 6,000 rows: median 1, largest 1 (counted, Filter(r_regionkey = 1): 1 row, 1 expected).") {
		t.Errorf("estimates %+v in\n%s", e, text)
	}
}

// constant is a system that answers everything with one value.
func constant(value string) func(context.Context, []*table.Table) (meter.System, error) {
	run := func(context.Context) (meter.Outcome, error) { return meter.Outcome{Answer: answer.OfText(value)}, nil }
	return func(context.Context, []*table.Table) (meter.System, error) {
		return meter.System{Prepare: func(context.Context, meter.Query) (meter.Contender, error) { return meter.Contender{Run: run}, nil }}, nil
	}
}

// suite is the suite of that name.
func suite(t *testing.T, name string) Suite {
	t.Helper()
	s, err := FindSuite(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A process that answers otherwise is an error; one that fails is left out, with what it says.
func TestProcessesThatFail(t *testing.T) {
	run := func(script string) (*report.Report, error) {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return suite(t, "load").Run(t.Context(), Config{Rows: []int{100}, Backends: []string{"cpu"}, Peers: []string{}, Rounds: 1, Program: path})
	}
	var differ *meter.DifferError
	if _, err := run("echo count; echo 7,8"); !errors.As(err, &differ) || differ.Got != "7, 8" {
		t.Errorf("%v", err)
	}
	r, err := run("echo error: no luck >&2; exit 1")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) > 0 || len(r.Skipped) != len(loadOperations) || !strings.Contains(r.Skipped[0].Reason, "error: no luck") {
		t.Errorf("%+v", r)
	}
}

func TestAWrongSystemIsCaught(t *testing.T) {
	peer.Registry["wrong"] = peer.Peer{Open: constant("41"), MaxRows: 100}
	defer delete(peer.Registry, "wrong")
	_, err := suite(t, "operations").Run(t.Context(), Config{
		Rows: []int{100}, Backends: []string{"cpu"}, Peers: []string{"wrong"}, Rounds: 1,
	})
	var differ *meter.DifferError
	if !errors.As(err, &differ) || differ.System != "wrong" || differ.Other != "cpu" {
		t.Errorf("%v, want that wrong differs from cpu", err)
	}
	r, err := suite(t, "operations").Run(t.Context(), Config{Rows: []int{101}, Backends: []string{"cpu"}, Rounds: 1})
	if err != nil || r.Find("count", 101, "wrong") != nil || len(r.Skipped) != len(workload.Operations) {
		t.Errorf("%v, %v, want wrong left out beyond 100 rows", err, r)
	}
}

// The user's table has other columns than numbers, NULLs, and fewer than four
// attributes, which are then used twice.
func TestATableOfTheUsers(t *testing.T) {
	b := table.NewBuilder("my table", []table.Field{
		{Name: "word", Type: table.Type{Kind: table.Varchar}},
		{Name: `a "x"`, Type: table.Type{Kind: table.Integer}},
		{Name: "Select", Type: table.Type{Kind: table.BigInt}},
	}, 0)
	for i := range 50 {
		b.Column(0).String("w")
		b.Column(1).Int(int64(i * i))
		if i%3 == 0 {
			b.Column(2).Null()
		} else {
			b.Column(2).Int(int64(-i))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := suite(t, "operations").Run(t.Context(), Config{
		Backends: []string{"cpu", "classic"}, Peers: []string{}, Source: source(t, b.Table()), Rounds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[string]string{"count": "29", "sum": "40425", "max": "2401", "median": "576"} {
		x := r.Find(operation, 50, "classic")
		if x == nil || !slices.Equal(x.Answer, []string{want}) {
			t.Errorf("%s: %+v, want %s", operation, x, want)
		}
	}
	const and4 = `"a ""x""" < 841 AND "Select" < -20 AND "a ""x""" >= 361 AND "Select" >= -29`
	if x := r.Find("and4", 50, "classic"); len(r.Skipped) > 0 || x == nil || !strings.HasSuffix(x.SQL, and4) {
		t.Errorf("skipped %+v, and4 is %+v, want %s", r.Skipped, x, and4)
	}
	for want, fields := range map[string][]table.Field{
		"no rows":                     {{Name: "i", Type: table.Type{Kind: table.Integer}}},
		"no column of numbers, dates": {{Name: "s", Type: table.Type{Kind: table.Varchar}}},
	} {
		b := table.NewBuilder("t", fields, 0)
		if fields[0].Name == "s" {
			b.Column(0).String("x")
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := workload.Loaded(b.Table()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// source is a loaded table that can be measured on.
func source(t *testing.T, tab *table.Table) workload.Source {
	s, err := workload.Loaded(tab)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// typed is a table without integers: a BOOLEAN, a TIMESTAMP, a DATE, a REAL with NaN and
// NULL, and a DECIMAL.
func typed(t *testing.T) *table.Table {
	kinds := []table.Type{{Kind: table.Boolean}, {Kind: table.Timestamp}, {Kind: table.Date}, {Kind: table.Real}, {Kind: table.Decimal, Precision: 6, Scale: 2}}
	var fields []table.Field
	for _, k := range kinds {
		fields = append(fields, table.Field{Name: "x" + fmt.Sprint(len(fields)), Type: k})
	}
	b := table.NewBuilder("t", fields, 0)
	for i := range 80 {
		b.Column(0).Int(int64(i % 2))
		b.Column(1).Int(int64(i*37%80) * 1e12)
		b.Column(2).Int(int64(i * 53 % 80))
		switch {
		case i == 7:
			b.Column(3).Float(math.NaN())
		case i%10 == 3:
			b.Column(3).Null()
		default:
			b.Column(3).Float(float64(i) / 3)
		}
		b.Column(4).Int(int64(i * 101))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// A table without integers does for what its types do for; the rest is left out with
// the reason.
func TestATableWithoutIntegers(t *testing.T) {
	r, err := suite(t, "operations").Run(t.Context(), Config{
		Backends: []string{"cpu", "classic"}, Peers: peer.BuiltIn(), Source: source(t, typed(t)), Rounds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"x4", "x3", "x1", "x2"}; !slices.Equal(r.Data.Attributes, want) {
		t.Errorf("attributes %v, want %v", r.Data.Attributes, want)
	}
	for operation, want := range map[string]string{"count": "47", "sum": "3191.60", "median": "39.39"} {
		x := r.Find(operation, 80, "classic")
		if x == nil || !slices.Equal(x.Answer, []string{want}) {
			t.Errorf("%s: %+v, want %s", operation, x, want)
		}
	}
	if r.Find("and4", 80, "classic") == nil {
		t.Error("no AND of four attributes")
	}
	for _, s := range r.Skipped {
		all := s.System == allSystems && s.Operation == "semilinear" && strings.Contains(s.Reason, "this takes 4 attributes of integers, each twice at most; the table has 0")
		peer := s.System == "sqlite" && (strings.Contains(s.Reason, "x4 of type numeric(6,2) is not loaded") || strings.Contains(s.Reason, "x3 of type real is not loaded"))
		if !all && !peer {
			t.Errorf("skipped %+v", s)
		}
	}
	if len(r.Skipped) == 0 {
		t.Error("nothing is skipped")
	}
}

// What a backend refuses is left out, with its reason.
func TestRefusalsAreSkipped(t *testing.T) {
	wide := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Type: table.Type{Kind: table.BigInt}},
		{Name: "c", Type: table.Type{Kind: table.BigInt}}, {Name: "d", Type: table.Type{Kind: table.BigInt}}}, 0)
	for i := range 3 {
		for c := range 4 {
			wide.Column(c).Int(int64(i) << 40)
		}
		if err := wide.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := suite(t, "operations").Run(t.Context(), Config{
		Backends: []string{"cpu", "classic"}, Peers: []string{}, Source: source(t, wide.Table()), Rounds: 1,
		Engine: engine.Options{GPUMemory: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find("count", 3, "cpu") == nil || r.Find("count", 3, "classic") != nil {
		t.Error("want results of cpu only")
	}
	if len(r.Skipped) == 0 || !strings.Contains(r.Skipped[0].Reason, "budget") {
		t.Errorf("skipped %+v, want the budget as the reason", r.Skipped)
	}
}

func TestPeersThatAreNotBuiltIn(t *testing.T) {
	if err := peer.Check("oracle"); err == nil || !strings.Contains(err.Error(), "duckdb, sqlite") {
		t.Errorf("%v, want the peers there are", err)
	}
	for _, name := range peer.Known() {
		built := slices.Contains(peer.BuiltIn(), name)
		err := peer.Check(name)
		if built != (err == nil) || !built && !strings.Contains(err.Error(), "go build -tags egl,"+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
