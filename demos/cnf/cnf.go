// Package cnf is lesson 6: boolean combinations in the stencil buffer.
package cnf

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

// where is the condition: an AND of two clauses, each an OR of two predicates.
const where = "(delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10)"

// predicate is `column op value`.
type predicate struct {
	column string
	op     string
	value  int64
}

var clauses = [][]predicate{
	{{"delay", "<", 0}, {"distance", ">", 2000}},
	{{"distance", "<", 250}, {"delay", ">=", -10}},
}

// evalCNF is the paper's routine 4.3. Before a clause, the records that are still selected hold `valid`.
// Those that satisfy one of its predicates move to the other of 1 and 2. What is left at `valid` afterwards
// has failed and becomes 0. It returns the counts of the last clause, added up, and calls look after each
// step.
func evalCNF(s *lesson.Stage, clauses [][]predicate, look func(p *pass.Pass, n uint64)) uint64 {
	clear := &pass.Clear{Value: 1, Mask: 0xff}
	var selected uint64
	for i, clause := range clauses {
		valid, op := uint8(1), pass.Incr
		if i%2 == 1 {
			valid, op = 2, pass.Decr
		}
		selected = 0
		for _, p := range clause {
			c := s.Column(p.column)
			s.CopyToDepth(c)
			q := s.Compare(c, p.op, p.value)
			q.Clear, q.Stencil = clear, pass.Stencil{Test: true, Func: pass.Equal, Ref: valid, Mask: 0xff, Pass: op, WriteMask: 0xff}
			n := s.Run(q)
			selected += n
			look(q, n)
			clear = nil
		}
		drop := &pass.Pass{Op: pass.EvalCNF{Clause: i + 1}, Target: s.Target,
			Stencil: pass.Stencil{Test: true, Func: pass.Equal, Ref: valid, Mask: 0xff, Pass: pass.Zero, WriteMask: 0xff}}
		s.Run(drop)
		look(drop, 0)
	}
	return selected
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	s.Say("WHERE %s: every record has a stencil value, 1 at first. A pass may change it where both tests pass.", where)
	s.Row("%-31s %-21s %8s %9s %9s %9s", "pass", "where both tests pass", "moved", "hold 0", "hold 1", "hold 2")
	sheet := &draw.Sheet{Title: "Two clauses, and who is still in", Columns: 3, Width: 341}
	n := evalCNF(s, clauses, func(p *pass.Pass, moved uint64) {
		stencil := s.Stencil()
		h := histogram(stencil)
		name := strings.TrimPrefix(p.String(), "EvalCNF: ")
		s.Row("%-31s %-21s %8s %9s %9s %9s", name, rule(p), numbers.Grouped(moved), numbers.Grouped(h[0]), numbers.Grouped(h[1]), numbers.Grouped(h[2]))
		sheet.Panels = append(sheet.Panels, draw.Panel{Title: fmt.Sprintf("%d  %s", len(sheet.Panels)+1, name),
			Draw:   draw.Records{Shape: s.Target.Shape, Colors: draw.Values(stencil)},
			Note:   rule(p),
			Legend: legend(h)})
	})
	s.Say("What is not 0 is selected. In the last clause a record moves at most once, so the counts of its two passes add up to the answer: %s.",
		numbers.Grouped(n))
	s.Agree(n, "SELECT COUNT(*) FROM flights WHERE "+where)

	steps, count := s.Query("SELECT COUNT(*) FROM flights WHERE " + where)
	s.Say("Backend classic draws the same passes for this WHERE, copies included, and answers %v:", count)
	for _, p := range steps {
		s.Row("%s", p.Pass)
	}
	const wide = "SELECT COUNT(*) FROM flights WHERE time >= 22.5"
	steps, count = s.Query(wide)
	s.Say("An attribute of two limbs (lesson 2) is compared by such a combination, too. %s (%v) takes:", wide, count)
	for _, p := range steps {
		s.Row("%s", p.Pass)
	}
	s.Say("Look at the picture: the grey region, 0, only ever grows. Orange and blue change places with each clause, so that " +
		"a record that has satisfied one predicate of a clause is not tested by the others: its value is not the one they ask for.")
	s.Picture("clauses", sheet)
}

// rule says what a pass does to stencil values: "1 becomes 2".
func rule(p *pass.Pass) string {
	to := map[pass.StencilOp]uint8{pass.Incr: p.Stencil.Ref + 1, pass.Decr: p.Stencil.Ref - 1, pass.Zero: 0}[p.Stencil.Pass]
	return fmt.Sprintf("%v: %d becomes %d", p.Stencil.Pass, p.Stencil.Ref, to)
}

// histogram counts the records that hold 0, 1 and 2.
func histogram(stencil []uint8) (h [3]int) {
	for _, v := range stencil {
		h[v]++
	}
	return h
}

func legend(h [3]int) (list []draw.Entry) {
	for v, n := range h {
		list = append(list, draw.Entry{Index: draw.Stencil + uint8(v), Text: fmt.Sprintf("%d: %s flights", v, numbers.Grouped(n))})
	}
	return list
}
