package hsu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// TestMain keeps llvmpipe to one thread, as in package primitives.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// fataler is a test, also of package rapid.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// database opens one for a test, which is closed at its end.
func database(t *testing.T) *DB {
	t.Helper()
	db := Open(labtest.Device(t))
	t.Cleanup(func() { on(t, db, db.Close) })
	return db
}

// on runs f on the GL thread.
func on(t fataler, db *DB, f func()) {
	t.Helper()
	if err := db.Context.Do(context.Background(), func() error { f(); return nil }); err != nil {
		t.Fatalf("%v", err)
	}
}

// must is the end of a test with an error.
func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// where reads a condition on the columns of [Columns].
func where(t fataler, text string) []Token {
	t.Helper()
	infix, err := Where(text, Columns)
	must(t, err)
	return infix
}

// loaded makes a table of records.
func loaded(t fataler, db *DB, name string, capacity int, r Records) *Table {
	t.Helper()
	table, err := db.Create(t.(interface{ Context() context.Context }).Context(), name, Columns, capacity)
	must(t, err)
	must(t, table.Load(context.Background(), r))
	return table
}

// equal compares records, column by column.
func equal(a, b Records) bool {
	return slices.EqualFunc(a, b, func(x, y []int32) bool { return slices.Equal(x, y) })
}

// mixed are records with duplicates, negative numbers and the extremes.
func mixed(n int, seed uint64) Records {
	random := rand.New(rand.NewPCG(seed, 0))
	r := Records{make([]int32, n), make([]int32, n), make([]int32, n)}
	for i := range n {
		r[C1][i], r[C2][i], r[C3][i] = int32(i+1), random.Int32N(7)-3, int32(random.Uint32())
		if random.IntN(9) == 0 {
			r[C3][i] = []int32{math.MinInt32, math.MaxInt32, 0, -1}[random.IntN(4)]
		}
	}
	return r
}

var sizes = []int{0, 1, 2, 255, 256, 257, 1021, 1024, 1025, 4099}

// conditions select nothing, everything, and something, by one comparison to a postfix of 21 tokens.
var conditions = []string{
	"c1 <= 0", "c1 >= 0", "c2 <> 1", "c2 = -3 OR c2 = 2 AND c3 > 0", "(c2 < 0 OR c2 > 1) AND (c3 >= 0 OR (c1 < 100 AND c3 <= -5))",
	"c1 > 5 AND c1 < 900 OR c2 = 1 AND c3 > 7 OR c2 = 2 AND c3 < 9 OR c1 = 3 OR c1 = 4 AND c2 <> 0 OR c3 = 0",
}

// Selections, sorts and groups are those of plain Go, at sizes around a work group, a chunk and powers of two.
func TestQueries(t *testing.T) {
	db, ctx := database(t), t.Context()
	on(t, db, func() {
		for _, n := range sizes {
			r := mixed(n, uint64(n))
			table := loaded(t, db, "t", 1, r)
			for i, text := range conditions {
				c := where(t, text)
				want := r.Select(c)
				got, err := db.Select(ctx, table, c)
				if err != nil || !equal(got, want) {
					t.Fatalf("%d records, %s: %d selected, %v, want %d", n, text, got.N(), err, want.N())
				}
				key := i % 3
				if got, err = db.SelectSorted(ctx, table, c, key); err != nil || !equal(got, want.Sort(key)) {
					t.Fatalf("%d records, %s, by column %d: %v", n, text, key, err)
				}
				f := []Aggregate{Sum, Min, Max, Count, Avg}[i%5]
				if got, err = db.SelectGrouped(ctx, table, c, C2, C3, f); err != nil || !equal(got, want.Group(C2, C3, f)) {
					t.Fatalf("%d records, %s, %s: %v, %v, want %v", n, text, f, got, err, want.Group(C2, C3, f))
				}
			}
			must(t, db.Drop("t"))
		}
	})
}

