package debugger

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// mixed has a column of each kind that a literal is compared with.
func mixed(t *testing.T) *table.Table {
	t.Helper()
	fields := []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}},
		{Name: "day", Type: table.Type{Kind: table.Date}}, {Name: "s", Type: table.Type{Kind: table.Varchar}},
		{Name: "price", Type: table.Type{Kind: table.Decimal, Precision: 9, Scale: 2}}}
	b := table.NewBuilder("t", fields, 0)
	for row := range 50 {
		b.Column(0).Int(int64(row - 20))
		b.Column(1).Float(float64(row) / 10)
		b.Column(2).Int(int64(row * 3))
		b.Column(3).String(string(rune('a'+row%20)) + "'")
		b.Column(4).Int(int64(row * 25))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func bound(t *testing.T, tab *table.Table, text string) *physical.Query {
	t.Helper()
	p, err := sql.Plan(tab, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestConstantsAreTheLiteralsComparedWithAnAttribute(t *testing.T) {
	tab := mixed(t)
	axes := func(col int) *axis { return newAxis(tab, col) }
	for _, c := range []struct{ where, want string }{
		{"i > 5", "i > 5"},
		{"5 < i AND NOT (x <= 1.5e0)", "i > 5, x <= 1.5"},
		{"i >-5 OR i = - 7", "i > -5, i = -7"},
		{"i BETWEEN 3 AND +9", "i >= 3, i <= 9"},
		{"x NOT BETWEEN 1 AND 2", "x < 1, x > 2"},
		{"day < DATE '1970-02-01' AND day <> '1970-01-04'", "day < 1970-02-01, day <> 1970-01-04"},
		{"s >= 'd''' AND price < 3.50", "s >= d', price < 3.50"},
		{"2 * i > 5 OR i < x", ""},
		{"i IN (1, 2) OR s IS NULL", ""},
		{"s > E'd'", ""},
		{"i > 2 + 3 AND i < 2 * 5 AND i > 0x1e+1 AND i < (2)-1", ""},
	} {
		text := "SELECT COUNT(*) FROM t WHERE " + c.where
		var got []string
		for _, k := range constants(text, bound(t, tab, text), axes) {
			got = append(got, k.Text+" "+k.Value.String())
		}
		if joined := strings.Join(got, ", "); joined != c.want {
			t.Errorf("%s: constants %q, want %q", c.where, joined, c.want)
		}
	}
}

func TestAChangedConstantIsAStatementWithThatConstant(t *testing.T) {
	tab := mixed(t)
	axes := func(col int) *axis { return newAxis(tab, col) }
	for _, where := range []string{"i > 5 AND i <-5", "i<5", "i > 0x10", "i>1_0", "x < 1e+1", "i < 0xe AND i > 0", "x <= 1.5e0", "day < DATE '1970-02-01'", "s >= 'd'''", "price < 3.50", "i NOT BETWEEN 3 AND 9"} {
		text := "SELECT COUNT(*), MAX(i) FROM t WHERE " + where
		for i, c := range constants(text, bound(t, tab, text), axes) {
			for j, place := range []float64{0, 0.01, 0.33, 0.5, 0.777, 1, 0, 0.01, 0.33, 0.5, 0.777, 1} {
				linear := j < 6
				v := c.axis.at(place, linear)
				changed := c.replaced(text, v)
				again := constants(changed, bound(t, tab, changed), axes)
				if len(again) <= i || c.axis.compare(v, again[i].Value) != 0 || again[i].Text != c.Text {
					t.Fatalf("%s at %v: %s, want %s %v", where, place, changed, c.Text, v)
				}
				if from, to := c.axis.span(again[i].Value, linear); place < from-0.05 || place > to+0.05 {
					t.Errorf("%s: place %v became %v to %v by way of %v", where, place, from, to, v)
				}
			}
		}
	}
}

func TestNudgingMovesByAValueOfTheAttribute(t *testing.T) {
	tab := mixed(t)
	m := newModel("SELECT COUNT(*) FROM t WHERE i > 5")
	learn := func() {
		m.Constants = constants(m.SQL, bound(t, tab, m.SQL), func(col int) *axis { return newAxis(tab, col) })
	}
	learn()
	for _, want := range []string{"6", "7"} {
		if !m.Nudge(1) || !strings.HasSuffix(m.SQL, "> "+want) {
			t.Errorf("nudged to %s, want %s", m.SQL, want)
		}
		learn()
	}
	m.Nudge(1000)
	learn()
	if !strings.HasSuffix(m.SQL, "> 29") || m.Nudge(1) {
		t.Errorf("beyond the largest value: %s", m.SQL)
	}
}

func TestRanksGrowWithTheValue(t *testing.T) {
	tab := flights(t, 3000)
	for _, limb := range []int{whole, 0} {
		k := scale{chunk: tab.Chunks[0], limb: limb}
		ranks := k.places()
		for i := 1; i < len(ranks); i++ {
			if ranks[i] < ranks[i-1] {
				t.Fatalf("entry %d: %v after %v", i, ranks[i], ranks[i-1])
			}
		}
		if ranks[0] != 0 || ranks[len(ranks)-1] != 1 || len(ranks) != int(k.top())+1 {
			t.Errorf("%d ranks from %v to %v", len(ranks), ranks[0], ranks[len(ranks)-1])
		}
	}
}

func TestTheLayoutHasRoomForEverything(t *testing.T) {
	for _, size := range [][2]int{{MinWidth, MinHeight}, {DefaultWidth, DefaultHeight}, {900, 1600}, {1600, 600}, {2560, 1440}} {
		for constants := range 7 {
			l := newLayout(size[0], size[1], constants, constants%2 == 0)
			all := append(append(l.panes[:], l.lines...), l.head, l.list, l.state, l.field, l.record, l.help)
			if !l.found.Empty() {
				all = append(all, l.found)
			}
			for i, a := range all {
				if a.Empty() || a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > size[0] || a.Max.Y > size[1] {
					t.Errorf("%v with %d constants: part %d at %v", size, constants, i, a)
				}
				for j, b := range all[:i] {
					if a.Overlaps(b) {
						t.Errorf("%v with %d constants: parts %d and %d overlap: %v, %v", size, constants, j, i, b, a)
					}
				}
			}
			for _, p := range l.panes {
				if r := picture(p, 512, 512); r.Dx() < 100 || !r.In(p) {
					t.Errorf("%v: a picture of %v in %v", size, r, p)
				}
			}
		}
	}
}
