package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An appender adds columns and rows of every type; other columns get their default.
func TestAppender(t *testing.T) {
	ctx := context.Background()
	for _, folder := range []string{"", t.TempDir() + "/db"} {
		db := open(t, Options{Backend: "cpu", Folder: folder})
		do(t, db, `CREATE TABLE t (id integer PRIMARY KEY, m numeric(6,2) CHECK (m < 100), s text NOT NULL, b boolean, f double precision, r real, at date, ts timestamp, d bigint DEFAULT 2 + 5, n bigint)`)
		a, err := db.Appender(ctx, "t", "id", "s", "m", "b", "f", "r", "at", "ts")
		if err != nil {
			t.Fatal(err)
		}
		a.Ints(0, 1, 2)
		a.Texts(1, "x", "é")
		a.Ints(2, 150)
		a.Nulls(2, 1)
		a.Bools(3, true, false)
		a.Floats(4, 0.5, -0.25)
		a.Floats(5, 1.5, 2.5)
		a.Ints(6, 0, 19723)
		a.Ints(7, 0, 1_000_000)
		if err := a.EndRows(ctx, 2); err != nil {
			t.Fatal(err)
		}
		if got := said(Collect(db.Query(ctx, "SELECT COUNT(*) AS n FROM t"))); got != "0" {
			t.Errorf("%s rows before the flush", got)
		}
		if err := a.Row(ctx, 3, "z", "12.345", nil, 7, 0.1, "2024-02-29", time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(ctx); err != nil || a.Rows() != 3 {
			t.Fatal(err, a.Rows())
		}
		want := "1|1.50|x|true|0.5|1.5|1970-01-01|1970-01-01 00:00:00|7|NULL;2|NULL|é|false|-0.25|2.5|2024-01-01|1970-01-01 00:00:01|7|NULL;" +
			"3|12.35|z|NULL|7|0.1|2024-02-29|2024-01-02 03:04:05|7|NULL"
		if got := said(Collect(db.Query(ctx, "SELECT * FROM t"))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := a.Row(ctx, 4, "y", 1, true, 1, 1, nil, nil); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Error(err)
		}
		db.Close()
	}
}

// A row is built value by value, of each type; it is the one that Row makes of the same values.
func TestAppenderBuildsRows(t *testing.T) {
	ctx, db := context.Background(), open(t, Options{Backend: "cpu"})
	columns := "(id smallint, m numeric(6,2), s text, b boolean, f double precision, r real, at date, ts timestamp, n numeric(18,4))"
	do(t, db, "CREATE TABLE t "+columns)
	do(t, db, "CREATE TABLE u "+columns)
	a, errA := db.Appender(ctx, "t")
	b, errB := db.Appender(ctx, "u")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	const rows = 3000 // of which the builder is told at several times
	east := time.FixedZone("east", 2*3600)
	for i := range rows {
		at := time.Date(1969, 12, 31, 22, 30, i, 123456789, east)
		a.Int64(int64(i))
		a.Decimal(int64(i), 2)
		a.Text(fmt.Sprint("w", i%7))
		a.Bool(i%2 == 0)
		a.Float64(float64(i) / 4)
		a.Float64(0.1)
		a.Time(at)
		a.Time(at)
		if i%3 == 0 {
			a.Null()
		} else {
			a.Decimal(int64(i)*10+5, 5) // rounded
		}
		if err := a.EndRow(ctx); err != nil {
			t.Fatal(err)
		}
		n := any(fmt.Sprintf("%d.%05d", (i*10+5)/100000, (i*10+5)%100000))
		if i%3 == 0 {
			n = nil
		}
		if err := b.Row(ctx, i, fmt.Sprintf("%d.%02d", i/100, i%100), fmt.Sprint("w", i%7), i%2 == 0, float64(i)/4, 0.1, at, at, n); err != nil {
			t.Fatal(err)
		}
	}
	a.Ints(0, 4000)
	a.Decimals(1, 3, -12345) // half away from zero
	a.Texts(2, "end")
	a.Bools(3, true)
	a.Floats(4, 1)
	a.Floats(5, 1)
	a.Times(6, time.Date(2024, 2, 29, 23, 59, 0, 0, time.UTC))
	a.Times(7, time.Date(2024, 2, 29, 23, 59, 0, 0, time.UTC))
	a.Decimals(8, 0, 7)
	if err := a.EndRows(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if errA, errB := a.Close(ctx), b.Close(ctx); errA != nil || errB != nil || a.Rows() != rows+1 || b.Rows() != rows {
		t.Fatal(errA, errB, a.Rows(), b.Rows())
	}
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM t":                                          "3001",
		"SELECT * FROM t WHERE id = 4000":                                 "4000|-12.35|end|true|1|1|2024-02-29|2024-02-29 23:59:00|7.0000",
		"SELECT * FROM t WHERE id = 5":                                    "5|0.05|w5|false|1.25|0.1|1969-12-31|1969-12-31 22:30:05.123456|0.0006",
		"SELECT * FROM (SELECT * FROM t EXCEPT SELECT * FROM u) q":        "4000|-12.35|end|true|1|1|2024-02-29|2024-02-29 23:59:00|7.0000",
		"SELECT COUNT(*) FROM (SELECT * FROM u EXCEPT SELECT * FROM t) q": "0",
	} {
		if got := said(Collect(db.Query(ctx, text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for want, add := range map[string]func(a *Appender) error{
		"column m of type numeric(6,2) takes no integer": func(a *Appender) error { a.Int64(1); a.Int64(1); return a.EndRow(ctx) },
		"a row of 1 values for 9 columns":                func(a *Appender) error { a.Int64(1); return a.EndRow(ctx) },
		"1 values of a row that EndRow has not ended":    func(a *Appender) error { a.Int64(1); return a.EndRows(ctx, 1) },
		"a row that EndRows has not ended":               func(a *Appender) error { a.Int64(1); return a.Flush(ctx) },
		"a row has more values than the 9 columns": func(a *Appender) error {
			for range 10 {
				a.Null()
			}
			return a.EndRow(ctx)
		},
		"out of range for type smallint": func(a *Appender) error {
			a.Int64(1 << 20)
			for range 8 {
				a.Null()
			}
			_ = a.EndRow(ctx)
			return a.Flush(ctx)
		},
		"column m: 19 digits behind the point": func(a *Appender) error { a.Null(); a.Decimal(1, 19); return a.EndRow(ctx) },
		"column m: numeric":                    func(a *Appender) error { a.Null(); a.Decimal(1<<62, 1); return a.EndRow(ctx) },
		"column at: date out of range":         func(a *Appender) error { a.Times(6, time.Unix(1<<50, 0)); return a.err },
	} {
		a, err := db.Appender(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		if err := add(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkAppenderRows adds rows of an integer, a float, a text and a time. Rows are built by typed methods, and by Row of values in
// boxes.
func BenchmarkAppenderRows(b *testing.B) {
	const rows = 1 << 18
	ctx := context.Background()
	words, at := []string{"a", "bc", "def", "ghij"}, time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, add := range map[string]func(a *Appender, i int) error{
		"typed": func(a *Appender, i int) error {
			a.Int64(int64(i))
			a.Float64(float64(i))
			a.Text(words[i%4])
			a.Time(at)
			return a.EndRow(ctx)
		},
		"boxed": func(a *Appender, i int) error { return a.Row(ctx, int64(i), float64(i), words[i%4], at) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				db, err := Open(Options{Backend: "cpu", Calibrations: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := db.Exec(ctx, "CREATE TABLE t (i bigint, f double precision, s text, ts timestamp)"); err != nil {
					b.Fatal(err)
				}
				a, err := db.Appender(ctx, "t")
				for i := 0; i < rows && err == nil; i++ {
					err = add(a, i)
				}
				if err == nil {
					err = a.Close(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
				db.Close()
			}
			b.ReportMetric(4*rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
		})
	}
}

// Rows that break a rule are not added, and neither are those beside them; in a transaction, they end it.
func TestAppenderRules(t *testing.T) {
	ctx, db := context.Background(), open(t, Options{Backend: "cpu"})
	do(t, db, `CREATE TABLE t (id integer PRIMARY KEY, m numeric(4,2) CHECK (m < 10), s text NOT NULL DEFAULT 'd', at date, r real)`)
	do(t, db, "INSERT INTO t VALUES (1)")
	do(t, db, "CREATE TABLE u (x bigint)")
	do(t, db, "CREATE VIEW v AS SELECT 1 AS x")
	do(t, db, "CREATE TABLE w (id bigint GENERATED ALWAYS AS IDENTITY, x bigint)")
	for want, add := range map[string]func(a *Appender) error{
		"duplicate key":    func(a *Appender) error { a.Ints(0, 5, 1); a.Nulls(1, 2); return a.EndRows(ctx, 2) },
		"already exists":   func(a *Appender) error { a.Ints(0, 6, 6); a.Nulls(1, 2); return a.EndRows(ctx, 2) },
		"null value":       func(a *Appender) error { a.Nulls(0, 1); a.Nulls(1, 1); return a.EndRows(ctx, 1) },
		"check constraint": func(a *Appender) error { a.Ints(0, 7, 8); a.Ints(1, 0, 1000); return a.EndRows(ctx, 2) },
		"out of range for type integer": func(a *Appender) error {
			a.Ints(0, 1<<31)
			a.Nulls(1, 1)
			return a.EndRows(ctx, 1)
		},
		"out of range for type numeric": func(a *Appender) error { return a.Row(ctx, 9, 99999) },
		"takes no text":                 func(a *Appender) error { a.Texts(0, "x"); return nil },
		"no column 2 of 2":              func(a *Appender) error { a.Ints(2, 1); return nil },
		"1 values in a chunk of 2 rows": func(a *Appender) error { a.Ints(0, 1); a.Ints(1, 1, 2); return a.EndRows(ctx, 2) },
		"of 1 values for 2 columns":     func(a *Appender) error { return a.Row(ctx, 1) },
		"invalid":                       func(a *Appender) error { return a.Row(ctx, "x1", 1) },
		"EndRows has not ended":         func(a *Appender) error { a.Ints(0, 10, 11); return nil },
		"has not ended: table: column m": func(a *Appender) error {
			a.Ints(1, 5)
			return a.Flush(ctx)
		},
		"value out of range: overflow":  func(a *Appender) error { a.Floats(2, 1, 1e300); return nil },
		"value out of range: underflow": func(a *Appender) error { a.Floats(2, 1e-300); return nil },
	} {
		columns := []string{"id", "m"}
		if strings.Contains(want, "flow") {
			columns = append(columns, "r")
		}
		a, err := db.Appender(ctx, "t", columns...)
		if err != nil {
			t.Fatal(err)
		}
		_ = add(a)
		if err := a.Close(ctx); err == nil || !strings.Contains(err.Error(), want) && want != "out of range for type numeric" {
			t.Errorf("%v, want an error with %q", err, want)
		}
		if a.Rows() != 0 {
			t.Errorf("%s: %d rows are said to have been added", want, a.Rows())
		}
	}
	for name, want := range map[string]string{"v": "is a view", "w": `"id" of table "w" is GENERATED ALWAYS`} {
		if _, err := db.Appender(ctx, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	counted, err := db.Appender(ctx, "w", "x")
	if err != nil {
		t.Fatal(err)
	}
	_ = counted.Row(ctx, 7)
	if err := counted.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := said(Collect(db.Query(ctx, "SELECT * FROM w"))); got != "1|7" {
		t.Errorf("the table is %s", got)
	}
	a, err := db.Appender(ctx, "t", "id", "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Row(ctx, 2, []byte{0x89}); err == nil || !strings.Contains(err.Error(), "column s: the text is not valid UTF-8") {
		t.Error(err)
	}
	for _, names := range [][]string{{"no"}, {"id", "id"}} {
		if _, err := db.Appender(ctx, "t", names...); err == nil {
			t.Errorf("columns %q are taken", names)
		}
	}
	if got := said(Collect(db.Query(ctx, "SELECT * FROM t"))); got != "1|NULL|d|NULL|NULL" {
		t.Errorf("the table is %s", got)
	}
	a, err = db.Appender(ctx, "u")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	own, err := tx.Appender(ctx, "u")
	if err != nil {
		t.Fatal(err)
	}
	own.Ints(0, 7)
	if err := own.EndRows(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := own.Close(ctx); err != nil {
		t.Fatal(err)
	}
	a.Ints(0, 1, 2)
	if err := a.EndRows(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := said(Collect(db.Query(ctx, "SELECT x FROM u"))); got != "1;2;7" {
		t.Errorf("the table is %s", got)
	}
	do(t, db, "DROP TABLE u")
	a.Ints(0, 3)
	_ = a.EndRows(ctx, 1)
	if err := a.Close(ctx); err == nil || !strings.Contains(err.Error(), "dropped") {
		t.Error(err)
	}
}

// cpuTime is what the process has taken of all cores: on a machine that others use it says more than the wall's time.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAppender adds rows of integers: by columns of 4,096 values, and value by value.
func BenchmarkAppender(b *testing.B) {
	const rows = 1 << 22
	ctx := context.Background()
	for _, columns := range []int{1, 4} {
		for _, run := range []int{4096, 1} {
			for _, durable := range []bool{false, true} {
				b.Run(fmt.Sprintf("columns=%d/run=%d/durable=%v", columns, run, durable), func(b *testing.B) {
					var names []string
					values := make([][]int64, columns)
					for c := range columns {
						names = append(names, fmt.Sprintf("c%d bigint NOT NULL", c))
						for i := range rows {
							values[c] = append(values[c], int64(i)*int64(2*c+1)%(1<<(8*c+7)))
						}
					}
					var spent time.Duration
					for b.Loop() {
						b.StopTimer()
						o := Options{Backend: "cpu", Calibrations: b.TempDir()}
						if durable {
							o.Folder = b.TempDir() + "/db"
						}
						db, err := Open(o)
						if err != nil {
							b.Fatal(err)
						}
						if _, err := db.Exec(ctx, "CREATE TABLE t ("+strings.Join(names, ", ")+")"); err != nil {
							b.Fatal(err)
						}
						a, err := db.Appender(ctx, "t")
						if err != nil {
							b.Fatal(err)
						}
						began := cpuTime(b)
						b.StartTimer()
						for at := 0; at < rows; at += run {
							for c := range columns {
								a.Ints(c, values[c][at:at+run]...)
							}
							if err := a.EndRows(ctx, run); err != nil {
								b.Fatal(err)
							}
						}
						if err := a.Close(ctx); err != nil {
							b.Fatal(err)
						}
						b.StopTimer()
						spent += cpuTime(b) - began
						db.Close()
						b.StartTimer()
					}
					b.ReportMetric(float64(spent.Nanoseconds())/float64(rows*b.N), "cpu-ns/row")
					b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
				})
			}
		}
	}
}

// A transaction that only reads has no appender.
func TestAppenderOfReadOnly(t *testing.T) {
	ctx := context.Background()
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t (a bigint)")
	tx, err := db.Begin(ctx, TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Appender(ctx, "t"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v, want that it is read-only", err)
	}
}