// Every aggregate of groups of one record, of one group, and of many; sums wrap, and quotients go towards zero.
func TestAggregates(t *testing.T) {
	db, ctx := database(t), t.Context()
	on(t, db, func() {
		all := where(t, "c1 >= 0")
		for name, r := range map[string]Records{"mixed": mixed(1300, 3), "one group": {{1, 2, 3}, {5, 5, 5}, {-7, 2, 1}}, "groups of one": {{1, 2, 3}, {3, -1, 2}, {9, 8, 7}}, "one": {{1}, {-1}, {math.MinInt32}}, "wraps": {{1, 2}, {0, 0}, {math.MaxInt32, 2}}} {
			table := loaded(t, db, "t", 1024, r)
			for _, f := range []Aggregate{Sum, Min, Max, Count, Avg} {
				for _, group := range []int{C2, C3} {
					want := r.Group(group, C3, f)
					if got, err := db.SelectGrouped(ctx, table, all, group, C3, f); err != nil || !equal(got, want) {
						t.Errorf("%s, %s: %v, %v, want %v", name, f, got, err, want)
					}
				}
			}
			must(t, db.Drop("t"))
		}
	})
}

// A table has what was done to it, as in plain Go. There are inserts one by one and by a selection, updates and deletes, with
// doublings in between.
func TestChanges(t *testing.T) {
	db := database(t)
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		n, capacity := rapid.SampledFrom([]int{0, 1, 7, 64, 300}).Draw(t, "records"), 1<<rapid.IntRange(0, 6).Draw(t, "capacity")
		r := mixed(n, rapid.Uint64().Draw(t, "seed"))
		on(t, db, func() {
			table := loaded(t, db, "t", capacity, r)
			defer func() { must(t, db.Drop("t")) }()
			doublings, want := 0, max(1, capacity)
			for want < n {
				want *= 2
			}
			for step := range rapid.IntRange(1, 6).Draw(t, "steps") {
				c := where(t, rapid.SampledFrom(conditions).Draw(t, "where"))
				var err error
				switch rapid.IntRange(0, 3).Draw(t, "change") {
				case 0:
					for range rapid.IntRange(1, 40).Draw(t, "inserts") {
						record := []int32{int32(step), int32(r.N()), -1}
						if err = table.Insert(ctx, record); err != nil {
							break
						}
						for c, v := range record {
							r[c] = append(r[c], v)
						}
					}
				case 1:
					var selected Records
					if selected = r.Select(c); selected.N()+r.N() > 5000 {
						continue
					}
					err = db.InsertSelected(ctx, table, table, c)
					for c := range r {
						r[c] = append(r[c], selected[c]...)
					}
				case 2:
					err = db.Update(ctx, table, c, C3, int32(step)-2)
					r.Update(c, C3, int32(step)-2)
				case 3:
					err = db.Delete(ctx, table, c)
					r = r.Delete(c)
				}
				must(t, err)
				for want < r.N() {
					want, doublings = 2*want, doublings+1
				}
				got, err := table.Read()
				if err != nil || !equal(got, r) || table.N != r.N() || table.Capacity != want {
					t.Fatalf("step %d: %d records of %d, capacity %d, %v, want %d of %d", step, got.N(), table.N, table.Capacity, err, r.N(), want)
				}
			}
		})
	})
}

// Doubling counts: 1,100 records into an empty table of 1,024 double it once, 2,100 twice, 1,024 not.
func TestDoublings(t *testing.T) {
	db, ctx := database(t), t.Context()
	on(t, db, func() {
		source := loaded(t, db, "s", 4096, Data(3000, 1))
		for q, want := range map[int]int{0: 1024, 1024: 1024, 1025: 2048, 1100: 2048, 2048: 2048, 2100: 4096} {
			to, err := db.Create(ctx, "d", Columns, 1024)
			must(t, err)
			db.Clock = &Clock{}
			must(t, db.InsertSelected(ctx, to, source, where(t, fmt.Sprintf("c1 <= %d", q))))
			doublings := len(db.Clock.Sections)
			if db.Clock = nil; to.N != q || to.Capacity != want || 1024<<doublings != want {
				t.Errorf("%d records: %d, capacity %d after %d doublings, want %d", q, to.N, to.Capacity, doublings, want)
			}
			must(t, db.Drop("d"))
		}
	})
}

