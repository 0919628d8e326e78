package postgres

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fill makes the tables anew with drawn rows, and returns the statements that did.
func (g *draws) fill(t fataler, p *pair) string {
	var script []string
	for _, r := range tables {
		script = append(script, "DROP TABLE IF EXISTS "+r.name, "CREATE TABLE "+r.name+" ("+tableTypes[r.name]+")")
		var rows []string
		for range g.intn(7) {
			rows = append(rows, g.row(r))
		}
		if len(rows) > 0 {
			script = append(script, "INSERT INTO "+r.name+" VALUES "+strings.Join(rows, ", "))
		}
	}
	script = append(script, "DROP TABLE IF EXISTS q", "CREATE TABLE q (id integer PRIMARY KEY, v integer, w integer, s text, r text)")
	if rows := g.keyedRows(0); len(rows) > 0 {
		script = append(script, "INSERT INTO q VALUES "+strings.Join(rows, ", "))
	}
	all := strings.Join(script, ";\n") + ";"
	p.both(t, all)
	return all
}

// backends are those that a statement may run on beside cpu.
var backends = []string{"auto", "compute", "fused", "classic"}

// check compares a statement on cpu, and at times on another backend.
func (p *pair) check(text string, ordered bool, n int) string {
	want := p.ofPostgreSQL(text)
	if d := p.difference(text, "cpu", want, p.ofEngine("cpu", text), ordered); d != "" {
		return d
	}
	if n%4 == 0 && want.err == nil {
		backend := backends[n/4%len(backends)]
		return p.difference(text, backend, want, p.ofEngine(backend, text), ordered)
	}
	return ""
}

// What a check of each test draws: rows for the tables so many times, and so many statements over them. A check is a
// fortieth of what `make test` has time for.
const fillings, statements = 8, 15

func TestQueries(t *testing.T) {
	p := openPair(t)
	defer p.close()
	rapid.Check(t, func(t *rapid.T) {
		g := &draws{t: t}
		for range fillings {
			script := g.fill(t, p)
			for range statements {
				g.room, g.n = 5, 0
				text, ordered := g.statement()
				if d := p.check(text, ordered, g.intn(16)); d != "" {
					t.Fatalf("%s\n%s;\n%s", script, text, d)
				}
			}
		}
	})
	t.Log(&p.tally)
}

// changed runs a change on both, and compares what it returns and the table after it.
func (p *pair) changed(text, table, backend string) string {
	want, got := p.ofPostgreSQL(text), p.ofEngine(backend, text)
	if d := p.difference(text, backend, want, got, false); d != "" {
		return d
	}
	if (want.err == nil) != (got.err == nil) { // refused by name, or at run time
		return ""
	}
	want, got = p.tableRows(table)
	if d := p.difference(text, "the engine", want, got, false); d != "" {
		return "after it " + d
	}
	return ""
}

func TestChanges(t *testing.T) {
	p := openPair(t)
	defer p.close()
	rapid.Check(t, func(t *rapid.T) {
		g := &draws{t: t}
		for range fillings {
			script := g.fill(t, p)
			for range statements {
				g.room, g.n = 3, 0
				text, table := g.change()
				if d := p.changed(text, table, g.pick("cpu", "cpu", "auto", "compute")); d != "" {
					t.Fatalf("%s\n%s;\n%s", script, text, d)
				}
				if script += "\n" + text + ";"; !p.alike(table) {
					script = g.fill(t, p) // one of the two did not take the change
				}
			}
		}
	})
	t.Log(&p.tally)
}

// TestEach draws STENCILDB_EACH statements and shows each that differs: for looking for more than one fault at a time.
func TestEach(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("STENCILDB_EACH"))
	if err != nil {
		n = 20
	}
	p := openPair(t)
	defer p.close()
	found := 0
	from, _ := strconv.Atoi(os.Getenv("STENCILDB_FROM"))
	for seed := from; seed < from+n; seed++ {
		rapid.Custom(func(rt *rapid.T) int {
			g := &draws{t: rt, room: 5}
			script := g.fill(t, p)
			text, d := "", ""
			if os.Getenv("STENCILDB_CHANGES") != "" {
				g.room = 3
				var table string
				text, table = g.change()
				d = p.changed(text, table, "cpu")
			} else {
				var ordered bool
				text, ordered = g.statement()
				d = p.check(text, ordered, seed)
			}
			if d != "" {
				found++
				fmt.Printf("-- seed %d\n%s\n%s;\n%s\n\n", seed, script, text, d)
			}
			return 0
		}).Example(seed)
	}
	t.Log(&p.tally, found, "differ")
	if found > 0 {
		t.Fail()
	}
}
