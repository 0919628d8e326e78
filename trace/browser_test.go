package trace

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/table"
)

// chromium finds the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium to open the page in: install it (Debian: apt-get install chromium)")
	return ""
}

// browser is a page open in a headless Chromium.
type browser struct {
	*testing.T
	ctx context.Context

	mu   sync.Mutex
	said []string // errors, and what was fetched from elsewhere
}

// livesOn leaves out what chromedp asks of Linux: to kill the browser when the thread that started it
// ends. A thread that served an OpenGL context for a while does end.
func livesOn(*exec.Cmd) {}

func browse(t *testing.T) *browser {
	t.Helper()
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.WindowSize(1300, 1000),
		chromedp.WSURLReadTimeout(time.Minute), chromedp.ModifyCmdFunc(livesOn))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(cdplog.Enable(), runtime.Enable(), network.Enable())
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprintf("console.%s", e.Type))
	case *cdplog.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") {
			b.said = append(b.said, "fetched "+e.Request.URL)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open writes a trace's page to disk and opens it there.
func (b *browser) open(tr *Trace, hash string) {
	b.Helper()
	b.navigate(hash, tr.WriteHTML)
	b.run(chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
}

// navigate opens what is written.
func (b *browser) navigate(hash string, write func(io.Writer) error) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "trace.html")
	if err := files.Write(path, write); err != nil {
		b.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + path + hash))
}

// eval runs JavaScript.
func eval[T any](b *browser, script string) (v T) {
	b.Helper()
	b.run(chromedp.Evaluate(script, &v))
	return v
}

func (b *browser) text(id string) string {
	return eval[string](b, "document.getElementById('"+id+"').innerText")
}

// shows checks which pass is shown: its name, its place on the slider, in the list and
// in the address.
func (b *browser) shows(tr *Trace, n int) {
	b.Helper()
	want := []string{tr.Passes[n-1].Name, fmt.Sprint(n), fmt.Sprintf("#pass-%d", n), fmt.Sprintf("pass %d of %d", n, len(tr.Passes))}
	var got []string
	if !b.soon(func() bool {
		got = eval[[]string](b, `[document.getElementById('name').textContent, document.getElementById('slider').value,
			document.querySelector('#list a[aria-current]').getAttribute('href'), document.getElementById('where').textContent]`)
		return slices.Equal(got, want)
	}) {
		b.Errorf("shown is %q, want %q", got, want)
	}
}

// soon reports whether f becomes true. The browser reacts to a click when it has time, and tells the
// page of a new address in a task of its own.
func (b *browser) soon(f func() bool) bool {
	b.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if f() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// over moves the pointer to a cell of a picture.
func (b *browser) over(tr *Trace, title string, cell int) (x, y float64) {
	b.Helper()
	g := tr.Grids[0]
	at := eval[[]float64](b, fmt.Sprintf(`(() => {
		const c = [...document.querySelectorAll('#panels figure')].find(f => f.panel.title === %q).querySelector('canvas');
		c.scrollIntoView({ block: 'center' });
		const r = c.getBoundingClientRect(), at = placeOf(trace.grids[0], %d);
		return [r.left + (at %% %d + 0.5) / %d * r.width, r.top + (Math.floor(at / %d) + 0.5) / %d * r.height];
	})()`, title, cell, g.Cols, g.Cols, g.Cols, g.Lines))
	b.run(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	return at[0], at[1]
}

// quiet checks that the browser had nothing to say.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		b.Errorf("the browser says %q", b.said)
	}
}

// tells checks the footer about the record under the pointer.
func (b *browser) tells(want ...string) {
	b.Helper()
	for _, w := range want {
		if text := ""; !b.soon(func() bool { text = b.text("record"); return strings.Contains(text, w) }) {
			b.Errorf("the record is %q, want it to say %q", text, w)
		}
	}
}