// Tables give back what they had, after operations that fail, too: what is there afterwards is what was there.
func TestTablesGiveBackTheirMemory(t *testing.T) {
	db, ctx := database(t), t.Context()
	on(t, db, func() {
		source := Data(700, 1)
		round := func() {
			a, b := loaded(t, db, "a", 4, source), loaded(t, db, "b", 1, Data(1, 2))
			c := where(t, "c1 <= 300 AND c2 > 10")
			for range 3 {
				_, err := db.SelectGrouped(ctx, a, c, C2, C3, Avg)
				must(t, err)
				_, err = db.SelectSorted(ctx, a, c, C3)
				must(t, err)
				must(t, db.InsertSelected(ctx, b, a, c))
				must(t, db.Delete(ctx, a, where(t, "c1 > 650")))
			}
			must(t, db.Drop("a"))
			must(t, db.Drop("b"))
		}
		round()
		round()
		live, created, buffers := fmt.Sprint(db.Context.Live()), db.Context.Created(), db.Context.Live()["buffer"]
		for range 3 {
			round()
		}
		if now := fmt.Sprint(db.Context.Live()); now != live || db.Context.Created() != created {
			t.Errorf("objects %s, created %d, before %s, created %d", now, db.Context.Created(), live, created)
		}
		// What does not fit is refused, and the table is as before.
		table := loaded(t, db, "a", 1024, source)
		db.widest = 3 * 1024
		must(t, db.Update(ctx, table, where(t, "c1 = 7"), C3, 8))
		for name, err := range map[string]error{
			"doubling": table.Load(ctx, source), "insert": db.InsertSelected(ctx, table, table, where(t, "c1 > 0")),
			"stacks": db.Update(ctx, table, where(t, "(c1 = 1 OR (c1 = 2 AND (c1 = 3 OR (c1 = 4 AND (c1 = 5 OR c1 = 6)))))"), C3, 1),
		} {
			if err == nil || !strings.Contains(err.Error(), "a storage block of the device holds 12288") {
				t.Errorf("%s: %v, want that it does not fit", name, err)
			}
		}
		source.Update(where(t, "c1 = 7"), C3, 8)
		if got, err := table.Read(); err != nil || !equal(got, source) {
			t.Errorf("after what was refused: %v", err)
		}
		db.widest = 0
		must(t, db.Drop("a"))
		if now := db.Context.Live()["buffer"]; now != buffers {
			t.Errorf("after refusals %d buffers, before %d", now, buffers)
		}
	})
}

// Names and capacities are checked.
func TestCreateAndDrop(t *testing.T) {
	db, ctx := database(t), t.Context()
	on(t, db, func() {
		table := loaded(t, db, "t", 1, Data(3, 1))
		for want, f := range map[string]func() error{
			"table t exists":      func() error { _, err := db.Create(ctx, "t", Columns, 1); return err },
			"no power of two":     func() error { _, err := db.Create(ctx, "u", Columns, 3); return err },
			"has no columns":      func() error { _, err := db.Create(ctx, "u", nil, 1); return err },
			"no table u":          func() error { return db.Drop("u") },
			"the record has 1":    func() error { return table.Insert(ctx, []int32{1}) },
			"the records have 2":  func() error { return table.Load(ctx, Records{{1}, {2}}) },
			"table v has 0":       func() error { return db.InsertSelected(ctx, &Table{Name: "v"}, table, where(t, "c1 = 1")) },
			"ends before a compa": func() error { _, err := db.Select(ctx, table, nil); return err },
		} {
			if err := f(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want that it says %q", err, want)
			}
		}
	})
}

