package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	pq "github.com/stencildb/stencildb/internal/parquettest"
)

// footerGroups makes row groups of a column x of integers, nil for NULL, which may be NULL, with the statistics that state gives.
func footerGroups(of pq.Column, groups [][]*int64, state func(g int, values []int64) *pq.Statistics) (list []pq.Group) {
	for g, rows := range groups {
		var values []int64
		present := make([]bool, len(rows))
		for i, v := range rows {
			if present[i] = v != nil; v != nil {
				values = append(values, *v)
			}
		}
		if !of.Optional {
			present = nil
		}
		list = append(list, pq.Group{Rows: int64(len(rows)), Chunks: []pq.Chunk{{
			Pages: []pq.Page{pq.PlainPage(asPlain(of, values...), len(rows), present)}, Statistics: state(g, values)}}})
	}
	return list
}

// asPlain are values of a column as PLAIN has them.
func asPlain(of pq.Column, values ...int64) (b []byte) {
	for _, v := range values {
		if of.Type == pq.Int64 {
			b = append(b, pq.Put64(v)...)
		} else {
			b = append(b, pq.Put32(int32(v))...)
		}
	}
	return b
}

func rowsOfInts(values ...any) (list []*int64) {
	for _, v := range values {
		if v == nil {
			list = append(list, nil)
		} else {
			list = append(list, pq.Some(int64(v.(int))))
		}
	}
	return list
}

// all backends; auto has no device here that it would take.
var footerBackends = []string{"cpu", "auto", "compute", "fused", "classic"}

// answered is an answer, or an error without the name of its statement.
func answerOf(db *DB, text string) string {
	rows, err := answer(db, text)
	if err != nil {
		return "error: " + err.Error()
	}
	var list []string
	for _, r := range rows {
		var cells []string
		for _, v := range r {
			cells = append(cells, v.String())
		}
		list = append(list, strings.Join(cells, "|"))
	}
	return strings.Join(list, " ")
}