func TestThePageInABrowser(t *testing.T) {
	tab := small()
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, tab), "SELECT COUNT(*), MAX(b) FROM t WHERE (a > 10 OR b < 20) AND (a < 300 OR b > 50) AND s <> '</script>'")
	b := browse(t)
	b.open(tr, "#pass-4")
	b.shows(tr, 4)
	if got := b.text("sql"); got != tr.SQL {
		t.Errorf("the statement is shown as %q", got)
	}
	if got := eval[int](b, "document.querySelectorAll('#list li').length"); got != len(tr.Passes) {
		t.Errorf("%d passes are listed, there are %d", got, len(tr.Passes))
	}

	for _, step := range []struct {
		key  string
		pass int
	}{{kb.Home, 1}, {kb.ArrowLeft, 1}, {kb.ArrowRight, 2}, {kb.ArrowDown, 3}, {kb.ArrowUp, 2}, {kb.End, len(tr.Passes)}, {kb.ArrowRight, len(tr.Passes)}} {
		b.run(chromedp.KeyEvent(step.key))
		b.shows(tr, step.pass)
		if got, want := eval[string](b, "location.hash"), fmt.Sprintf("#pass-%d", step.pass); got != want {
			t.Errorf("the address ends in %q, want %q", got, want)
		}
	}
	eval[bool](b, "(() => { const s = document.getElementById('slider'); s.value = 5; return s.dispatchEvent(new Event('input')) })()")
	b.shows(tr, 5)
	b.run(chromedp.Click("#list li:nth-child(2) a", chromedp.ByQuery))
	b.shows(tr, 2)
	b.run(chromedp.Click("#forth", chromedp.ByQuery))
	b.shows(tr, 3)

	// Pass 2 marks what satisfies the first comparison.
	b.run(chromedp.Click("#back", chromedp.ByQuery))
	const row = 101 // 32 records to a line
	seg := tab.Chunks[0].Segments
	x, y := b.over(tr, "depth before", row)
	b.tells(fmt.Sprintf("row %d of 1,000, counted from 0", row), fmt.Sprintf("a: %v (code %d)", seg[0].Value(row), seg[0].Codes.At(row)),
		fmt.Sprintf("b: %v (code %d)", seg[1].Value(row), seg[1].Codes.At(row)), "s: x", fmt.Sprintf("depth after: %d / 2^24", seg[0].Codes.At(row)),
		"stencil before: undefined", "stencil after: ")
	b.over(tr, "depth before", 3) // a NULL
	b.tells("row 3 of", "a: NULL", "depth after: NULL, 0 / 2^24", "records that pass: no", "s: </script><script>throw 1</script>")
	b.run(chromedp.MouseClickXY(x, y), chromedp.KeyEvent(kb.ArrowRight))
	b.shows(tr, 3)
	b.tells(fmt.Sprintf("row %d", row), "kept")
	b.zooms(tr)
	b.laidOut(tr, tab)
	b.tellsHistory(tr)
	b.searchesPasses(tr)
	b.quiet()
}

