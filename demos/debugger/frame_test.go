package debugger

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
	"github.com/stencildb/stencildb/trace"
)

// looks is a frame with where each record of its panes is.
type looks struct {
	*image.RGBA
	layout layout
	shape  textures.Shape
}

func look(t *testing.T, d *Demo) looks {
	t.Helper()
	return looks{d.view.shown.RGBA, d.layout(), textures.ViewOf(d.scene.chunk.Rows)}
}

// record is the colour of a record in a pane, at the middle of its texel.
func (l looks) record(pane, row int) color.RGBA {
	at := l.place(pane, row)
	return l.RGBAAt(at.X, at.Y)
}

func (l looks) place(pane, row int) image.Point {
	r := picture(l.layout.panes[pane], l.shape.Width, l.shape.Height)
	x, y := row%l.shape.Width, row/l.shape.Width
	return image.Pt(r.Min.X+(2*x+1)*r.Dx()/(2*l.shape.Width), r.Min.Y+(2*y+1)*r.Dy()/(2*l.shape.Height))
}

// near reports whether two colours are the same but for rounding.
func near(a, b color.RGBA) bool {
	far := func(x, y uint8) bool { return math.Abs(float64(x)-float64(y)) > 4 }
	return !far(a.R, b.R) && !far(a.G, b.G) && !far(a.B, b.B)
}

// rows are those of the small table, but for the first line, behind the frame's hairs.
const rows = 3000

func TestTheResultIsTheSelectionOfTheSpecification(t *testing.T) {
	tab := flights(t, rows)
	for i, where := range []string{
		"delay > 15 AND (distance < 700 OR delay > 120)", // EvalCNF
		"(delay > 30 AND distance < 500) OR (delay < -10 AND distance > 900)",
		"distance BETWEEN 400 AND 800",
		"2 * delay > distance - 400 AND time >= 2.5", // semi-linear, and a code of two limbs
	} {
		aggregates := []string{"COUNT(*)", "MEDIAN(delay), SUM(distance)", "MAX(distance)", "SUM(delay)"}
		for j := range 2 {
			showsTheSelection(t, tab, "SELECT "+aggregates[(i*j+j)%4]+" FROM flights WHERE "+where)
		}
	}
}

func showsTheSelection(t *testing.T, tab *table.Table, sql string) {
	t.Helper()
	d := open(t, tab, sql)
	d.goes(t, d.Last())
	l, selection := look(t, d), d.scene.plan.Chunks[0].Pred
	if want := countOf(t, d.scene.plan, tab); fmt.Sprint(d.scene.passing) != want {
		t.Errorf("%s: %d selected, want %s", sql, d.scene.passing, want)
	}
	holds := chosen(t, selection, tab)
	for row := range rows {
		want := unchosen
		if holds.Get(row) {
			want = selected
		}
		if got := l.record(resultPane, row); !near(got, want) {
			t.Fatalf("%s: record %d is %v, want %v", sql, row, got, want)
		}
	}
}

func TestPanesShowWhatThePassesLeave(t *testing.T) {
	tab := flights(t, rows)
	d := open(t, tab, cnf)
	delay, distance := tab.Chunks[0].Segments[0], tab.Chunks[0].Segments[1]
	codes := palette()
	// After Compare(delay > 15): the clause's records have moved from 1 to 2.
	d.goes(t, 2)
	l := look(t, d)
	ranks := scale{chunk: tab.Chunks[0], limb: whole}.places()
	for row := range rows {
		rank := int(ranks[delay.Codes.At(row)]*255 + 0.5)
		passes, stencil, line := delay.Value(row).I > 15, draw.Light.Stencil(1), valueLine
		if passes {
			stencil, line = draw.Light.Stencil(2), passLine
		}
		of := func(line int) color.RGBA {
			at := 4 * (256*line + rank)
			return color.RGBA{codes[at], codes[at+1], codes[at+2], 255}
		}
		for pane, want := range []color.RGBA{of(valueLine), of(line), stencil} {
			if got := l.record(pane, row); !near(got, want) {
				t.Fatalf("record %d (delay %v), pane %d: %v, want %v", row, delay.Value(row), pane, got, want)
			}
		}
	}
	// After Compare(distance < 700), among those: from 2 to 1.
	d.goes(t, 5)
	l = look(t, d)
	for row := range rows {
		want := draw.Light.Stencil(0)
		if delay.Value(row).I > 15 {
			want = draw.Light.Stencil(2)
			if distance.Value(row).I < 700 {
				want = draw.Light.Stencil(1)
			}
		}
		if got := l.record(stencilPane, row); !near(got, want) {
			t.Fatalf("record %d: stencil %v, want %v", row, got, want)
		}
	}
}