// A condition becomes postfix of 2k - 1 tokens, AND before OR, and means what it means by recursive descent.
func TestPostfix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text func(deep int) string
		comparisons := 0
		text = func(deep int) string {
			var b strings.Builder
			for i := range rapid.IntRange(1, 4).Draw(t, "terms") {
				if i > 0 {
					b.WriteString(rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "operator"))
				}
				if deep > 0 && rapid.Bool().Draw(t, "parentheses") {
					b.WriteString("(" + text(deep-1) + ")")
				} else {
					comparisons++
					fmt.Fprintf(&b, "c%d %s %d", rapid.IntRange(1, 3).Draw(t, "column"), rapid.SampledFrom([]string{"=", "<", ">", "<=", ">=", "<>"}).Draw(t, "compare"), rapid.IntRange(-2, 2).Draw(t, "value"))
				}
			}
			return b.String()
		}
		infix := where(t, text(3))
		postfix, err := Postfix(infix)
		if err != nil || len(postfix) != 2*comparisons-1 {
			t.Fatalf("%v: %d tokens of %d comparisons, %v", infix, len(postfix), comparisons, err)
		}
		r := Records{{rapid.Int32Range(-3, 3).Draw(t, "c1")}, {rapid.Int32Range(-3, 3).Draw(t, "c2")}, {rapid.Int32Range(-3, 3).Draw(t, "c3")}}
		var stack []bool
		for _, x := range postfix {
			n := len(stack)
			switch x.Kind {
			case Operand:
				stack = append(stack, comparisonHolds(x, r))
			case And:
				stack = append(stack[:n-2], stack[n-2] && stack[n-1])
			case Or:
				stack = append(stack[:n-2], stack[n-2] || stack[n-1])
			}
		}
		if len(stack) != 1 || stack[0] != r.holds(infix, 0) {
			t.Fatalf("%v: %v, want %v", infix, stack, r.holds(infix, 0))
		}
	})
}

func comparisonHolds(x Token, r Records) bool {
	return comparisons[x.Compare].holds(r[x.Column][0], x.Value)
}

// What is no condition is refused by name.
func TestConditionsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"c1 = ": "a comparison is a column", "c9 = 1": "no column c9", "c1 == 1": "no operator ==", "c1 = 2147483648": "no integer of 32 bits",
		"c1 = 1 c2 = 1": "token 2 of the condition is no operator", "AND": "token 1 of the condition is no comparison", "c1 = 1 OR": "ends before", "": "ends before",
		"( c1 = 1": "is not closed", "c1 = 1 )": "a parenthesis that nothing opens", "()": "token 2 of the condition is no comparison",
	} {
		infix, err := Where(text, Columns)
		if err == nil {
			_, err = Postfix(infix)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want that it says %q", text, err, want)
		}
	}
}

// The data are those of section 4.2.1.
func TestData(t *testing.T) {
	r := Data(5000, 1)
	sorted := slices.Sorted(slices.Values(r[C1]))
	for i, x := range sorted {
		if int(x) != i+1 {
			t.Fatalf("c1 has %d at place %d", x, i)
		}
	}
	if min, max := slices.Min(r[C2]), slices.Max(r[C2]); min != 1 || max != groups {
		t.Errorf("groups from %d to %d", min, max)
	}
	if min, max := slices.Min(r[C3]), slices.Max(r[C3]); min < 1 || max > largest || max < largest/2 {
		t.Errorf("c3 from %d to %d", min, max)
	}
	if equal(Data(10, 1), Data(10, 2)) || !equal(Data(10, 1), Data(10, 1)) {
		t.Error("the seed")
	}
}

// A digest tells records apart that differ in a value, in pairs or, by a column, in their order.
func TestDigest(t *testing.T) {
	a, b, c := Records{{1, 2}, {3, 4}}, Records{{2, 1}, {4, 3}}, Records{{2, 1}, {3, 4}}
	if a.Digest(-1) != b.Digest(-1) || a.Digest(0) == b.Digest(0) || a.Digest(-1) == c.Digest(-1) || a.Digest(0) == a.Digest(-1) {
		t.Error(a.Digest(-1), b.Digest(-1), c.Digest(-1), a.Digest(0), b.Digest(0))
	}
}