// laidOut checks that records lie sorted by the statement's first two attributes, or as the rows do. In both
// layouts pictures, the found record and the pointer agree.
func (b *browser) laidOut(tr *Trace, tab *table.Table) {
	b.Helper()
	g, first, second := tr.Grids[0], tab.Chunks[0].Segments[1], tab.Chunks[0].Segments[0] // as the statement names them
	after := func(seg *table.Segment, x, y int) bool {                                    // x lies behind y, NULLs last
		if seg.IsNull(x) || seg.IsNull(y) {
			return seg.IsNull(x) && !seg.IsNull(y)
		}
		return seg.Value(x).I > seg.Value(y).I
	}
	var colours [2]string
	for i, words := range []string{"They are laid out sorted: b grows downwards, a to the right.", "They lie in the order of the rows."} {
		cells := eval[[]int](b, "Array.from({ length: trace.grids[0].cells }, (_, at) => cellAt(trace.grids[0], at))")
		seen := map[int]bool{}
		for at, cell := range cells {
			seen[cell] = true
			switch {
			case i == 1 && cell != at:
				b.Fatalf("in the order of the rows, row %d lies at %d", cell, at)
			case i == 0 && at%g.Cols > 0 && after(second, cells[at-1], cell):
				b.Fatalf("a falls from row %d to row %d of a line", cells[at-1], cell)
			case i == 0 && at >= g.Cols && slices.ContainsFunc(cells[at/g.Cols*g.Cols-g.Cols:at/g.Cols*g.Cols], func(x int) bool { return after(first, x, cell) }):
				b.Fatalf("b of row %d is less than in the line above", cell)
			}
		}
		if len(seen) != 1000 || slices.Min(cells) != 0 || slices.Max(cells) != 999 {
			b.Fatalf("%d records lie in the picture", len(seen))
		}
		if text := b.text("reduced"); !strings.Contains(text, words) {
			b.Errorf("layout %d is said to be %q", i, text)
		}
		const row = 777
		colours[i] = eval[string](b, fmt.Sprintf(`(() => {
			find('%d');
			const f = figures().find(f => f.panel.title === 'depth before'), at = placeOf(f.grid, %d);
			const [x, y] = [at %% f.grid.cols, Math.floor(at / f.grid.cols)];
			const spot = f.querySelector('.spot').style;
			if (Math.abs(parseFloat(spot.left) - 100 * (x + 0.5) / f.grid.cols) > 0.01 || Math.abs(parseFloat(spot.top) - 100 * (y + 0.5) / f.grid.lines) > 0.01) return 'the mark is elsewhere';
			return [...f.source.getContext('2d').getImageData(x, y, 1, 1).data].join();
		})()`, row, row))
		eval[bool](b, "(kept = false, true)")
		eval[bool](b, "($('glass').checked = true)")
		b.over(tr, "depth before", row)
		b.tells(fmt.Sprintf("row %d of", row))
		if got := eval[string](b, `(() => { // the colour in the middle of the magnifier, beside its number
			const m = $('magnifier'), copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
			copy.drawImage(m, -Math.round(m.width * 3.1 / 7), -Math.round(m.height * 3.1 / 7));
			return m.hidden ? 'hidden' : [...copy.getImageData(0, 0, 1, 1).data].join();
		})()`); got != colours[i] {
			b.Errorf("layout %d: the magnifier shows %q at row %d, the picture %q", i, got, row, colours[i])
		}
		eval[bool](b, "($('glass').checked = false, true)")
		b.run(chromedp.KeyEvent("s"))
	}
	if want := fmt.Sprint(first.Value(777)); colours[0] != colours[1] || !strings.HasSuffix(colours[0], ",255") {
		b.Errorf("a = %s has the colours %q", want, colours)
	}
	eval[bool](b, "(find('101'), true)")
}

// zooms checks that all pictures of records show the same cells however they are zoomed and moved. The
// cell under the pointer stays there.
func (b *browser) zooms(tr *Trace) {
	b.Helper()
	b.run(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	b.shows(tr, 2)
	const row = 170
	x, y := b.over(tr, "depth before", row)
	b.run(chromedp.MouseClickXY(x, y)) // lets the record go that was kept
	wheel := func(delta float64) {
		b.run(input.DispatchMouseEvent(input.MouseWheel, x, y).WithDeltaX(0).WithDeltaY(delta))
	}
	for range 7 {
		wheel(-100)
	}
	if got := eval[float64](b, "view.zoom"); got < 4.7 || got > 4.8 { // 1.25^7
		b.Errorf("seven steps zoom by %v", got)
	}
	b.run(chromedp.MouseEvent("mouseMoved", x+1, y))
	b.tells(fmt.Sprintf("row %d of", row))
	// What a picture shows at its middle is the source's cell there, in all pictures.
	same := `figures().filter(f => isOfRecords(f) && f.querySelector('canvas').offsetWidth > 0).map(f => {
		const c = f.querySelector('canvas'), at = [view.x + f.source.width / view.zoom / 2 + 0.3, view.y + f.source.height / view.zoom / 2 + 0.3].map(Math.floor);
		const seen = c.getContext('2d').getImageData((at[0] + 0.1 - view.x) * view.zoom / f.source.width * c.width, (at[1] + 0.1 - view.y) * view.zoom / f.source.height * c.height, 1, 1).data;
		return [...seen].join() === [...f.source.getContext('2d').getImageData(at[0], at[1], 1, 1).data].join();
	})`
	if got := eval[[]bool](b, same); len(got) < 3 || slices.Contains(got, false) {
		b.Errorf("pictures that show their cells: %v", got)
	}
	b.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent("0"))
	if got := eval[float64](b, "view.zoom"); got != 1 {
		b.Errorf("whole pictures are zoomed by %v", got)
	}
	// A part of a scale spreads the greys: what lies below it is as dark as its beginning.
	if got := eval[[]bool](b, `(() => {
		const p = trace.passes[1].panels.find(p => p.of === 'depth'), before = spread(p, 0.3).join();
		ranges.set(scaleName(p), [0.3, 0.6]);
		const after = [spread(p, 0.1), spread(p, 0.3), spread(p, 0.6)].map(c => c.join());
		ranges.clear();
		return [after[0] === after[1], after[1] === colours.value(0).join(), after[2] === colours.value(1).join(), before !== after[1]];
	})()`); slices.Contains(got, false) {
		b.Errorf("of a range: below it, its ends, and the change: %v", got)
	}
}

