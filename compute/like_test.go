package compute

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// textOf makes a text of up to n parts: letters, characters of two to four bytes, bytes that are no UTF-8, and what LIKE reads.
func textOf(rng *rand.Rand, n int, parts []string) string {
	var b strings.Builder
	for range rng.IntN(n + 1) {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.String()
}

var textParts = []string{"a", "b", "B", "é", "€", "𝄞", "\xff", "\xe2\x82", "%", "_", "ab", "abab", " "}

// textTable makes chunks of a VARCHAR column: many different texts, some of them long, and NULLs.
func textTable(t *testing.T, rng *rand.Rand, rows, chunk int, parts []string) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, chunk)
	for i := range rows {
		switch {
		case i%17 == 0:
			b.Column(0).Null()
		case i%997 == 1:
			b.Column(0).String(strings.Repeat(textOf(rng, 8, parts), 60)) // llvmpipe leaves a loop after 65536 turns
		default:
			b.Column(0).String(textOf(rng, 12, parts) + fmt.Sprint(i%50_021))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// matchLeaves lowers LIKE for each chunk, and calls f with the leaves that are a [predicate.Match]. A pattern of one
// element, and one with a text before all wildcards, gives none.
func matchLeaves(t *testing.T, tab *table.Table, like *expr.Like, f func(chunk int, leaf *predicate.Match)) {
	like.X = &expr.Column{Name: "s", T: tab.Fields[0].Type}
	for i, c := range tab.Chunks {
		p, _, err := lower.Lower(like, tab, c)
		if err != nil {
			t.Fatalf("%s: %v", like, err)
		}
		m, ok := p.Leaf.(*predicate.Match)
		if ok {
			f(i, m)
		}
	}
}

// The device finds in the bytes what the matcher of package expr finds text by text. Patterns are of all
// kinds, and columns have several chunks.
func TestMatchesAreThoseOfLike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	tab := textTable(t, rng, 110_000, 55_000, textParts)
	patterns := []string{"%", "%%", "_%", "%_", "%____", "%a_", "%ab%ab%", "%abab%", "%_b", "%€%", "%é_%9", "_%_%1", `%\%%`, `%\_%_`, "%\xff%", "%\x82%", "%bab%é%%", "%7", "%not there%", "%0%1%2%3%", "%ab%b%", "%éabab%", "%ababé%bab%", "%ab%ab%", "%ab%a%", "%é%9%", "%abab%é%", "%0%7%", "%ba%\xff%", "%" + strings.Repeat("_", 100) + "%"}
	for range 40 {
		p := textOf(rng, 6, append(textParts, "%", "_", "%", "_"))
		patterns = append(patterns, "%"+strings.TrimRight(p, `\`), "_"+p)
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d, matches := ProfileAs(ctx.Caps(), false), 0
		d.MaxBlock = 1 << 18 // several windows, and several blocks of texts
		for i, p := range patterns {
			if strings.Trim(p, "%") == "" {
				continue
			}
			like := &expr.Like{Pattern: p, Escape: '\\', Not: i%3 == 0}
			matchLeaves(t, tab, like, func(chunk int, leaf *predicate.Match) {
				if err := checkLeaf(g, d, tab, chunk, leaf); err != nil {
					t.Errorf("%q: %v", p, err)
				}
				matches++
			})
			g.End()
		}
		if matches < len(patterns) {
			t.Errorf("%d matches of %d patterns over 2 chunks", matches, len(patterns))
		}
		var made []*table.Segment
		for _, c := range tab.Chunks {
			made = append(made, c.Segments[0].Made()...)
		}
		if len(made) < 2*2*len(tab.Chunks) {
			t.Errorf("%d chunks have %d segments of texts", len(tab.Chunks), len(made))
		}
		held := func() (bytes int64) {
			for _, r := range g.Store().Resident() {
				if slices.Contains(made, r.Segment) {
					bytes += r.Bytes
				}
			}
			return bytes
		}
		texts := int64(0)
		for _, c := range tab.Chunks {
			for _, s := range c.Segments[0].Dict {
				texts += int64(len(s)) + 4
			}
		}
		if n := held(); n < texts || n > texts*5/4 {
			t.Errorf("%d bytes are held, the texts and where they begin are %d", n, texts)
		}
		for _, c := range tab.Chunks {
			g.Store().Drop(c.Segments[0])
		}
		if n := held(); n > 0 {
			t.Errorf("%d bytes are held of dropped texts", n)
		}
	})
}

// ILIKE looks at the bytes where all texts are ASCII, and leaves others to the host.
func TestMatchesWithoutRegardToCase(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileAs(ctx.Caps(), false)
		for _, parts := range [][]string{{"a", "B", "ab", "[", "`", "z", "Z", "@"}, {"a", "B", "K", "\u212a"}} {
			rng := rand.New(rand.NewPCG(1, 1))
			tab := textTable(t, rng, 70_000, 0, parts)
			for _, p := range []string{"%AB%", "%b_Z%", "%AB%z%", "%[%`%", "%@%zzB%", "%[%", "%k%", "%`%a_"} {
				matchLeaves(t, tab, &expr.Like{Pattern: p, Fold: true}, func(chunk int, leaf *predicate.Match) {
					if err := checkLeaf(g, d, tab, chunk, leaf); err != nil {
						t.Errorf("%q: %v", p, err)
					}
				})
				g.End()
			}
		}
	})
}

// Matches beside other conditions, over chunks that one program goes over together: the counts are the CPU's, and
// the plan names the passes.
func TestQueriesWithMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	tab := textTable(t, rng, 200_000, 50_000, textParts)
	x := &expr.Column{Name: "s", T: tab.Fields[0].Type}
	like := func(pattern string, not bool) expr.Expr {
		return &expr.Like{X: x, Pattern: pattern, Escape: '\\', Not: not}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileAs(ctx.Caps(), false)
		for _, c := range []struct {
			where expr.Expr
			pass  string
		}{
			{like("%ab%", false), "Match(s LIKE '%ab%')"},
			{like("%ab%b_", true), "Match(s NOT LIKE '%ab%b_')"},
			{&expr.Not{X: like("%ab%", false)}, "Match(s NOT LIKE '%ab%')"},
			{&expr.And{Kids: []expr.Expr{like("%a%", false), like("%b%", true)}}, "Match(s NOT LIKE '%b%')"},
			{&expr.Or{Kids: []expr.Expr{like("%12_", false), like("_%é%", false), &expr.IsNull{X: x}}}, "Match(s LIKE '%12_')"},
			{&expr.And{Kids: []expr.Expr{like("%3%", false), &expr.Compare{Op: expr.GE, L: x, R: &expr.Const{V: table.Str("ab")}}}}, "Match(s LIKE '%3%')"},
			{&expr.IsTruth{X: like("%ab%", false), Want: expr.IsUnknown}, ""},
		} {
			q, err := physical.NewQuery(tab, &plan.Fragment{Where: c.where, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, {Kind: expr.Max, Col: 0, Name: "s", Arg: x.T}}})
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(0)
			for i, k := range q.Chunks {
				rows, err := cpu.Selected(k.Pred, tab.Chunks[i])
				if err != nil {
					t.Fatal(err)
				}
				want += uint64(rows.Count())
			}
			s, err := Select(g, d, q)
			if err == nil {
				err = s.Check()
			}
			if err != nil {
				t.Fatalf("%s: %v", c.where, err)
			}
			if n, err := s.Count(); err != nil || n != want {
				t.Errorf("%s: %d rows, %v, not %d", c.where, n, err, want)
			}
			g.End()
			r := &pass.Recorder{}
			if s, err = Select(r, d, q); err == nil {
				err = s.Check()
			}
			if err != nil {
				t.Fatalf("%s: %v", c.where, err)
			}
			found, values := c.pass == "", 0
			for _, p := range r.Plan() {
				found = found || p.String() == c.pass
				if _, ok := p.Op.(Values); ok {
					values++
				}
			}
			if like, ok := c.where.(*expr.Like); ok && values != 1 {
				t.Errorf("%s: %d passes look the codes of %d chunks up", like, values, len(tab.Chunks))
			}
			if !found {
				t.Errorf("%s: no pass is %s: %v", c.where, c.pass, r.Plan())
			}
		}
	})
}
