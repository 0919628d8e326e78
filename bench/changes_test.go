package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/engine"
)

func (c changer) must(b *testing.B, texts ...string) {
	b.Helper()
	for _, text := range texts {
		if err := c.exec(b.Context(), text); err != nil {
			b.Fatalf("%s: %s: %v", c.name, text, err)
		}
	}
}

// changers opens stencildb and the peers that are built in.
func changers(b *testing.B, durable bool) (list []changer) {
	add := func(open func(dir string) (changer, error)) {
		dir := ""
		if durable {
			dir = b.TempDir()
		}
		c, err := open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.close() })
		list = append(list, c)
	}
	add(func(dir string) (changer, error) {
		return changingEngine(engine.Options{Backend: "cpu", Folder: dir, Calibrations: b.TempDir()})
	})
	for _, driver := range []string{duckDBDriver, sqliteDriver} {
		if hasDriver(driver) {
			add(func(dir string) (changer, error) { return changingPeer(driver, dir) })
		}
	}
	return list
}

// benchRows is the number of rows of the benchmarks of changes: STENCILDB_ROWS, if it is set.
func benchRows(b *testing.B, usual int) int {
	text := os.Getenv("STENCILDB_ROWS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

const columnsOfChanges = "k BIGINT, a BIGINT, v BIGINT, s VARCHAR"

// fillChanges makes a table of so many rows.
func fillChanges(c changer, rows int) string {
	series := fmt.Sprintf("generate_series(1, %d) AS q (g)", rows)
	if c.name == "sqlite3" {
		series = fmt.Sprintf("(WITH RECURSIVE q (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM q WHERE g < %d) SELECT g FROM q)", rows)
	}
	return "INSERT INTO t SELECT g, g::bigint * 7919 % 1000, g * 31 % 1000003, 'name ' || (g % 5000) FROM " + series
}

// BenchmarkChanges times changes of many rows on all systems in turns, and gives the medians in milliseconds. SQLite has a tenth
// of the rows.
func BenchmarkChanges(b *testing.B) {
	const rounds = 5
	for _, durable := range []bool{false, true} {
		place := map[bool]string{false: "memory", true: "durable"}[durable]
		b.Run(place, func(b *testing.B) {
			list, rows := changers(b, durable), benchRows(b, 10_000_000)
			for _, c := range list {
				n := rows
				if c.name == "sqlite3" {
					n /= 10
				}
				c.must(b, "CREATE TABLE t ("+columnsOfChanges+")", fillChanges(c, n))
			}
			for _, op := range []struct {
				name                  string
				before, change, after string
			}{
				{"update_tenth", "", "UPDATE t SET v = v + 1 WHERE k % 10 = 3", ""},
				{"delete_tenth", "CREATE TABLE d AS SELECT * FROM t", "DELETE FROM d WHERE k % 10 = 4", "DROP TABLE d"},
				{"insert_select", "CREATE TABLE i (" + columnsOfChanges + ")", "INSERT INTO i SELECT k, a, v, s FROM t", "DROP TABLE i"},
				{"insert_select_computed", "CREATE TABLE i (" + columnsOfChanges + ")", "INSERT INTO i SELECT k, a + 1, v * 2, s FROM t WHERE a < 900", "DROP TABLE i"},
				{"update_row", "", "UPDATE t SET v = v + 1 WHERE k = 77", ""},
				{"delete_row", "", "DELETE FROM t WHERE k = 79", "INSERT INTO t VALUES (79, 1, 1, 'x')"},
			} {
				b.Run(op.name, func(b *testing.B) {
					for range b.N {
						took, files := map[string][]time.Duration{}, map[string][]time.Duration{}
						for range rounds {
							for _, c := range list {
								if op.before != "" {
									c.must(b, op.before)
								}
								if durable {
									c.must(b, c.settle)
								}
								start := time.Now()
								c.must(b, op.change)
								took[c.name] = append(took[c.name], time.Since(start))
								if durable { // it may be what the statement has left to do
									start := time.Now()
									c.must(b, c.settle)
									files[c.name] = append(files[c.name], time.Since(start))
								}
								if op.after != "" {
									c.must(b, op.after)
								}
							}
						}
						for name, times := range took {
							slices.Sort(times)
							b.ReportMetric(float64(times[rounds/2].Microseconds())/1000, name+"_ms")
							if times := files[name]; len(times) > 0 {
								slices.Sort(times)
								b.ReportMetric(float64(times[rounds/2].Microseconds())/1000, name+"_files_ms")
							}
						}
					}
				})
			}
		})
	}
}

// synced is a file that is written to behind its rows' end. Each statement writes 100 bytes and syncs: a durable commit takes at least
// that.
func synced(b *testing.B) changer {
	f, err := os.Create(filepath.Join(b.TempDir(), "synced"))
	if err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	record, at := []byte(strings.Repeat("record ", 15)[:100]), int64(0)
	return changer{name: "sync", exec: func(context.Context, string, ...any) error {
		_, err := f.WriteAt(record, at)
		at += int64(len(record))
		return errors.Join(err, unix.Fdatasync(int(f.Fd())))
	}, close: f.Close}
}

// BenchmarkCommits times single rows, a commit each, in a table with a key: each a text of its own, and one text with parameters. The systems'
// turns, of one statement where it is durable, or STENCILDB_TURN, and of eight where it is in memory, come in random order. It gives statements a second, and the
// median of a turn's statement in µs. Where commits are durable, a write of 100 bytes with a sync is one of the systems.
func BenchmarkCommits(b *testing.B) {
	for _, durable := range []bool{false, true} {
		place, turn, turns := "memory", 8, 50
		if durable {
			place, turn, turns = "durable", 1, 400
			if n, err := strconv.Atoi(os.Getenv("STENCILDB_TURN")); err == nil {
				turn, turns = n, max(1, 400/n)
			}
		}
		b.Run(place, func(b *testing.B) {
			list, rows := changers(b, durable), benchRows(b, 1_000_000)
			for _, c := range list {
				c.must(b, "CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, v BIGINT, s VARCHAR)", fillChanges(c, rows), fmt.Sprintf("INSERT INTO t VALUES (%d, 1, 1, 'x')", rows+1))
			}
			for i := range 50 { // stencildb makes an index when it has looked for some
				for _, c := range list {
					c.must(b, fmt.Sprintf("SELECT a, v, s FROM t WHERE k = %d", i*31+1))
				}
			}
			if durable {
				list = append(list, synced(b))
				b.Cleanup(func() { _ = list[len(list)-1].close() })
			}
			next, seed := rows+2, 0
			there := func() int { seed++; return seed*7919%rows + 1 }
			added := func() int { next++; return next }
			either := func() int {
				if seed%2 == 0 {
					return there()
				}
				seed++
				return added()
			}
			for _, op := range []struct {
				name, text string
				key        func() int
			}{
				{"insert", "INSERT INTO t VALUES ($1, 1, 1, 'x')", added},
				{"upsert", "INSERT INTO t VALUES ($1, 1, 1, 'x') ON CONFLICT (k) DO UPDATE SET v = excluded.v", either},
				{"update", "UPDATE t SET v = v + 1 WHERE k = $1", there},
				{"delete", "DELETE FROM t WHERE k = $1", there},
				{"select", "SELECT a, v, s FROM t WHERE k = $1", there},
			} {
				for _, how := range []string{"text", "prepared"} {
					b.Run(op.name+"_"+how, func(b *testing.B) {
						took := make([][]time.Duration, len(list))
						for range b.N {
							keys := make([]int, turn*turns)
							for i := range keys {
								keys[i] = op.key()
							}
							left := slices.Repeat([][]int{keys}, len(list))
							for _, k := range rand.Perm(turns * len(list)) {
								i := k % len(list)
								c, start := list[i], time.Now()
								for _, key := range left[i][:turn] {
									var err error
									if how == "text" {
										err = c.exec(b.Context(), strings.Replace(op.text, "$1", strconv.Itoa(key), 1))
									} else {
										err = c.exec(b.Context(), op.text, key)
									}
									if err != nil {
										b.Fatalf("%s: %s: %v", c.name, op.text, err)
									}
								}
								took[i], left[i] = append(took[i], time.Since(start)/time.Duration(turn)), left[i][turn:]
							}
						}
						for i, c := range list {
							sum := time.Duration(0)
							for _, d := range took[i] {
								sum += d
							}
							slices.Sort(took[i])
							b.ReportMetric(float64(len(took[i]))/sum.Seconds(), c.name+"/s")
							b.ReportMetric(float64(took[i][len(took[i])/2].Nanoseconds())/1000, c.name+"_median_µs")
						}
					})
				}
			}
		})
	}
}

// BenchmarkResidentUpdate times an UPDATE of a tenth of the rows of a resident table on a device. It times the statement, a
// query of the column after it, and a row of it, which has to be in host memory. It also times the query otherwise, and
// statements one after the other.
func BenchmarkResidentUpdate(b *testing.B) {
	backend := os.Getenv("STENCILDB_BACKEND")
	if backend == "" {
		backend = "compute"
	}
	db, err := engine.Open(engine.Options{Backend: backend, Calibrations: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	run := func(text string) time.Duration {
		start := time.Now()
		if _, err := engine.Collect(db.Query(context.Background(), text)); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	rows := benchRows(b, 1<<22)
	run("CREATE TABLE t AS SELECT g AS k, g * 31 % 1000003 AS v FROM generate_series(1, " + strconv.Itoa(rows) + ") AS q (g)")
	const query = "SELECT COUNT(*), SUM(v) FROM t WHERE v > 1000"
	first := run(query)
	for range b.N {
		var queries, updates, after, row []time.Duration
		update := func(i int) time.Duration {
			return run(fmt.Sprintf("UPDATE t SET v = k %% 1000003 WHERE k %% 10 = %d", i))
		}
		for i := range 9 {
			run(query)
			queries = append(queries, run(query))
			updates = append(updates, update(i))
			after = append(after, run(query))
			row = append(row, run("SELECT v FROM t LIMIT 1"))
		}
		start := time.Now()
		for i := range 9 {
			update(i)
		}
		run("SELECT v FROM t LIMIT 1")
		b.ReportMetric(float64(time.Since(start).Microseconds())/9000, "update_in_a_row_ms")
		b.ReportMetric(float64(first.Microseconds())/1000, "first_query_ms")
		for name, times := range map[string][]time.Duration{"query_ms": queries, "update_ms": updates, "query_after_ms": after, "row_after_ms": row} {
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, name)
		}
	}
}