// tellsHistory checks the fates of records, found by row and by value, against the trace.
func (b *browser) tellsHistory(tr *Trace) {
	b.Helper()
	find := func(text string) {
		b.Helper()
		eval[bool](b, fmt.Sprintf("(() => { document.getElementById('history').open = true; document.getElementById('find').value = %q; document.getElementById('findForm').requestSubmit(); return true; })()", text))
	}
	drops := slices.IndexFunc(tr.Passes, func(p *Pass) bool { return p.Drops })
	for _, row := range []int{0, 7, 101, 640} {
		find(fmt.Sprint(row))
		b.tells(fmt.Sprintf("row %d of", row))
		dropped := eval[bool](b, fmt.Sprintf("images[%d][%d] === 1", tr.Passes[drops].Fates, row))
		told := eval[string](b, "document.getElementById('dropper').textContent")
		if has := strings.Contains(told, fmt.Sprintf("Pass %d dropped it", drops+1)); dropped != has {
			b.Errorf("row %d, dropped by pass %d: %v; the history says %q", row, drops+1, dropped, told)
		}
		if got := eval[int](b, "document.querySelectorAll('#passes tr').length"); got != len(tr.Passes) {
			b.Errorf("the history has %d passes, there are %d", got, len(tr.Passes))
		}
	}
	// The next change is a pass after which the record's depth or stencil value is another one.
	changes := eval[[]int](b, "trace.passes.flatMap((p, i) => fateOf(p, trace.grids[0], spot.cell).changed.length ? [i + 1] : [])")
	b.run(chromedp.KeyEvent(kb.Home))
	for _, n := range changes {
		if n > 1 {
			b.run(chromedp.Evaluate("document.activeElement.blur()", nil), chromedp.KeyEvent("n"))
			b.shows(tr, n)
		}
	}
	find("a = 12")
	b.tells("a: 12 ")
	find("a = 987654")
	if got := b.text("notFound"); got != "no record that is shown has a = 987654" {
		b.Errorf("of a value that is not there the page says %q", got)
	}
}

// searchesPasses checks which passes a search leaves in the list, and that Enter goes on among them.
func (b *browser) searchesPasses(tr *Trace) {
	b.Helper()
	var want []int
	for i, p := range tr.Passes {
		if strings.Contains(strings.ToLower(p.Name), "kthlargest") {
			want = append(want, i)
		}
	}
	eval[bool](b, "(() => { const s = document.getElementById('seek'); s.value = 'KTHlargest bit'; return s.dispatchEvent(new Event('input')); })()")
	got := eval[[]int](b, "[...document.querySelectorAll('#list li')].flatMap((li, i) => li.hidden ? [] : [i])")
	if len(want) < 2 || !slices.Equal(got, want) {
		b.Errorf("the search leaves passes %v, want %v", got, want)
	}
	b.run(chromedp.KeyEvent(kb.Home))
	for _, i := range want {
		eval[bool](b, "(document.getElementById('seekForm').requestSubmit(), true)")
		b.shows(tr, i+1)
	}
	eval[bool](b, "(() => { const s = document.getElementById('seek'); s.value = ''; return s.dispatchEvent(new Event('input')); })()")
}