func TestSteppingShowsWhatJumpingShows(t *testing.T) {
	for _, sql := range []string{cnf, "SELECT MEDIAN(delay) FROM flights WHERE distance > 500"} {
		d := open(t, flights(t, rows), sql)
		for step := range d.Last() + 1 {
			d.goes(t, step)
			walked, entries := look(t, d), d.Passes
			d.scene = nil
			d.goes(t, step)
			if !bytes.Equal(walked.Pix, look(t, d).Pix) || len(entries) != len(d.Passes) {
				t.Errorf("%s: step %d differs when it is jumped to", sql, step)
			}
		}
	}
}

func TestAnEvictedBufferIsMadeAgain(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	d.goes(t, 5)
	d.goes(t, 6)
	want := look(t, d)
	d.goes(t, 5)
	for _, c := range d.scene.targets {
		evicted := *c.Target
		c.Target = &evicted
	}
	d.goes(t, 6)
	if !bytes.Equal(want.Pix, look(t, d).Pix) {
		t.Error("the step after differs")
	}
}

// What is said of the order is asked of the table that the statement reads, at each frame.
func TestTheOrderIsThatOfTheTableRead(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	if got := (&frame{demo: d, scene: d.scene}).order(); got != "" {
		t.Errorf("%q", got)
	}
	d.options.Order = func(read *table.Table) string { return "sorted " + read.Name }
	if got := (&frame{demo: d, scene: d.scene}).order(); got != "sorted flights" {
		t.Errorf("%q", got)
	}
	d.draws(t)
}

func TestATexelIsReadBackAsTheRecordItHolds(t *testing.T) {
	readsBack(t, []int{0, 1, 64, 1999}, rows)
	readsBack(t, []int{0, 15, 16, 31, 32, 40}, 300) // 32 texels to a line, of which the panes make two
}

