package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// browser is a headless Chromium with the committed pages, and the flights of their
// figures in an engine.
type browser struct {
	*testing.T
	ctx     context.Context
	flights *table.Table
	db      *engine.DB
	asked   map[string]int64 // answers of sql

	mu   sync.Mutex
	said []string // errors, and what was fetched from elsewhere
}

// livesOn leaves out what chromedp asks of Linux: to kill the browser when the thread that started it
// ends. A thread that served an OpenGL context for a while does end.
func livesOn(*exec.Cmd) {}

func browse(t *testing.T) *browser {
	t.Helper()
	b := &browser{T: t, asked: map[string]int64{}}
	var err error
	if b.flights, err = lesson.Sample(sampled); err != nil {
		t.Fatal(err)
	}
	if b.db, err = engine.Open(engine.Options{Backend: "cpu"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() })
	if err := b.db.Add(b.flights); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it (Debian: apt-get install chromium)", err)
	}
	var out bytes.Buffer // what the browser says, which has ended when it is read
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", out.Bytes())
		}
	})
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1300, 1000),
		chromedp.WSURLReadTimeout(time.Minute), chromedp.ModifyCmdFunc(livesOn), chromedp.CombinedOutput(&out))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	b.ctx, stop = chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(stop)
	chromedp.ListenTarget(b.ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *inspector.EventTargetCrashed:
			t.Error("the page's process has crashed")
		case *runtime.EventExceptionThrown:
			b.said = append(b.said, e.ExceptionDetails.Error())
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file:") {
				b.said = append(b.said, "fetched "+e.Request.URL)
			}
		}
	})
	b.run(runtime.Enable(), network.Enable())
	return b
}

func (b *browser) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open opens a page of the site.
func (b *browser) open(page string) {
	b.Helper()
	path, err := filepath.Abs(filepath.Join(committed, page))
	if err != nil {
		b.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + path))
}