func TestThePageInLightAndDark(t *testing.T) {
	tr := traced(t, open(t, engine.Options{Backend: "compute"}, small()), "SELECT MEDIAN(a), SUM(b) FROM t WHERE b < 40")
	b := browse(t)
	b.open(tr, "#pass-2")
	b.shows(tr, 2)
	look := func(mode string) (ground, picture string) {
		b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}),
			chromedp.Evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))", nil,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		return eval[string](b, "getComputedStyle(document.body).backgroundColor"), eval[string](b, "document.querySelector('#panels canvas').toDataURL()")
	}
	light, lightPicture := look("light")
	dark, darkPicture := look("dark")
	if light != "rgb(255, 255, 255)" || dark != "rgb(20, 24, 29)" || lightPicture == darkPicture {
		t.Errorf("backgrounds %s and %s; the pictures are the same: %v", light, dark, lightPicture == darkPicture)
	}
	for range tr.Passes { // every pass can be shown
		b.run(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.shows(tr, len(tr.Passes))
	if got := eval[bool](b, "document.getElementById('search').hidden && document.getElementById('sum').hidden"); got {
		t.Error("the last pass belongs to no search and no sum")
	}
	b.quiet()
}

func TestWhatPagesSay(t *testing.T) {
	b := browse(t)
	b.withoutPasses()
	b.severalChunks()
	b.constantColumns()
	b.constantBits()
	b.planesOfColumns()
	b.digitSearch()
	b.stencilColours()
	b.currentPassInList()
	b.nulls()
	b.sideBySide()
}

// sideBySide: the points of two traces are passes that know the same, and choosing one
// shows both.
func (b *browser) sideBySide() {
	t := b.T
	const sql = "SELECT MEDIAN(a), SUM(b) FROM t WHERE b < 40 AND a > 10"
	for _, backends := range [][2]string{{"classic", "compute"}, {"fused", "classic"}} {
		var both [2]*Trace
		for i, backend := range backends {
			both[i] = traced(t, open(t, engine.Options{Backend: backend}, small()), sql)
		}
		points, kinds := Points(both[0], both[1]), map[string]int{}
		for _, p := range points {
			x, y := both[0].Passes[p.Passes[0]], both[1].Passes[p.Passes[1]]
			kind, _, _ := strings.Cut(p.What, " ")
			kinds[kind]++
			switch {
			case strings.Contains(p.What, "selection") && x.Selection && y.Selection:
			case x.Search >= 0 && y.Search >= 0 && both[0].Searches[x.Search].Steps[x.Step].Ends == both[1].Searches[y.Search].Steps[y.Step].Ends:
			case x.Sum >= 0 && y.Sum >= 0 && both[0].Sums[x.Sum].Total == both[1].Sums[y.Sum].Total:
			default:
				t.Errorf("%v: after passes %q and %q it is not so that %s", backends, x.Name, y.Name, p.What)
			}
		}
		if kinds["the"] != 2 || kinds["MEDIAN(a)"] < 2 || !slices.ContainsFunc(points, func(p Point) bool { return p.What == "MEDIAN(a) is "+both[0].Answer[0].Value }) {
			t.Errorf("%v: the points are %v", backends, points)
		}
		b.navigate("", func(w io.Writer) error { return WriteAgainst(w, both[0], both[1]) })
		if !b.soon(func() bool {
			return eval[bool](b, "[...document.querySelectorAll('iframe')].every(f => f.contentDocument?.documentElement.dataset.ready)")
		}) {
			t.Fatal("the traces side by side do not become ready")
		}
		views := eval[[]string](b, `(() => {
			const windows = frames.map(f => f.contentWindow), each = () => windows.map(w => {
				const d = w.document, f = [...d.querySelectorAll('#panels figure')].find(f => f.source), box = f.querySelector('canvas').getBoundingClientRect();
				const corner = w.under(f, { clientX: box.left, clientY: box.top });
				return [corner.x.toFixed(3), corner.y.toFixed(3), d.getElementById('zoom').textContent, d.getElementById('sorted').checked].join();
			});
			windows[0].closer(3, 5, 6);
			const zoomed = each();
			windows[1].document.getElementById('sorted').click();
			return [...zoomed, ...each()];
		})()`)
		if views[0] != views[1] || views[2] != views[3] || !strings.HasSuffix(views[0], "× 3.0,true") || !strings.HasSuffix(views[2], "× 3.0,false") || strings.HasPrefix(views[0], "0.000") {
			t.Errorf("%v: the views of both are %q", backends, views)
		}
		for i, p := range points {
			got := eval[[]string](b, fmt.Sprintf("(document.querySelectorAll('#points button')[%d].click(), [...document.querySelectorAll('iframe')].map(f => f.contentDocument.getElementById('name').textContent))", i))
			if want := []string{both[0].Passes[p.Passes[0]].Name, both[1].Passes[p.Passes[1]].Name}; !slices.Equal(got, want) {
				t.Errorf("%v: where %s the passes are %q, want %q", backends, p.What, got, want)
			}
		}
		b.quiet()
	}
}

// severalChunks: a search goes on from chunk to chunk; an interval narrows only when the
// last of them has been counted.
func (b *browser) severalChunks() {
	t := b.T
	for _, backend := range []string{"classic", "compute"} {
		tr := traced(t, open(t, engine.Options{Backend: backend}, thirds()), "SELECT MEDIAN(a), MAX(a) FROM t WHERE b > 3")
		b.open(tr, "#pass-1")
		told := eval[[]string](b, fmt.Sprintf(`Array.from({ length: %d }, () => {
			const text = document.getElementById('search').textContent;
			window.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
			return text;
		})`, len(tr.Passes)))
		for i, p := range tr.Passes {
			if (told[i] == "") != (p.Search < 0) {
				t.Errorf("%s: %s: of the search %q is shown", backend, p.Name, told[i])
			}
		}
		all := strings.Join(told, "\n")
		for text, want := range map[string]bool{"when the other chunks are counted": true, "the value is " + tr.Answer[0].Value: true} {
			if strings.Contains(all, text) != want {
				t.Errorf("%s: a page tells %q: %v", backend, text, !want)
			}
		}
		b.quiet()
	}
}

func (b *browser) withoutPasses() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, small()), "SELECT COUNT(*) FROM t WHERE a > 100000")
	b.open(tr, "")
	if got := b.text("name"); !strings.Contains(got, "needs no pass") {
		t.Errorf("the page says %q", got)
	}
	if got := eval[bool](b, "[...document.querySelectorAll('#stepper, nav, #facts, #record')].some(e => e.checkVisibility())"); got {
		t.Error("there is nothing to step through, but the page shows what steps")
	}
	b.quiet()
}