// What a footer does not state, or states as a bound alone, is read. What it states wrongly is an error where the row group is read.
// It is so on each backend, and whatever was read before.
func TestFootersThatStateLittle(t *testing.T) {
	x := pq.Column{Name: "x", Type: pq.Int32, Optional: true}
	required := pq.Column{Name: "x", Type: pq.Int64}
	decimal := pq.Column{Name: "x", Type: pq.Int32, Optional: true, Annotated: true, Converted: pq.Decimal, Precision: 5, Scale: 2}
	uint8s := pq.Column{Name: "x", Type: pq.Int32, Optional: true, Annotated: true, Converted: pq.Uint8}
	bounds := func(of pq.Column, nulls *int64, exact *bool, list ...[2]int64) func(int, []int64) *pq.Statistics {
		return func(g int, _ []int64) *pq.Statistics {
			return &pq.Statistics{MinValue: asPlain(of, list[g][0]), MaxValue: asPlain(of, list[g][1]), Nulls: nulls, MinExact: exact, MaxExact: exact}
		}
	}
	onlyMax := func(g int, values []int64) *pq.Statistics {
		return &pq.Statistics{MaxValue: asPlain(x, slices.Max(values)), Nulls: pq.Some[int64](0)}
	}
	none, no, yes := pq.Some[int64](0), pq.Some(false), pq.Some(true)
	damage := "error: %s: column x, row group 0, rows 1 to %d: the footer states "
	for name, c := range map[string]struct {
		column pq.Column
		groups [][]*int64
		state  func(int, []int64) *pq.Statistics
		by     string
		want   map[string]string // by what is selected
	}{
		"no null count": {x, [][]*int64{rowsOfInts(1, nil, 2), rowsOfInts(10, 11, 12)}, bounds(x, nil, nil, [2]int64{1, 2}, [2]int64{10, 12}), "", map[string]string{
			"COUNT(x) FROM t": "5", "x FROM t WHERE x IS NULL": "NULL", "COUNT(*) FROM t WHERE x > 2 OR x IS NULL": "4", "COUNT(*) FROM t WHERE x IS NOT NULL": "5", "COUNT(*) FROM t WHERE x > 2": "3"}},
		"no null count, one row": {x, [][]*int64{rowsOfInts(nil), rowsOfInts(3)}, bounds(x, nil, nil, [2]int64{1, 2}, [2]int64{3, 3}), "", map[string]string{
			"COUNT(x) FROM t": "1", "COUNT(*) FROM t WHERE x IS NULL": "1", "COUNT(*) FROM t WHERE x IS NOT NULL": "1", "MIN(x) FROM t": "3", "COUNT(*) FROM t WHERE x <= 3": "1"}},
		"only max, negative": {x, [][]*int64{rowsOfInts(-3, 6), rowsOfInts(1, 2)}, onlyMax, "", map[string]string{
			"x FROM t WHERE x < 0": "-3", "COUNT(*) FROM t WHERE x >= 0": "3"}},
		"only max": {x, [][]*int64{rowsOfInts(5, 6), rowsOfInts(1, 2)}, onlyMax, "", map[string]string{"MIN(x) FROM t": "1", "MAX(x) FROM t": "6"}},
		"not exact": {required, [][]*int64{rowsOfInts(5, 6, 100), rowsOfInts(7, 8, 50)}, bounds(required, none, no, [2]int64{1, 200}, [2]int64{2, 300}), "parquet-mr version 1.15.0", map[string]string{
			"MIN(x), MAX(x) FROM t": "5|100", "x FROM t WHERE x = (SELECT MAX(x) FROM t)": "100", "COUNT(x) FROM t": "6", "COUNT(*) FROM t WHERE x > 200": "0"}},
		"not said to be exact":            {required, [][]*int64{rowsOfInts(5, 6, 100)}, bounds(required, nil, nil, [2]int64{1, 200}), "somebody", map[string]string{"MIN(x), MAX(x) FROM t": "5|100", "COUNT(x) FROM t": "3"}},
		"another library of a known name": {required, [][]*int64{rowsOfInts(5, 6, 100)}, bounds(required, nil, nil, [2]int64{1, 200}), "parquet-go version latest", map[string]string{"MIN(x), MAX(x) FROM t": "5|100", "COUNT(x) FROM t": "3"}},
		"decimal, not exact": {decimal, [][]*int64{rowsOfInts(150, 250), rowsOfInts(1000, 2000)}, bounds(decimal, none, no, [2]int64{100, 300}, [2]int64{900, 2100}), "", map[string]string{
			"MIN(x), MAX(x) FROM t": "1.50|20.00", "COUNT(*) FROM t WHERE x < 5": "2"}},
		"sign-extended": {uint8s, [][]*int64{rowsOfInts(255, 254), rowsOfInts(1, 2)}, bounds(uint8s, none, nil, [2]int64{-2, -1}, [2]int64{1, 2}), "", map[string]string{
			"COUNT(*) FROM t WHERE x > 100": "2", "MIN(x), MAX(x) FROM t": "1|255"}},
		"deprecated": {x, [][]*int64{rowsOfInts(-5, 6)}, func(int, []int64) *pq.Statistics {
			return &pq.Statistics{Min: asPlain(x, -5), Max: asPlain(x, 6), Nulls: none}
		}, "parquet-mr version 1.8.0", map[string]string{"MIN(x), MAX(x), COUNT(x) FROM t": "-5|6|2"}},
		"denied NULLs": {x, [][]*int64{rowsOfInts(5, nil, 6, nil)}, bounds(x, none, nil, [2]int64{5, 6}), "", map[string]string{
			"x FROM t": fmt.Sprintf(damage, "denied NULLs", 4) + "0 NULLs, and there are 2 so far", "SUM(x) FROM t": fmt.Sprintf(damage, "denied NULLs", 4) + "0 NULLs",
			"COUNT(x) FROM t": "4"}}, // nobody reads it
		"too narrow": {x, [][]*int64{rowsOfInts(5, 7, 100), rowsOfInts(1, 2, 3)}, bounds(x, none, nil, [2]int64{5, 7}, [2]int64{1, 2}), "", map[string]string{
			"SUM(x) FROM t":                             fmt.Sprintf(damage, "too narrow", 3) + "that no value is greater than 7 as it is stored, and there is 100",
			"COUNT(*) FROM t WHERE x = 6":               fmt.Sprintf(damage, "too narrow", 3) + "that no value is greater than 7",
			"COUNT(*) FROM t WHERE x > 7":               "0", // which spares reading it
			"x FROM t WHERE x < (SELECT SUM(x) FROM t)": fmt.Sprintf(damage, "too narrow", 3) + "that no value is greater than 7",
			"(SELECT SUM(x) FROM t) FROM t":             fmt.Sprintf(damage, "too narrow", 3) + "that no value is greater than 7"}},
		"exact and not there": {x, [][]*int64{rowsOfInts(5, 7)}, bounds(x, none, yes, [2]int64{4, 7}), "", map[string]string{
			"SUM(x) FROM t": fmt.Sprintf(damage, "exact and not there", 2) + "that the smallest value is 4 as it is stored, and it is 5"}},
		"too many NULLs": {x, [][]*int64{rowsOfInts(5, 7)}, func(int, []int64) *pq.Statistics { return &pq.Statistics{Nulls: pq.Some[int64](3)} }, "", map[string]string{
			"SUM(x) FROM t": fmt.Sprintf(damage, "too many NULLs", 2) + "3 NULLs, and there are 0"}},
	} {
		data := pq.File{CreatedBy: c.by, Columns: []pq.Column{c.column}, Groups: footerGroups(c.column, c.groups, c.state)}.Bytes()
		db := opened(t, Options{Backend: "cpu"})
		for round := range 2 { // what fails is not read; what does not is, then
			for _, backend := range footerBackends {
				do(t, db, "SET backend = '"+backend+"'")
				table := fmt.Sprintf("t%d_%s", round, backend)
				if err := db.Attach(table, ingest.Source{Path: name, Format: ingest.Parquet, Data: data}); err != nil {
					t.Fatal(err)
				}
				if round == 1 {
					answerOf(db, "SELECT * FROM "+table)
				}
				for range 2 {
					for text, want := range c.want {
						got := answerOf(db, "SELECT "+strings.ReplaceAll(text, "FROM t", "FROM "+table))
						if strings.HasPrefix(want, "error") && strings.HasPrefix(got, want) {
							continue
						}
						if got != want {
							t.Errorf("%s on %s, round %d: SELECT %s: %s, want %s", name, backend, round, text, got, want)
						}
					}
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Footers are drawn over rows that are known: with fields left out, bounds that are loose, of other writers, and such as lie. Where they do not lie, each backend
// gives the answers of the rows. Where they do, all give the same, which is an error, or what follows from the footer where nothing is read.
func TestDrawnFooters(t *testing.T) {
	ctx := context.Background()
	var dbs []*DB
	for _, backend := range append([]string{"cpu"}, footerBackends...) { // the first has other statements before
		db := open(t, Options{Backend: backend})
		dbs = append(dbs, db)
	}
	want := open(t, Options{Backend: "cpu"})
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		column := rapid.SampledFrom([]pq.Column{
			{Name: "x", Type: pq.Int32}, {Name: "x", Type: pq.Int64}, {Name: "x", Type: pq.Int32, Annotated: true, Converted: pq.Decimal, Precision: 6, Scale: 1},
			{Name: "x", Type: pq.Int32, Annotated: true, Converted: pq.Uint8}, {Name: "x", Type: pq.Int32, Annotated: true, Converted: pq.Int16},
		}).Draw(t, "column")
		column.Optional = rapid.Bool().Draw(t, "optional")
		least := int64(-20)
		if column.Converted == pq.Uint8 && column.Annotated {
			least = 0
		}
		var groups [][]*int64
		for g := range rapid.IntRange(1, 4).Draw(t, "groups") {
			var rows []*int64
			for range rapid.IntRange(1, 6).Draw(t, "rows") {
				v := rapid.Int64Range(max(least, int64(10*g-15)), int64(10*g+5)).Draw(t, "x")
				rows = append(rows, &v)
				if column.Optional && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
					rows[len(rows)-1] = nil
				}
			}
			groups = append(groups, rows)
		}
		file := pq.File{Columns: []pq.Column{column}, Unordered: rapid.IntRange(0, 4).Draw(t, "unordered") == 0,
			CreatedBy: rapid.SampledFrom([]string{"", "parquet-mr version 1.13.1 (build 1)", "DuckDB", "somebody version 1", "parquet-cpp-arrow version 12.0.0"}).Draw(t, "by")}
		lies := rapid.IntRange(0, 2).Draw(t, "lies") == 0
		known := writtenByKnown(file.CreatedBy)
		state := func(_ int, values []int64) *pq.Statistics {
			if rapid.IntRange(0, 5).Draw(t, "none") == 0 {
				return nil
			}
			s := &pq.Statistics{}
			exact := rapid.SampledFrom([]*bool{nil, pq.Some(true), pq.Some(false)}).Draw(t, "exact")
			may := lies || exact != nil && !*exact || exact == nil && !known // be loose
			if len(values) > 0 {
				lo, hi := slices.Min(values), slices.Max(values)
				if may {
					lo, hi = lo-rapid.Int64Range(0, 3).Draw(t, "lower"), hi+rapid.Int64Range(0, 3).Draw(t, "higher")
				}
				if lies {
					lo, hi = lo+rapid.Int64Range(0, 5).Draw(t, "narrower"), hi-rapid.Int64Range(0, 5).Draw(t, "narrower")
				}
				s.MinExact, s.MaxExact = exact, exact
				if rapid.IntRange(0, 4).Draw(t, "min") > 0 {
					s.MinValue = asPlain(column, lo)
				}
				if rapid.IntRange(0, 4).Draw(t, "max") > 0 {
					s.MaxValue = asPlain(column, hi)
				}
				if (!may || !known) && rapid.IntRange(0, 2).Draw(t, "deprecated") == 0 {
					s.Min, s.Max = asPlain(column, lo), asPlain(column, hi)
				}
			}
			return s
		}
		file.Groups = footerGroups(column, groups, state)
		for g := range file.Groups {
			s := file.Groups[g].Chunks[0].Statistics
			if s == nil || rapid.IntRange(0, 2).Draw(t, "count") == 0 {
				continue
			}
			nulls := int64(0)
			for _, v := range groups[g] {
				if v == nil {
					nulls++
				}
			}
			if lies && column.Optional {
				nulls += rapid.Int64Range(-1, 1).Draw(t, "more")
			}
			s.Nulls = &nulls
		}
		name := fmt.Sprintf("t%d", n)
		source := ingest.Source{Path: name + ".parquet", Data: file.Bytes()}
		bare := file
		bare.Groups = footerGroups(column, groups, func(int, []int64) *pq.Statistics { return nil })
		whole, err := ingest.Load(ctx, name, ingest.Source{Path: name + ".parquet", Data: bare.Bytes()}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := want.Add(whole); err != nil {
			t.Fatal(err)
		}
		for _, db := range dbs {
			if err := db.Attach(name, source); err != nil {
				t.Fatal(err)
			}
		}
		k := rapid.Int64Range(-20, 30).Draw(t, "k")
		statement := rapid.Custom(func(t *rapid.T) string {
			return "SELECT " + rapid.SampledFrom([]string{"COUNT(*)", "COUNT(x)", "MIN(x), MAX(x)", "MIN(x), COUNT(x)", "SUM(x)", "x", "COUNT(DISTINCT x)"}).Draw(t, "what") + " FROM " + name +
				rapid.SampledFrom([]string{"", fmt.Sprintf(" WHERE x < %d", k), fmt.Sprintf(" WHERE x >= %d", k), " WHERE x IS NULL", " WHERE x IS NOT NULL", fmt.Sprintf(" WHERE x BETWEEN %d AND %d", k, k+9),
					fmt.Sprintf(" WHERE x > %d OR x IS NULL", k), fmt.Sprintf(" WHERE NOT (x <= %d)", k), fmt.Sprintf(" WHERE x = (SELECT MAX(x) FROM %s)", name)}).Draw(t, "where")
		})
		statements := rapid.SliceOfN(statement, 2, 3).Draw(t, "statements")
		answers := make([][]string, len(dbs))
		for i, db := range dbs {
			answers[i] = make([]string, len(statements))
			order := slices.Collect(func(yield func(int) bool) {
				for k := range statements {
					if !yield(k) {
						return
					}
				}
			})
			if i == 0 {
				slices.Reverse(order)
			}
			for _, k := range order {
				answers[i][k] = answerOf(db, statements[k])
			}
		}
		told := func(got string) bool {
			return lies && strings.HasPrefix(got, "error: "+name+".parquet: column x, row group ") && strings.Contains(got, ": the footer states ")
		}
		for k, text := range statements {
			right := answerOf(want, text)
			for i, a := range answers {
				if a[k] != answers[0][k] && !(told(a[k]) && told(answers[0][k])) { // of two that lie the first that is read is told
					t.Fatalf("%s: %s on backend %s, and %s before other statements on cpu", text, a[k], dbs[i].Backend(), answers[0][k])
				}
			}
			got := answers[0][k]
			switch {
			case got == right:
			case !lies:
				t.Fatalf("%s: %s, want %s", text, got, right)
			case strings.HasPrefix(got, "error"):
				if !told(got) {
					t.Fatalf("%s: %s", text, got)
				}
			case strings.Contains(text, "(SELECT"): // one part may be read and the other one not
			default:
				x, err := dbs[1].Explain(ctx, text, ExplainOptions{})
				if err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "Statistics(") && !strings.Contains(strings.Join(x.Lines(), "\n"), "Skip(") {
					t.Fatalf("%s: %s, want %s or an error: all is read", text, got, right)
				}
			}
		}
	})
}

// writtenByKnown reports a writer whose bounds are taken for exact though it does not say so.
func writtenByKnown(by string) bool {
	return slices.ContainsFunc([]string{"parquet-mr", "DuckDB", "parquet-cpp-arrow"}, func(name string) bool { return strings.HasPrefix(by, name) })
}

// Under a host memory budget row groups are read in batches, and large ones in pieces, by the same statements of their footer.
func TestFootersBeyondTheBudget(t *testing.T) {
	column := pq.Column{Name: "x", Type: pq.Int64, Optional: true}
	var groups [][]*int64
	for g := range 6 {
		rows := make([]*int64, 30_000)
		for i := range rows {
			if g != 2 || i%5 != 0 {
				rows[i] = pq.Some(int64(g)<<40 + int64(i)*999_983%30_000<<20)
			}
		}
		groups = append(groups, rows)
	}
	file := func(state func(g int, values []int64) *pq.Statistics) ingest.Source {
		return ingest.Source{Path: "t.parquet", Data: pq.File{Columns: []pq.Column{column}, Groups: footerGroups(column, groups, state)}.Bytes()}
	}
	loose := func(_ int, values []int64) *pq.Statistics {
		return &pq.Statistics{MinValue: pq.Put64(slices.Min(values) - 1000), MaxValue: pq.Put64(slices.Max(values) + 1000)}
	}
	asked := []string{"COUNT(x), COUNT(*), MIN(x), MAX(x), SUM(x) FROM t", "COUNT(*) FROM t WHERE x IS NULL", "COUNT(x), MIN(x) FROM t WHERE x > 3298534883328 OR x IS NULL", "COUNT(*) FROM t WHERE x > 999999999999999", "x FROM t ORDER BY x DESC LIMIT 2"}
	whole := open(t, Options{Backend: "cpu"})
	if err := whole.Attach("t", file(func(int, []int64) *pq.Statistics { return nil })); err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend, HostMemory: 1 << 20})
		if err := db.Attach("t", file(loose)); err != nil {
			t.Fatal(err)
		}
		if err := db.Attach("lies", file(func(g int, values []int64) *pq.Statistics {
			s := loose(g, values)
			if g == 2 {
				s.Nulls = pq.Some[int64](0)
			}
			return s
		})); err != nil {
			t.Fatal(err)
		}
		for _, text := range asked {
			if got, want := answerOf(db, "SELECT "+text), answerOf(whole, "SELECT "+text); got != want && (backend == "cpu" || !strings.Contains(got, "memory")) {
				t.Errorf("%s: SELECT %s: %s, want %s", backend, text, got, want)
			}
		}
		if got := answerOf(db, "SELECT SUM(x) FROM lies"); !strings.Contains(got, "column x, row group 2, rows ") || !strings.Contains(got, "the footer states 0 NULLs, and there are ") {
			t.Errorf("%s: the sum where NULLs are denied: %s", backend, got)
		}
	}
}