// eval runs JavaScript.
func eval[T any](b *browser, script string) (v T) {
	b.Helper()
	b.run(chromedp.Evaluate(script, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// sql answers a SELECT of one whole number over the flights of the figures.
func (b *browser) sql(format string, args ...any) int64 {
	b.Helper()
	text := fmt.Sprintf(format, args...)
	if n, ok := b.asked[text]; ok {
		return n
	}
	r, err := engine.Collect(b.db.Query(context.Background(), text))
	if err != nil {
		b.Fatalf("%s: %v", text, err)
	}
	n := new(big.Int)
	if v := r.Rows[0][0]; !v.Null { // a SUM of none
		n = v.Unscaled()
	}
	if n == nil || n.Cmp(big.NewInt(1<<53)) > 0 {
		b.Fatalf("%s gives %v", text, n)
	}
	b.asked[text] = n.Int64()
	return b.asked[text]
}

// settings are those of a figure.
type settings = map[string]any

// numbers asks a figure for the numbers of many settings, and compares them with those wanted. A
// JavaScript expression of n puts each into a list.
func (b *browser) numbers(figure, expression string, list []settings, want func(settings) []int64) {
	b.Helper()
	for list := range slices.Chunk(list, 8) { // the page is not to be busy for long
		text, err := json.Marshal(list)
		if err != nil {
			b.Fatal(err)
		}
		got := eval[[][]int64](b, fmt.Sprintf("%s.map(s => { const n = figures[%q].numbers(s); return %s; })", text, figure, expression))
		for i, s := range list {
			if diff := cmp.Diff(want(s), got[i]); diff != "" {
				b.Errorf("figure %s with %v: %s", figure, s, diff)
			}
		}
	}
}

// times makes settings of all combinations of some values.
func times(list []settings, name string, values ...any) (out []settings) {
	for _, s := range list {
		for _, v := range values {
			c := settings{name: v}
			for k, old := range s {
				c[k] = old
			}
			out = append(out, c)
		}
	}
	return out
}

var (
	one       = []settings{{}}
	operators = []any{"<", "<=", "=", ">=", ">", "<>"}
	// over has values of both attributes, within their range and at its ends.
	over = append(times(times(one, "attribute", "delay"), "value", -86, -5, 0, 1, 60, 300, 1444),
		times(times(one, "attribute", "distance"), "value", 30, 31, 500, 999, 1000, 2475, 4962)...)
	bits    = map[any]int{"delay": 11, "distance": 13}
	minimum = map[any]int64{"delay": -86, "distance": 30}
)

// The numbers of the live figures are those of the engine over the same records. The exercises are
// judged in the page as in a terminal.
func TestLivePages(t *testing.T) {
	b := browse(t)
	for _, f := range []struct {
		name string
		test func(b *browser)
	}{{"attributes", attributesFigure}, {"depth", depthFigure}, {"predicate", predicateFigure}, {"bounds", boundsFigure}, {"semilinear", semilinearFigure},
		{"cnf", cnfFigure}, {"count", countFigure}, {"kth", kthFigure}, {"sum", sumFigure}, {"planes", planesFigure}, {"sort", sortFigure}, {"join", joinFigure}} {
		b.open(folder + f.name + ".html")
		f.test(b)
		b.painted(f.name)
		b.judged(f.name)
	}
	b.front()
	b.exercises()
	if len(b.said) > 0 {
		t.Errorf("the browser says %q", b.said)
	}
}

func attributesFigure(b *browser) {
	for col, f := range b.flights.Fields {
		s := b.flights.Chunks[0].Segments[col]
		b.numbers("attributes", "[n.x, n.y, n.code, n.channels[0] + 2 ** 24 * (n.channels[1] ?? 0), ...n.texel, Math.round(n.value * 1e6)]",
			times(times(one, "attribute", f.Name), "record", 0, 1, 127, 128, 8000, 16383), func(set settings) []int64 {
				r := set["record"].(int)
				value := 1e6 * float64(s.Value(r).F)
				if f.Type.IsExact() {
					value = 1e6 * float64(s.Value(r).I)
				}
				width, code := textures.ShapeOf(b.flights.Rows()).Width, int64(s.Codes.At(r))
				at := func(col int) int64 { return int64(b.flights.Chunks[0].Segments[col].Codes.At(r)) }
				return []int64{int64(r % width), int64(r / width), code, code, at(0), at(1), int64(value + 0.5*sign(value))}
			})
	}
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

func depthFigure(b *browser) {
	b.numbers("depth", "[n.count, n.exact, n.missed, n.depths]", times(over, "keep", 1, 4, 6, 9, 10, 11, 13), func(s settings) []int64 {
		drop := max(0, bits[s["attribute"]]-s["keep"].(int))
		least, value := minimum[s["attribute"]], int64(s["value"].(int))
		stands := least + (value-least)>>drop<<drop
		count, exact := b.sql("SELECT COUNT(*) FROM flights WHERE %s < %d", s["attribute"], stands), b.sql("SELECT COUNT(*) FROM flights WHERE %s < %d", s["attribute"], value)
		return []int64{count, exact, exact - count, b.sql("SELECT COUNT(DISTINCT (%s - (%d)) / %d) FROM flights", s["attribute"], least, 1<<drop)}
	})
}

func predicateFigure(b *browser) {
	b.numbers("predicate", "[n.count, n.quad]", times(over, "op", operators...), func(s settings) []int64 {
		return []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %s %s %d", s["attribute"], s["op"], s["value"]), int64(s["value"].(int)) - minimum[s["attribute"]]}
	})
	functions := eval[map[string]string](b, "mirrored")
	for op, f := range map[string]pass.Func{"<": pass.Greater, "<=": pass.GEqual, "=": pass.Equal, ">=": pass.LEqual, ">": pass.Less, "<>": pass.NotEqual} {
		if functions[op] != f.String() {
			b.Errorf("%s is the depth function %v, the figures say %s", op, f, functions[op])
		}
	}
}

func boundsFigure(b *browser) {
	list := append(times(times(times(one, "attribute", "distance"), "lo", 30, 500, 501, 1000), "hi", 499, 999, 1000, 4962),
		times(times(times(one, "attribute", "delay"), "lo", -86, 0, 60), "hi", -1, 0, 1444)...)
	b.numbers("bounds", "[n.count, n.after.at(-1)[n.selected]]", times(times(list, "quad", 0, 100), "how", "bounds", "quads"), func(s settings) []int64 {
		n := b.sql("SELECT COUNT(*) FROM flights WHERE %s BETWEEN %d AND %d", s["attribute"], s["lo"], s["hi"])
		return []int64{n, n}
	})
}

func semilinearFigure(b *browser) {
	b.numbers("semilinear", "[n.count, n.codes]", times(times(times(times(one, "s0", -20, 0, 1, 10), "s1", -1, 0, 3), "b", -890, 0, 1000), "op", operators...), func(s settings) []int64 {
		s0, s1, c := int64(s["s0"].(int)), int64(s["s1"].(int)), int64(s["b"].(int))
		return []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %d * delay + %d * distance %s %d", s0, s1, s["op"], c), c + 86*s0 - 30*s1}
	})
	for want, s := range map[string]string{
		"10 * delay - distance > 0": "s0: 10, s1: -1, op: '>', b: 0", "-delay + distance <= -5": "s0: -1, s1: 1, op: '<=', b: -5", "-20 * delay - 3 * distance < 7": "s0: -20, s1: -3, op: '<', b: 7",
		"delay = 60": "s0: 1, s1: 0, op: '=', b: 60", "2 * distance <> 60": "s0: 0, s1: 2, op: '<>', b: 60", "0 >= 1": "s0: 0, s1: 0, op: '>=', b: 1",
	} {
		if got := eval[string](b, "condition({"+s+"})"); got != want {
			b.Errorf("the condition of %s is written %s, want %s", s, got, want)
		}
		if got, want := eval[int64](b, "figures.semilinear.numbers({"+s+"}).count"), b.sql("SELECT COUNT(*) FROM flights WHERE %s", want); got != want {
			b.Errorf("the figure with %s counts %d, the engine %d", s, got, want)
		}
	}
}

// cnfFigure compares the stencil buffer after each pass with that of backend classic.
func cnfFigure(b *browser) {
	for i, where := range eval[[]string](b, "conditions.map(words)") {
		passes := eval[[]string](b, fmt.Sprintf("passesOf(conditions[%d]).map(p => p.text)", i))
		b.numbers("cnf", "[n.selected]", []settings{{"condition": i, "step": len(passes)}}, func(settings) []int64 {
			return []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %s", where)}
		})
		if slices.ContainsFunc(strings.Split(where, " AND "), func(clause string) bool { return !strings.Contains(clause, " OR ") }) {
			continue // classic may take clauses of one predicate together
		}
		var want [][]int64
		err := lesson.On(b.flights, lesson.Options{Device: "software"}, func(s *lesson.Stage) {
			steps, _ := s.Query("SELECT COUNT(*) FROM flights WHERE " + where)
			for _, step := range steps {
				if _, ok := step.Pass.Op.(pass.CopyToDepth); ok {
					continue
				}
				hold := make([]int64, 3)
				for _, v := range step.Stencil {
					hold[v]++
				}
				want = append(want, hold)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		if len(want) != len(passes) {
			b.Errorf("%s: classic draws %d passes, the figure %q", where, len(want), passes)
			continue
		}
		for step := range want {
			b.numbers("cnf", "n.after.at(-1).hold", []settings{{"condition": i, "step": step + 1}}, func(settings) []int64 { return want[step] })
		}
	}
}

func countFigure(b *browser) {
	masks := map[string]string{"none": "TRUE", "far": "distance > 1000", "near": "distance <= 1000"}
	b.numbers("count", "[n.count, n.popcount, n.words.length, ...n.below]",
		times(times(times(times(one, "op", operators...), "value", -86, 0, 60), "mask", "none", "far", "near"), "first", -40), func(s settings) []int64 {
			n := b.sql("SELECT COUNT(*) FROM flights WHERE delay %s %d AND %s", s["op"], s["value"], masks[s["mask"].(string)])
			want := []int64{n, n, sampled / 32}
			for i := range 17 {
				want = append(want, b.sql("SELECT COUNT(*) FROM flights WHERE delay < %d AND %s", s["first"].(int)+10*i, masks[s["mask"].(string)]))
			}
			return want
		})
}

var among = map[string]string{"all": "TRUE", "late": "delay > 60", "far": "distance > 1000"}

func kthFigure(b *browser) {
	b.numbers("kth", "[n.n, n.value, n.lo, n.hi, ...n.steps.map(s => s.count)]",
		times(times(times(times(one, "attribute", "delay", "distance"), "selection", "all", "late", "far"), "k", 1, 2, 100, 500), "asked", []int64{100, 40}), func(s settings) []int64 {
			attribute, where := s["attribute"], among[s["selection"].(string)]
			value := b.sql("SELECT kth_largest(%s, %d) FROM flights WHERE %s", attribute, s["k"], where)
			lo, hi := minimum[attribute], minimum[attribute]+1<<bits[attribute]-1
			for _, m := range s["asked"].([]int64) {
				if value >= m {
					lo = max(lo, m)
				} else {
					hi = min(hi, m-1)
				}
			}
			want := []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %s", where), value, lo, hi}
			x := minimum[attribute]
			for bit := bits[attribute] - 1; bit >= 0; bit-- {
				tried := x + 1<<bit
				want = append(want, b.sql("SELECT COUNT(*) FROM flights WHERE %s >= %d AND %s", attribute, tried, where))
				if value >= tried {
					x = tried
				}
			}
			return want
		})
	if drawn := eval[bool](b, `(async () => {
		const [count, , show] = document.querySelectorAll('.live button');
		const guess = [...document.querySelectorAll('.live input[type=number]')].at(-1);
		guess.value = 300;
		guess.dispatchEvent(new Event('change'));
		count.click();
		show.click();
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
		return document.querySelectorAll('.bar').length === 12;
	})()`); !drawn {
		b.Error("counts are not drawn as bars")
	}
}

// withBit counts the flights of which a bit of the code is set.
func (b *browser) withBit(attribute any, bit int, where string) int64 {
	return b.sql("SELECT COUNT(*) FROM flights WHERE (%s - (%d)) / %d %% 2 = 1 AND %s", attribute, minimum[attribute], 1<<bit, where)
}

func sumFigure(b *browser) {
	b.numbers("sum", "[n.n, n.sum, ...n.counts]", times(times(one, "attribute", "delay", "distance"), "selection", "all", "late"), func(s settings) []int64 {
		where := among[s["selection"].(string)]
		want := []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %s", where), b.sql("SELECT SUM(%s) FROM flights WHERE %s", s["attribute"], where)}
		for bit := range bits[s["attribute"]] {
			want = append(want, b.withBit(s["attribute"], bit, where))
		}
		return want
	})
}

func planesFigure(b *browser) {
	b.numbers("planes", "[n.count, ...n.popcounts, ...n.walk.flatMap(w => [w.less, w.equal])]", times(over, "plane", 5), func(s settings) []int64 {
		value := int64(s["value"].(int))
		least := minimum[s["attribute"]]
		want := []int64{b.sql("SELECT COUNT(*) FROM flights WHERE %s < %d", s["attribute"], value)}
		for bit := range bits[s["attribute"]] {
			want = append(want, b.withBit(s["attribute"], bit, "TRUE"))
		}
		for bit := bits[s["attribute"]] - 1; bit >= 0; bit-- {
			from := least + (value-least)>>bit<<bit // codes that agree with the constant down to the bit
			want = append(want, b.sql("SELECT COUNT(*) FROM flights WHERE %s < %d", s["attribute"], from),
				b.sql("SELECT COUNT(*) FROM flights WHERE %s BETWEEN %d AND %d", s["attribute"], from, from+1<<bit-1))
		}
		return want
	})
}

func sortFigure(b *browser) {
	const least, digit = 30, 16
	rows := b.sql("SELECT COUNT(*) FROM flights")
	b.numbers("sort", "[n.descents, ...n.at]", []settings{{"way": "network", "passes": 105}, {"way": "radix", "passes": 4}}, func(settings) []int64 {
		want := []int64{0}
		for _, k := range []int64{1, 100, 8192, rows} {
			want = append(want, b.sql("SELECT kth_smallest(distance, %d) FROM flights", k))
		}
		return want
	})
	b.numbers("sort", "n.counts", times([]settings{{"way": "radix"}}, "passes", 1, 2, 3, 4), func(s settings) (want []int64) {
		below := 1
		for range s["passes"].(int) - 1 {
			below *= digit
		}
		for d := range digit {
			want = append(want, b.sql("SELECT COUNT(*) FROM flights WHERE (distance - %d) / %d %% %d = %d", least, below, digit, d))
		}
		return want
	})
	if got := eval[[]int](b, "[0, 1, 105].map(passes => figures.sort.numbers({ way: 'network', passes }).descents)"); got[0] < 20 || got[1] == got[0] || got[2] != 0 {
		b.Errorf("descents after 0, 1 and 105 passes: %v", got)
	}
}

func joinFigure(b *browser) {
	b.numbers("join", "[n.left, ...n.counts]", times(times(one, "delay", 1, 3, 4), "distance", 1, 2, 4), func(s settings) []int64 {
		delay, distance := s["delay"].(int), s["distance"].(int)
		want := []int64{b.sql("SELECT COUNT(*) FROM flights WHERE delay >= 0 AND delay < %d AND distance >= 500 AND distance < %d", 15*delay, 500+500*distance)}
		for slot := range 16 {
			n, x, y := int64(0), slot/4, slot%4
			if x < delay && y < distance {
				n = b.sql("SELECT COUNT(*) FROM flights WHERE delay >= %d AND delay < %d AND distance >= %d AND distance < %d", 15*x, 15*x+15, 500+500*y, 1000+500*y)
			}
			want = append(want, n)
		}
		return want
	})
}

// painted checks that the figure of a page shows something, within its frame, and says so and of how many flights.
func (b *browser) painted(name string) {
	b.Helper()
	if got := eval[bool](b, `[...document.querySelectorAll('.live canvas')].every(c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size > 2) &&
		document.querySelector('.live .said').textContent.length > 20 && document.querySelector('.live .sample').textContent === '16,384 flights, about one in 12.' &&
		[...document.querySelectorAll('.live, .live *')].every(e => e.getBoundingClientRect().right <= document.querySelector('.live').getBoundingClientRect().right)`); !got {
		b.Errorf("the figure of lesson %s shows nothing", name)
	}
}

// judged compares what the page says to answers with what [lesson.Key.Judge] says.
func (b *browser) judged(name string) {
	b.Helper()
	for _, l := range lessons.All() {
		if l.Name != name {
			continue
		}
		for i, e := range l.Exercises {
			key, err := e.Key(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			answers := []string{key.Answer}
			for wrong := range key.Hints {
				answers = append(answers, wrong)
			}
			if key.Choices == nil {
				answers = append(answers, "-7", "99,999,999,999,999,999,999", "+"+key.Answer)
			}
			for _, answer := range answers {
				right, say, err := key.Judge(answer)
				if err != nil {
					b.Fatal(err)
				}
				got := eval[struct {
					Right bool
					Say   string
				}](b, fmt.Sprintf("judge(JSON.parse(document.querySelectorAll('form.exercise script')[%d].textContent), %q)", i, answer))
				if got.Right != right || got.Say != say {
					b.Errorf("lesson %s, exercise %d: the page judges %q %v, a terminal %v %q", name, i+1, answer, got, right, say)
				}
			}
		}
	}
}

// front drags the quad on the front page.
func (b *browser) front() {
	b.Helper()
	b.open("index.html")
	constants := eval[[]string](b, `(async () => {
		const canvas = document.querySelector('canvas.relief'), said = [];
		canvas.setPointerCapture = () => {};
		for (const part of [0.3, 0.6]) {
			const box = canvas.getBoundingClientRect();
			canvas.dispatchEvent(new PointerEvent('pointerdown', { clientX: box.left + box.width / 2, clientY: box.top + part * box.height }));
			await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
			said.push(document.querySelector('.controls input[type=number]').value);
		}
		return said;
	})()`)
	if len(constants) != 2 || constants[0] == constants[1] {
		b.Errorf("dragging the quad gives the constants %q", constants)
	}
}

// exercises answers one in the page: wrongly, rightly, and the browser remembers.
func (b *browser) exercises() {
	b.Helper()
	b.open(folder + "kth.html")
	answer := func(text string) string {
		return eval[string](b, fmt.Sprintf(`(() => {
			const form = document.querySelectorAll('form.exercise')[1];
			form.querySelector('input').value = %q;
			form.querySelector('button').click();
			return form.querySelector('output').textContent;
		})()`, text))
	}
	if got := answer("4"); got != "No. The bits that are decided stay: x + 2^i." {
		b.Errorf("a wrong answer is told %q", got)
	}
	for _, nonsense := range []string{"", "twelve", "1.5"} {
		if got := answer(nonsense); got != "Give a whole number." {
			b.Errorf("%q is told %q", nonsense, got)
		}
	}
	if got := answer("12"); !strings.HasPrefix(got, "Right. ") {
		b.Errorf("a right answer is told %q", got)
	}
	b.open(folder + "sum.html")
	if got := eval[string](b, "document.querySelector('nav a[href$=\"kth.html\"]').dataset.solved"); got != "1 of 5" {
		b.Errorf("beside the lesson stands %q", got)
	}
}