// every shows every pass of a page and returns what it writes beside pictures.
func (b *browser) every(tr *Trace) []string {
	b.Helper()
	b.open(tr, "#pass-1")
	return eval[[]string](b, fmt.Sprintf(`Array.from({ length: %d }, () => {
		const text = document.querySelector('main').textContent;
		window.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
		return text;
	})`, len(tr.Passes)))
}

// constantColumns: of columns of one value and of none every pass can be shown, and sums
// are explained.
func (b *browser) constantColumns() {
	t := b.T
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, engine.Options{Backend: backend}, constant())
		all := ""
		for _, sql := range degenerate {
			all += strings.Join(b.every(traced(t, db, sql)), "\n")
		}
		for text, want := range map[string]bool{"A code has 0 bits": backend != "classic", "2 values × 5 (the value of code 0) = 10": backend != "classic",
			"a SUM of no values is NULL": true, "= 0\n": false, "0 … 0": false} {
			if strings.Contains(all, text) != want {
				t.Errorf("%s: the pages say %q: %v", backend, text, !want)
			}
		}
		b.quiet()
	}
	tr := traced(t, open(t, engine.Options{Backend: "compute"}, constant()), "SELECT SUM(x) FROM c")
	if got := b.every(tr)[0]; strings.Contains(got, "A picture has") || !strings.Contains(got, "A code has 0 bits") {
		t.Errorf("of a pass without pictures the page says %q", got)
	}
	tr = traced(t, open(t, engine.Options{Backend: "fused"}, constant()), "SELECT SUM(x) FROM c")
	b.every(tr)
	got := eval[[]bool](b, `[...document.querySelectorAll('#panels figure')].flatMap(f => {
		const box = f.querySelector('.picture').getBoundingClientRect();
		return [f.querySelector('.scale') === null, box.height < 1.1 * f.offsetWidth];
	})`)
	if len(got) == 0 || slices.Contains(got, false) {
		t.Errorf("a scale from a number to itself, or a picture higher than wide: %v", got)
	}
}