// readsBack checks some of so many records, and the last one.
func readsBack(t *testing.T, some []int, rows int) {
	t.Helper()
	tab := flights(t, rows)
	d := open(t, tab, cnf)
	d.goes(t, 5)
	l := look(t, d)
	for _, row := range append(some, rows-1) {
		f := &frame{view: d.view, scene: d.scene, layout: l.layout, demo: d}
		if got, ok := f.rowAt(l.place(depthPane, row)); !ok || got != row {
			t.Errorf("record %d is found as %d (%v)", row, got, ok)
		}
		var have texel
		err := d.gl.Do(context.Background(), func() error {
			texels := textures.ShapeOf(rows)
			have = d.scene.texel(row%texels.Width, row/texels.Width)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		distance, delay := tab.Chunks[0].Segments[1], tab.Chunks[0].Segments[0].Value(row).I
		if code := math.Round(float64(have.depth) * (1 << 24)); code != float64(distance.Codes.At(row)) {
			t.Errorf("record %d: depth %v / 2^24, want %d", row, code, distance.Codes.At(row))
		}
		want := texel{depth: have.depth}
		if delay > 15 {
			want.stencil = 2
			if distance.Value(row).I < 700 {
				want.stencil, want.passes = 1, 1
			}
		}
		if have != want {
			t.Errorf("record %d: %+v, want %+v", row, have, want)
		}
		passes := unchosen
		if want.passes > 0 {
			passes = selected
		}
		if got := l.record(resultPane, row); !near(got, passes) {
			t.Errorf("record %d is %v, want %v", row, got, passes)
		}
		if got := l.record(stencilPane, row); row >= l.shape.Width && !near(got, draw.Light.Stencil(uint8(want.stencil))) { // the first line lies behind the frame's hairs
			t.Errorf("record %d has the stencil value of %v, want %d", row, got, want.stencil)
		}
		d.mouse = l.place(stencilPane, row)
		d.draws(t)
	}
}

func TestDraggingANumberLineSweepsTheSelection(t *testing.T) {
	tab := flights(t, rows)
	d := open(t, tab, cnf)
	d.goes(t, 2)
	line := bar(d.layout().lines[0])
	d.Handle(glctx.Event{Kind: glctx.MousePressed, X: float64(line.Min.X), Y: float64(line.Min.Y + 5)})
	for i := range 8 {
		d.Handle(glctx.Event{Kind: glctx.MouseMoved, X: float64(line.Min.X + i*line.Dx()/16), Y: 0})
		d.draws(t)
		value := d.Constants[0].Value.I
		want := uint64(0)
		for row := range rows {
			if tab.Chunks[0].Segments[0].Value(row).I > value {
				want++
			}
		}
		if d.scene.passing != want || d.Step != 2 {
			t.Fatalf("%s: %d records pass at step %d, want %d", d.SQL, d.scene.passing, d.Step, want)
		}
	}
	if d.Executed != d.Step {
		t.Error("the passes that follow are taken for known")
	}
	d.Handle(glctx.Event{Kind: glctx.MouseReleased})
	d.draws(t)
	if d.foundOf != d.SQL || !strings.Contains(d.Passes[1].Pass.String(), d.Constants[0].Value.String()) {
		t.Errorf("after the release: %v", d.Passes)
	}
	d.goes(t, d.Last())
	if want := countOf(t, d.scene.plan, tab); d.Answer != "count = "+want {
		t.Errorf("%s: %s, want %s", d.SQL, d.Answer, want)
	}
}

// While a constant is held, every pass has its own constant: those that are still to come, too.
// Of a search the routine is known.
func TestPassesKeepTheirConstantsWhileOneIsDragged(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT MEDIAN(distance) FROM flights WHERE distance > 700 AND delay <= 14 AND delay >= -20")
	d.goes(t, 1)
	before := len(d.Passes)
	d.Choose(1)
	d.held = constantGrip
	if !d.Set(0.8) {
		t.Fatal("the constant did not move")
	}
	d.goes(t, 1)
	list := map[string]int{}
	for i := range d.Passes {
		list[d.name(i+1)]++
	}
	want := map[string]int{"CopyToDepth(distance)": 2, "Compare(distance > 700)": 1, "CopyToDepth(delay)": 1,
		"EvalCNF: drop records that fail clause 1": 1, "Compare(delay >= -20)": 1, "EvalCNF: drop records that fail clause 2": 1,
		fmt.Sprintf("Compare(delay <= %v)", d.Constants[1].Value): 1, "EvalCNF: drop records that fail clause 3": 1, "KthSmallest": 12}
	if diff := cmp.Diff(want, list); diff != "" || len(d.Passes) != before || d.Executed != 1 {
		t.Errorf("%s, %d executed: %s", d.SQL, d.Executed, diff)
	}
}

// Page down shows what the same pass has done in the next chunk.
func TestPagesShowTheirChunk(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 500)
	for i := range int64(1400) {
		b.Column(0).Value(table.Int(i * 7 % 1000))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	d := open(t, tab, "SELECT COUNT(*) FROM t WHERE a < 600")
	d.goes(t, 2)
	for chunk, key := range []string{"pagedown", "pagedown", "pageup"} {
		d.draws(t)
		c := tab.Chunks[chunk]
		want := uint64(0)
		for row := range c.Rows {
			if c.Segments[0].Value(row).I < 600 {
				want++
			}
		}
		if d.scene.chunk != c || d.scene.passing != want || !strings.HasSuffix(d.Title(), fmt.Sprintf("chunk %d of 3", chunk+1)) {
			t.Errorf("%s: %d records pass, want %d", d.Title(), d.scene.passing, want)
		}
		d.Handle(glctx.Event{Kind: glctx.KeyPressed, Key: key})
	}
	if d.chunk() != 1 {
		t.Errorf("page up from the last chunk goes to %s", d.Title())
	}
}

// chosen are the records of the first chunk that satisfy a predicate.
func chosen(t *testing.T, p *predicate.Pred, tab *table.Table) table.Bitmap {
	t.Helper()
	b, err := cpu.Selected(p, tab.Chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func countOf(t *testing.T, q *physical.Query, tab *table.Table) string {
	t.Helper()
	return table.Int(int64(chosen(t, q.Chunks[0].Pred, tab).Count())).String()
}

// At the end of the line nothing is left to search in: the line stays under the mouse.
func TestDraggingBeyondTheEndKeepsTheLayout(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT MEDIAN(delay) FROM flights WHERE distance > 500 AND delay < 100")
	d.goes(t, d.Last())
	line := d.layout().lines[0]
	d.Handle(glctx.Event{Kind: glctx.MousePressed, X: float64(line.Min.X + 5), Y: float64(line.Min.Y + 30)})
	for i := range 5 {
		d.Handle(glctx.Event{Kind: glctx.MouseMoved, X: float64(line.Max.X + 10*i), Y: float64(line.Min.Y + 30)})
		d.draws(t)
		if got := d.layout().lines[0]; got != line {
			t.Fatalf("the line has moved from %v to %v", line, got)
		}
		if at, _ := d.Constants[0].place(false); at != 1 {
			t.Fatalf("the constant is at %v: %s", at, d.SQL)
		}
	}
	d.Handle(glctx.Event{Kind: glctx.MouseReleased})
	d.draws(t)
	if got := d.layout().lines[0]; got == line {
		t.Error("the search still has a line, though there is none")
	}
}

func TestAConstantThatNothingOrEverythingSatisfiesIsShown(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT COUNT(*) FROM flights WHERE delay > 15")
	d.goes(t, d.Last())
	for _, place := range []float64{1, 0, 0.5, 1} {
		d.Set(place)
		d.draws(t)
	}
	if d.Answer != "count = 0" || len(d.Passes) != 0 {
		t.Errorf("%s gives %s in %d passes", d.SQL, d.Answer, len(d.Passes))
	}
	d.goes(t, 0)
}

func TestTheQuadCutsTheHeightFieldAtItsDepth(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	orange := func() (n int) {
		l := look(t, d)
		box := l.layout.field
		box.Min.Y += headHigh
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				if c := l.RGBAAt(x, y); int(c.R)-int(c.B) > 40 {
					n++
				}
			}
		}
		return n
	}
	d.goes(t, 1)
	if n := orange(); n > 0 {
		t.Errorf("a copy draws no quad, %d pixels are like one", n)
	}
	d.goes(t, 2)
	if n := orange(); n < 800 {
		t.Errorf("%d pixels of the quad", n)
	}
	l := d.layout()
	flat := d.view.camera.project(l.field, mgl32.Vec3{0, 0.2, 0})
	if !near2(flat, image.Pt((l.field.Min.X+l.field.Max.X)/2, (l.field.Min.Y+l.field.Max.Y)/2)) {
		t.Errorf("the middle of the field appears at %v of %v", flat, l.field)
	}
	before := look(t, d)
	at := glctx.Event{Kind: glctx.MousePressed, X: float64(l.field.Min.X + 50), Y: float64(l.field.Min.Y + 50)}
	d.Handle(at)
	at.Kind, at.X = glctx.MouseMoved, at.X+40
	d.Handle(at)
	d.draws(t)
	if bytes.Equal(before.Pix, look(t, d).Pix) {
		t.Error("the camera has not turned")
	}
}

func near2(a, b image.Point) bool { return a.Sub(b).In(image.Rect(-2, -2, 3, 3)) }

func TestSearchesAndSumsAreThoseOfATrace(t *testing.T) {
	const sql = "SELECT MEDIAN(delay), SUM(distance) FROM flights WHERE distance > 500"
	d := open(t, flights(t, rows), sql)
	tr, err := trace.Run(context.Background(), d.db, sql, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hidden := cmpopts.IgnoreUnexported(trace.Search{}, trace.Step{}, trace.Sum{}, trace.Reach{}, trace.Decision{})
	for _, s := range d.found.Searches { // made when a step is shown
		for i := range s.Steps {
			s.Steps[i].Decision = s.Decision(i)
		}
	}
	if len(tr.Searches) != 1 || len(tr.Sums) != 1 {
		t.Fatalf("a trace of %d searches and %d sums", len(tr.Searches), len(tr.Sums))
	}
	if diff := cmp.Diff(tr.Searches, d.found.Searches, hidden) + cmp.Diff(tr.Sums, d.found.Sums, hidden); diff != "" {
		t.Error(diff)
	}
	blank := func() []uint8 {
		l := look(t, d)
		return l.SubImage(l.layout.found).(*image.RGBA).Pix[:4*(l.layout.found.Dy()-1)*l.Rect.Dx()]
	}
	d.goes(t, 5)
	first := blank()
	d.goes(t, len(d.Passes))
	if bytes.Equal(first, blank()) {
		t.Error("the number line does not grow")
	}
}

func TestKeysAndClicks(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	press := func(keys ...string) {
		for _, k := range keys {
			if d.Handle(glctx.Event{Kind: glctx.KeyPressed, Key: k}) {
				t.Fatalf("%s leaves", k)
			}
			d.draws(t)
		}
	}
	press("right", "right", "left")
	if d.Step != 1 {
		t.Errorf("at step %d", d.Step)
	}
	press("tab", "up", "l", "a", "a", "a", "+", "space", "end", "home")
	if d.Active != 1 || d.Constants[1].Value.I != 701 || !d.Linear || d.Attribute != -1 || d.Speed != 2*defaultSpeed || d.Step != 0 || d.Running {
		t.Errorf("%+v", d.Model)
	}
	l := d.layout()
	d.Handle(glctx.Event{Kind: glctx.MousePressed, X: float64(l.list.Min.X + 20), Y: float64(l.list.Min.Y + rowHigh + 4 + 3*rowHigh + 5)})
	if d.Step != 3 {
		t.Errorf("a click on the third pass went to step %d", d.Step)
	}
	if !d.Handle(glctx.Event{Kind: glctx.KeyPressed, Key: "escape"}) {
		t.Error("escape does not leave")
	}
}

// The list shows the current step whole, each step once and in order, and no name is cut that has
// room in three lines.
func TestTheListOfPasses(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT SUM(distance), MEDIAN(delay) FROM flights WHERE delay > 15 AND distance < 700 OR distance > 2000 AND delay < 3")
	for _, high := range []int{600, 801, 2000} {
		d.Resize(1000, high)
		r := d.layout().list
		for step := range d.Last() + 1 {
			d.goes(t, step)
			list := d.listing(r)
			whole, y := false, r.Min.Y
			for i, row := range list {
				whole = whole || row.step == step && row.Max.Y <= r.Max.Y-rowHigh
				if row.step != list[0].step+i || row.Min.Y < y || row.Min.X != r.Min.X || row.Max.X != r.Max.X {
					t.Fatalf("height %d, step %d: row %d is step %d at %v", high, step, i, row.step, row.Rectangle)
				}
				y = row.Max.Y
				if said := strings.Join(row.lines, " "); row.step > 0 && row.step < d.Last() && said != d.name(row.step) {
					t.Errorf("%q is shown as %q", d.name(row.step), said)
				}
			}
			if last := list[len(list)-1].step; !whole || last < d.Last() && y < r.Max.Y-4*rowHigh || last == d.Last() && list[0].step > 0 && y < r.Max.Y-6*rowHigh {
				t.Errorf("height %d, step %d: steps %d to %d down to %d of %d, the current one among them: %v", high, step, list[0].step, last, y, r.Max.Y, whole)
			}
		}
	}
}

// Where the desktop's text is larger, a frame has fewer pixels than the window, and the mouse is
// where it is seen.
func TestTextScalesWithTheDesktop(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	for _, c := range []struct {
		w, h  int
		scale float64
		want  image.Point
	}{{2560, 1600, 2, image.Pt(1280, 800)}, {1500, 1200, 1.5, image.Pt(1000, 800)}, {1200, 1200, 3, image.Pt(900, 900)},
		{1000, 700, 0.5, image.Pt(1000, 700)}, {400, 300, 2, image.Pt(400, 300)}} {
		d.ResizeTo(c.w, c.h, c.scale)
		d.draws(t)
		if size := d.view.shown.Rect.Size(); size != c.want {
			t.Errorf("%d x %d, scale %v: a frame of %v, want %v", c.w, c.h, c.scale, size, c.want)
		}
	}
	d.ResizeTo(2560, 1600, 2)
	l := d.layout()
	d.Handle(glctx.Event{Kind: glctx.MousePressed, X: 2 * float64(l.list.Min.X+20), Y: 2 * float64(l.list.Min.Y+rowHigh+4+3*rowHigh+5)})
	if d.Step != 3 {
		t.Errorf("a click on the third pass went to step %d", d.Step)
	}
}

func TestFramesOfAllSizes(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT SUM(distance), MEDIAN(delay) FROM flights WHERE distance > 500")
	d.goes(t, 8)
	for _, size := range [][2]int{{MinWidth, MinHeight}, {900, 1400}, {1600, 700}, {100, 50}} {
		d.Resize(size[0], size[1])
		d.draws(t)
		img := d.view.shown.RGBA
		if img.Rect.Dx() != size[0] || img.Rect.Dy() != size[1] {
			t.Errorf("%v: a frame of %v", size, img.Rect)
		}
		dark := 0
		for i := 0; i < len(img.Pix); i += 4 {
			if img.Pix[i] < 100 {
				dark++
			}
		}
		if dark == 0 {
			t.Errorf("%v: nothing is written", size)
		}
	}
}

func TestWhatCannotBeShown(t *testing.T) {
	gpu, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer gpu.Close()
	db := database(t, "classic", flights(t, 100))
	defer db.Close()
	many := "SELECT COUNT(*) FROM flights WHERE delay > 0"
	for i := range 300 {
		many += " OR 2 * delay + distance = " + table.Int(int64(i)).String()
	}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{SQL: "SELECT COUNT(*) FROM flights"}, "without a pass"},
		{Options{SQL: many}, "--max-passes"},
		{Options{SQL: cnf, MaxPasses: 3}, "more than 3 passes"},
		{Options{SQL: "SELECT nonsense FROM flights"}, "nonsense"},
	} {
		if _, err := Open(context.Background(), gpu, db, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: error %v, want %q", c.options.SQL, err, c.want)
		}
	}
	cpu := database(t, "cpu", flights(t, 100))
	defer cpu.Close()
	if _, err := Open(context.Background(), gpu, cpu, Options{SQL: cnf}); err == nil || !strings.Contains(err.Error(), "backend classic") {
		t.Errorf("backend cpu: %v", err)
	}
}

// TestTheAnswerWaitsForALongStatement drags a constant of a statement that is too slow to follow. The
// selection follows, and the answer comes when the constant is let go.
func TestTheAnswerWaitsForALongStatement(t *testing.T) {
	tab := flights(t, rows)
	for sql, selecting := range map[string]int{
		"SELECT MEDIAN(distance) FROM flights WHERE delay > 15":                        2,
		"SELECT SUM(distance) FROM flights WHERE delay > 15":                           2,
		"SELECT MAX(delay) FROM flights WHERE delay > 15 AND distance < 700":           5,
		"SELECT COUNT(*), SUM(delay) FROM flights WHERE delay > 15 AND distance < 700": 5,
	} {
		d := open(t, tab, sql)
		caps := *d.gl.Caps()
		d.gl.Caps().Software, d.work = true, 0
		d.goes(t, d.Last())
		d.held = constantGrip
		if !d.Set(0.2) {
			t.Fatal("the constant did not move")
		}
		d.goes(t, d.Last())
		if d.Answer != "" || d.Executed != selecting || !d.AtAnswer() {
			t.Errorf("%s, held: answer %q after %d passes, at the answer: %v", d.SQL, d.Answer, d.Executed, d.AtAnswer())
		}
		want := uint64(chosen(t, d.scene.plan.Chunks[0].Pred, tab).Count())
		if d.scene.passing != want {
			t.Errorf("%s, held: %d records pass, want %d", d.SQL, d.scene.passing, want)
		}
		d.held = nothing
		d.goes(t, d.Last())
		r, err := engine.Collect(d.db.Query(t.Context(), d.SQL))
		if err != nil {
			t.Fatal(err)
		}
		last := len(r.Columns) - 1
		if want := r.Columns[last].Name + " = " + r.Rows[0][last].String(); !strings.HasSuffix(d.Answer, want) || d.Executed != len(d.Passes) {
			t.Errorf("%s, let go: answer %q, want %q, after %d of %d passes", d.SQL, d.Answer, want, d.Executed, len(d.Passes))
		}
		*d.gl.Caps() = caps
	}
}

// TestTheAnswerAfterTheLastPass comes to the answer step by step, which executes no
// pass again, and directly.
func TestTheAnswerAfterTheLastPass(t *testing.T) {
	tab := flights(t, rows)
	for _, sql := range []string{cnf, "SELECT MEDIAN(distance), SUM(delay) FROM flights WHERE delay > 15 AND distance < 700",
		"SELECT MAX(delay) FROM flights"} {
		d := open(t, tab, sql)
		for step := range d.Last() + 1 {
			d.goes(t, step)
		}
		stepped, answer := look(t, d), d.Answer
		d.goes(t, 1)
		d.goes(t, d.Last())
		direct := look(t, d)
		if answer == "" || answer != d.Answer {
			t.Errorf("%s: %q step by step, %q directly", sql, answer, d.Answer)
		}
		if !bytes.Equal(stepped.Pix, direct.Pix) {
			t.Errorf("%s: the frames of the answer differ", sql)
		}
	}
}
