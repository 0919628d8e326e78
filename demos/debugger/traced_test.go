package debugger

import (
	"image"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

const median = "SELECT MEDIAN(delay) FROM flights WHERE distance > 700"

// answered is the answer of a statement as the debugger writes it.
func answered(t *testing.T, d *Demo) string {
	t.Helper()
	r, err := engine.Collect(d.db.Query(t.Context(), d.SQL))
	if err != nil {
		t.Fatal(err)
	}
	return r.Columns[0].Name + " = " + r.Rows[0][0].String()
}

// inside draws the pictures of the step at hand and reports what is wrong with them. A cell may have
// another colour, and a picture may be beyond the panes or upon another one.
func inside(t *testing.T, d *Demo) {
	t.Helper()
	l := d.layout()
	room := l.panes[attributePane].Union(l.panes[resultPane])
	list := d.pictures(l)
	for i, s := range list {
		if !s.r.In(s.at) || !s.at.In(room) {
			t.Errorf("step %d: %s lies at %v of %v, of %v", d.Step, s.Title, s.r, s.at, room)
		}
		for _, other := range list[:i] {
			if s.at.Overlaps(other.at) {
				t.Errorf("step %d: %s lies upon %s", d.Step, s.Title, other.Title)
			}
		}
		for y := s.r.Min.Y + 1; y < s.r.Max.Y-1; y += 7 { // within the frame
			for x := s.r.Min.X + 1; x < s.r.Max.X-1; x += 5 {
				row, ok := s.cells.Row((x-s.r.Min.X)*s.cells.Cols/s.r.Dx(), (y-s.r.Min.Y)*s.cells.Lines/s.r.Dy())
				if !ok || s.cells.Cells == nil {
					continue
				}
				if got, want := d.view.shown.RGBAAt(x, y), s.colour(s.cells.Cells[s.cells.CellOf(row)]); got != want {
					t.Fatalf("step %d: %s at (%d, %d): %v, want %v", d.Step, s.Title, x, y, got, want)
				}
			}
		}
	}
	if (len(list) > 0) != (d.Step > 0) {
		t.Errorf("step %d: %d pictures", d.Step, len(list))
	}
}

func TestOtherBackendsAreShownByTheirTraces(t *testing.T) {
	chunked := table.NewBuilder("flights", []table.Field{{Name: "delay", Type: table.Type{Kind: table.Integer}}, {Name: "distance", Type: table.Type{Kind: table.Integer}}}, 1000)
	for i := range int64(3000) {
		chunked.Column(0).Int(i * i % 701)
		chunked.Column(1).Int(i % 1500)
		if err := chunked.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tab := range []*table.Table{flights(t, rows), chunked.Table()} {
		for _, backend := range []string{"fused", "compute"} {
			for _, sql := range []string{median, cnf, "SELECT SUM(delay) FROM flights WHERE distance BETWEEN 300 AND 900"} {
				d := openWith(t, backend, tab, sql)
				for step := range d.Last() + 1 {
					d.goes(t, step)
					inside(t, d)
					if step > 0 && !d.AtAnswer() && d.scene.chunk != tab.Chunks[d.Passes[step-1].Pass.Chunk] {
						t.Errorf("%s: %s: step %d shows another chunk than that of its pass", backend, sql, step)
					}
				}
				if want := answered(t, d); d.Answer != want {
					t.Errorf("%s: %s: answer %q, want %q", backend, sql, d.Answer, want)
				}
				selects := d.pictures(d.layout())[0]
				if want := chosen(t, d.scene.plan.Chunks[d.chunk()].Pred, &table.Table{Name: tab.Name, Fields: tab.Fields, Chunks: tab.Chunks[d.chunk():][:1]}).Count(); selects.Total != want {
					t.Errorf("%s: %s: %d records selected in the picture, want %d", backend, sql, selects.Total, want)
				}
			}
		}
	}
}

// Rows and groups are answers of several rows.
func TestRowsAndGroupsAreShown(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT delay, distance FROM flights WHERE distance > 300 ORDER BY delay LIMIT 5":                   "5 rows",
		"SELECT delay, COUNT(*) FROM flights WHERE distance > 300 AND delay BETWEEN 1 AND 3 GROUP BY delay": "3 rows",
	} {
		d := openWith(t, "compute", flights(t, rows), sql)
		for step := range d.Last() + 1 {
			d.goes(t, step)
		}
		if d.Answer != want {
			t.Errorf("%s: answer %q, want %q", sql, d.Answer, want)
		}
	}
}

// The bit planes that a picture shows of a record are those of its code.
func TestTheRecordUnderTheMouseHasTheBitsOfItsCode(t *testing.T) {
	d := openWith(t, "compute", flights(t, rows), median)
	for step := 1; step < d.Last(); step++ {
		d.goes(t, step)
		for _, s := range d.pictures(d.layout()) {
			if s.Plane == "" {
				continue
			}
			for _, by := range []image.Point{{3, 4}, {20, 9}, {31, 27}} {
				at := s.r.Min.Add(by)
				row, ok := d.pointed(at)
				if !ok {
					t.Fatalf("step %d: no record at %v of %s", step, by, s.Title)
				}
				col := 0
				for d.scene.plan.Table.Field(col).Name != s.Plane {
					col++
				}
				if got, want := s.cells.Cells[s.cells.CellOf(row)].Number, d.scene.chunk.Segments[col].Codes.At(row)>>s.Bit&1; got != float64(want) {
					t.Errorf("step %d: %s of row %d is %v, want %d", step, s.Title, row, got, want)
				}
			}
		}
	}
}

// What takes longer than a frame waits until a constant is let go; the rest follows it.
func TestATraceFollowsAConstant(t *testing.T) {
	for _, work := range []int{0, traceWork} {
		d := openWith(t, "compute", flights(t, rows), median)
		d.work = work
		d.goes(t, 2)
		before, from := d.SQL, d.Constants[0].Value
		d.held = constantGrip
		if !d.Set(0.9) {
			t.Fatal("the constant did not move")
		}
		d.draws(t)
		if waits := d.Answer == ""; waits != (work == 0) || waits != (d.Executed == 0) || waits != d.stale() {
			t.Errorf("work %d: answer %q and %d passes executed while a constant is held", work, d.Answer, d.Executed)
		}
		if !strings.Contains(d.SQL, d.Constants[0].Value.String()) || d.SQL == before {
			t.Errorf("the statement is %s", d.SQL)
		}
		d.held = nothing
		d.draws(t)
		if want := answered(t, d); d.Answer != want || d.stale() {
			t.Errorf("work %d: answer %q once the constant is let go, want %q", work, d.Answer, want)
		}
		d.held = constantGrip
		d.put(table.Int(3))
		d.draws(t)
		d.put(from) // where it was
		d.held = nothing
		d.draws(t)
		if want := answered(t, d); d.SQL != before || d.Answer != want || d.Executed != len(d.Passes) {
			t.Errorf("work %d: %s: answer %q, want %q", work, d.SQL, d.Answer, want)
		}
	}
}