// multiples is a table of one column x: 0 to n-1, times step.
func multiples(n, step int64) *table.Table {
	big := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: big}}, 0)
	for i := range int64(rows) {
		b.Column(0).Value(table.Value{Type: big, I: i % n * step})
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// constantBits: bits that no pass counts are told from those that the last counts decide.
func (b *browser) constantBits() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "compute"}, multiples(4, 64)), "SELECT kth_smallest(x, 600) FROM t")
	all := strings.Join(b.every(tr), "\n")
	for _, want := range []string{"from these counts the host decides the last bits: 10 (dashed)", "No pass counts bits 5..0 (dotted), the same in all codes."} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q, but %q", want, all)
		}
	}
	if got := eval[[]int](b, "['told', 'same'].map(kind => document.querySelectorAll('.bits .' + kind).length)"); !slices.Equal(got, []int{2, 6}) {
		t.Errorf("%v bits are dashed and dotted", got)
	}
	b.quiet()
}

// planesOfColumns: a record's bits are told of the columns whose planes the pass reads, whatever these are called.
func (b *browser) planesOfColumns() {
	t := b.T
	tab := small()
	tab.Fields[1].Name = "half of a"
	tr := traced(t, open(t, engine.Options{Backend: "compute"}, tab), `SELECT MEDIAN("half of a"), MEDIAN(a) FROM t`)
	b.open(tr, "#pass-1")
	got := eval[[]string](b, `trace.passes.map((p, i) => {
		show(i);
		spot = { chunk: 0, cell: 7 };
		tell();
		return [...document.querySelectorAll('#told span')].map(s => s.textContent).filter(s => s.endsWith(' in bits)')).map(s => s.split(': ')[0]).join();
	})`)
	if want := []string{"half of a", "a", "half of a", "a", "a"}; !slices.Equal(got, want) {
		t.Errorf("bits are told of %q, pass by pass, want %q", got, want)
	}
	b.quiet()
}

// stencilColours: a value has one colour on all pages, and its own beside the others.
func (b *browser) stencilColours() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, multiples(10, 1<<25)), "SELECT kth_smallest(x, 500) FROM t WHERE x > 40000000") // codes of two limbs
	b.open(tr, "#pass-1")
	seen, values := map[string]string{}, map[string]string{}
	for range tr.Passes {
		for _, of := range eval[[][]string](b, `[...document.querySelectorAll('#panels figure')].filter(f => f.panel.kind === 'stencil').
			flatMap(f => [...f.querySelectorAll('.legend span')].map(s => [s.textContent.split(':')[0], getComputedStyle(s.querySelector('i')).backgroundColor]))`) {
			value, colour := of[0], of[1]
			if seen[value] != "" && seen[value] != colour || values[colour] != "" && values[colour] != value {
				t.Errorf("value %s is %s, and was %s, which was %s", value, colour, seen[value], values[colour])
			}
			seen[value], values[colour] = colour, value
		}
		b.run(chromedp.KeyEvent(kb.ArrowRight))
	}
	if len(seen) < 4 || seen["65"] == "" {
		t.Errorf("only the values %v", seen)
	}
}

