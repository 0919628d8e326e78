package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/table"
)

// A text that is known runs the same plan again; a change of the tables forgets it.
func TestKnownStatementsKeepTheirPlan(t *testing.T) {
	f := &fake{name: "classic"}
	db := open(t, Options{Backend: "classic"})
	on(db, f)
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	run := func(text string) {
		t.Helper()
		if _, err := Collect(db.Query(context.Background(), text)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		run("SELECT COUNT(*) FROM small WHERE i > 1;")
	}
	for _, err := range db.Each(context.Background(), "SELECT COUNT(*) FROM small WHERE i > 1;") {
		if err != nil {
			t.Fatal(err)
		}
	}
	run("SELECT COUNT(*) FROM small WHERE i > 2")
	other := small(t)
	other.Name = "Other"
	if err := db.Add(other); err != nil {
		t.Fatal(err)
	}
	run("SELECT COUNT(*) FROM small WHERE i > 1;")
	p := f.plans
	if p[0] != p[1] || p[0] != p[2] || p[0] != p[3] || p[0] == p[4] || p[5] == p[0] {
		t.Errorf("plans %p", p)
	}
}

// A statement that asks for the time is bound anew each time; within it there is one time.
func TestEachRunHasItsTime(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	st, err := db.Prepare(context.Background(), "SELECT now(), now() = current_timestamp")
	if err != nil {
		t.Fatal(err)
	}
	var before int64
	for range 3 {
		r, err := Collect(st.Query(context.Background()))
		if err != nil {
			t.Fatal(err)
		}
		if at := r.Rows[0][0].I; at <= before || r.Rows[0][1].I != 1 {
			t.Fatalf("%v after %d", r.Rows[0], before)
		} else {
			before = at
		}
	}
}

// A name that two tables could have is an error from the moment that there are two.
func TestANewTableChangesWhatNamesMean(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	const text = "SELECT COUNT(*) FROM small"
	for i, name := range []string{"Small", "SMALL"} {
		one := small(t)
		one.Name = name
		if err := db.Add(one); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := Collect(db.Query(context.Background(), text)); (err == nil) != (i == 0) {
				t.Errorf("with %d tables: %+v, %v", i+1, r, err)
			}
		}
	}
}

func TestStatementsAreForgottenOldestFirst(t *testing.T) {
	db := openSmall(t)
	ask := func(text string) {
		t.Helper()
		if _, err := Collect(db.Query(context.Background(), text)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxStatements + 10 {
		ask(fmt.Sprint("SELECT ", i))
		ask("SELECT 0")
	}
	kept := db.statements.Contains
	if n := db.statements.Len(); n != maxStatements {
		t.Errorf("%d statements are kept", n)
	}
	if !kept("SELECT 0") || kept("SELECT 5") || !kept(fmt.Sprint("SELECT ", maxStatements+9)) {
		t.Error("not those used last")
	}
	long := "SELECT 1" + strings.Repeat(" ", maxKeptText)
	ask(long)
	if db.statements.Len() != maxStatements || kept(long) {
		t.Error("a text that is too long is kept")
	}
	late, err := db.Prepare(context.Background(), "SELECT COUNT(*) FROM SMALL")
	if err != nil {
		t.Fatal(err)
	}
	other := small(t)
	other.Name = "Small"
	if err := db.Add(other); err != nil {
		t.Fatal(err)
	}
	db.statements.Add(late.script, late)
	if s, err := db.statement(context.Background(), late.script, true); s == late {
		t.Errorf("a statement is taken that was prepared before the tables changed: %v", err)
	}
	if err := db.Close(); err != nil || db.statements.Len() != 0 {
		t.Errorf("%d statements are kept of a closed DB: %v", db.statements.Len(), err)
	}
}

func TestPreparedStatements(t *testing.T) {
	db := openSmall(t)
	s, err := db.Prepare(context.Background(), "SELECT MAX(i) FROM small WHERE i < 3")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := Collect(s.Query(context.Background())); err != nil || r.Rows[0][0].I != 2 || r.SQL != "SELECT MAX(i) FROM small WHERE i < 3" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for _, text := range []string{"", "SELECT", "SELECT COUNT(*) FROM small; SELECT 1"} {
		if _, err := db.Prepare(context.Background(), text); err == nil {
			t.Errorf("%q is prepared", text)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Collect(s.Query(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Collect(s.Query(context.Background())); err == nil {
		t.Errorf("a statement of a closed DB gives %+v", r)
	}
}

// A query that fails as it runs has its place in the text each time.
func TestErrorsOfKnownStatementsKeepTheirPosition(t *testing.T) {
	db := openSmall(t)
	for range 2 {
		_, err := Collect(db.Query(context.Background(), "SELECT COUNT(*)\nFROM small WHERE 10 / (i - 2) > 1"))
		if err == nil || !strings.Contains(err.Error(), "line 2, column 21") {
			t.Errorf("%v", err)
		}
	}
}

func TestGoroutinesShareStatements(t *testing.T) {
	db := open(t, Options{})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 200 {
				r, err := Collect(db.Query(context.Background(), fmt.Sprintf("SELECT COUNT(*) FROM small WHERE i > %d", i%3)))
				if err != nil || r.Rows[0][0] != table.Int(int64(3-i%3)) {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
	wg.Wait()
}

// The time of DB.Query for a known text beside that of the backend alone, over a
// table of ten rows.
func BenchmarkKnownText(b *testing.B) {
	for _, backend := range []string{"cpu", "auto"} {
		b.Run(backend, func(b *testing.B) {
			db, err := Open(Options{Backend: backend, Calibrations: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			if err := db.Add(bytesTable(10)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Collect(db.Query(context.Background(), countFew)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("execute", func(b *testing.B) {
		db, err := Open(Options{Backend: "cpu", Calibrations: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		if err := db.Add(bytesTable(10)); err != nil {
			b.Fatal(err)
		}
		s, err := db.plan(context.Background(), countFew)
		if err != nil {
			b.Fatal(err)
		}
		backend, _, err := db.view().Open(context.Background(), "cpu", new(time.Duration))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := backend.Execute(context.Background(), s.plan, &querystats.Collector{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