// currentPassInList: however a pass is reached, its row of the list is seen, and the list
// ends above the footer.
func (b *browser) currentPassInList() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, small()), "SELECT COUNT(*), MEDIAN(a), SUM(a), MAX(b) FROM t WHERE b > 2 AND s <> 'x'")
	seen := func(how string) {
		t.Helper()
		if !b.soon(func() bool {
			return eval[bool](b, `(() => {
				const box = e => e.getBoundingClientRect(), list = box(document.querySelector('nav')), row = box(document.querySelector('#list a[aria-current]'));
				return row.top >= Math.max(list.top, box(document.getElementById('stepper')).bottom) && row.bottom <= list.bottom + 1 &&
					list.bottom <= box(document.getElementById('record')).top + 1;
			})()`)
		}) {
			t.Errorf("%s: the list does not show the current pass", how)
		}
	}
	for _, size := range [][2]int64{{1400, 1000}, {1400, 500}, {420, 640}} {
		b.run(chromedp.EmulateViewport(size[0], size[1]))
		b.open(tr, fmt.Sprintf("#pass-%d", len(tr.Passes)*2/3))
		at := func(how string) string { return fmt.Sprintf("%s at %d x %d", how, size[0], size[1]) }
		seen(at("by link"))
		for name, key := range map[string]string{"Home": kb.Home, "End": kb.End} {
			b.run(chromedp.KeyEvent(key))
			seen(at("by key " + name))
		}
		eval[bool](b, "(() => { const s = document.getElementById('slider'); s.value = 9; return s.dispatchEvent(new Event('input')) })()")
		seen(at("by slider"))
		eval[bool](b, "(document.querySelector('#list li:last-child a').click(), true)")
		b.shows(tr, len(tr.Passes))
		seen(at("by click"))
		if size[0] > 800 { // the list stays beside what is scrolled
			eval[bool](b, "(scrollTo(0, 1e6), true)")
			seen(at("scrolled down"))
			eval[bool](b, "(scrollTo(0, 0), true)")
			seen(at("scrolled up"))
		}
	}
	b.quiet()
}

// digitSearch: the steps of a search digit by digit say which bits they decide and which
// they count.
func (b *browser) digitSearch() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "compute"}, small()), "SELECT MEDIAN(a) FROM t WHERE b < 40")
	all := strings.Join(b.every(tr), "\n")
	code := fmt.Sprintf("%09b", tr.Searches[0].code) // the codes are 0 to 500
	for _, want := range []string{
		"MEDIAN(a): bits of the code found so far",
		"This pass counts the selected values by bits 8..6; from these counts the next pass decides them: " + code[:3],
		"This pass decides bits 8..6 from the counts of the pass before: " + code[:3] + ". It keeps the candidates that have them and counts these by bits 5..3; " +
			"from these counts the next pass decides them: " + code[3:6],
		"This pass decides bits 5..3 from the counts of the pass before: " + code[3:6] + ". It keeps the candidates that have them and counts these by bits 2..0; " +
			"from these counts the host decides the last bits: " + code[6:],
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(all, "of the result: ") || strings.Count(all, "000") < len(tr.Searches[0].Steps) {
		t.Errorf("the page has words of the result, or no number of candidates with 000")
	}
	b.quiet()
}

// nulls: a NULL has its own colour, where it lies behind all values and among them.
func (b *browser) nulls() {
	t := b.T
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, small()), "SELECT COUNT(*) FROM t WHERE a < 300 AND a > 10")
	b.open(tr, "#pass-1")
	for n, p := range tr.Passes {
		if p.Panels[0].Kind == "stencil" {
			continue
		}
		got := eval[[]bool](b, `[...document.querySelectorAll('#panels figure')].filter(f => f.panel.title === 'depth after').flatMap(f => {
			const copy = new OffscreenCanvas(32, 32).getContext('2d', { willReadFrequently: true });
			copy.drawImage(f.source, 0, 0);
			const at = cell => { const p = placeOf(trace.grids[0], cell); return [...copy.getImageData(p % 32, Math.floor(p / 32), 1, 1).data.slice(0, 3)].join(); };
			return [at(3) === '214,51,108', at(4) !== '214,51,108', f.querySelector('.legend').textContent.endsWith('NULL')];
		})`)
		if !slices.Equal(got, []bool{true, true, true}) {
			t.Errorf("pass %d, %s: the NULL has its colour, the value none of it, the legend an entry: %v", n+1, p.Name, got)
		}
		b.run(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.quiet()
}
