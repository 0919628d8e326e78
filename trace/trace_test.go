package trace

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// small is a table of 1000 rows in one chunk. Column a has NULLs, negative and positive numbers; b
// repeats; s is text that a page must not take for markup.
const rows = 1000

func small() *table.Table {
	big, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}, {Name: "b", Type: big}, {Name: "s", Type: text}}, rows)
	for i := range int64(rows) {
		b.Column(0).Value(table.Value{Type: big, I: i*37%501 - 100, Null: i%17 == 3})
		b.Column(1).Value(table.Value{Type: big, I: i * 7 % 64})
		b.Column(2).Value(table.Str([]string{"</script><script>throw 1</script>", "&amp;", "x"}[i%3]))
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

func open(t *testing.T, o engine.Options, tables ...*table.Table) *engine.DB {
	t.Helper()
	o.Calibrations = t.TempDir()
	db, err := engine.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tab := range tables {
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func traced(t *testing.T, db *engine.DB, sql string) *Trace {
	t.Helper()
	x, err := Run(context.Background(), db, sql, Options{})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return x
}

var statements = []string{
	"SELECT COUNT(*) FROM t WHERE a > 10 AND b < 20",
	"SELECT COUNT(*) FROM t WHERE (a > 10 OR b < 20) AND (a < 300 OR b > 50)",
	"SELECT COUNT(a) FROM t WHERE a BETWEEN 10 AND 60",
	"SELECT SUM(b), AVG(a) FROM t WHERE a > 10",
	"SELECT MEDIAN(a), MAX(b), kth_largest(a, 7) FROM t WHERE b < 40",
	"SELECT COUNT(*) FROM t WHERE 2 * a + 3 * b > 100 AND s = 'x'",
	"SELECT MIN(a) FROM t",
}

func TestPassesAndCountsAreThoseOfExplainAnalyze(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, engine.Options{Backend: backend}, small())
		for _, sql := range statements {
			x, err := db.Explain(context.Background(), sql, engine.ExplainOptions{Analyze: true})
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, s := range x.Steps {
				samples := uint64(0)
				if s.Samples != nil {
					samples = *s.Samples
				}
				want = append(want, fmt.Sprint(s.Pass, s.Counts, s.Samples != nil, samples))
			}
			tr := traced(t, db, sql)
			for _, p := range tr.Passes {
				got = append(got, fmt.Sprint(p.Name, p.Counts, p.Counted, p.Samples))
				for _, panel := range p.Panels {
					if panel.Title == "records that pass" && p.Counted && uint64(panel.Total) != p.Samples {
						t.Errorf("%s: %s: %d samples, %d records seen to pass", backend, p.Name, p.Samples, panel.Total)
					}
				}
				if draws := p.Passed != nil; draws != hasState(p, "stencil test") || draws && p.Counted && *p.Passed != p.Samples {
					t.Errorf("%s: %s: counted %v: %d samples, the trace has seen %v", backend, p.Name, p.Counted, p.Samples, p.Tally())
				}
				if len(p.Panels) == 0 || len(p.State) == 0 {
					t.Errorf("%s: %s: %d pictures, %d lines of state", backend, p.Name, len(p.Panels), len(p.State))
				}
			}
			if !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("%s: %s: passes\n%q\nEXPLAIN ANALYZE has\n%q", backend, sql, got, want)
			}
			answer, err := engine.Collect(db.Query(context.Background(), sql))
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range tr.Answer {
				if want := answer.Rows[0][i].String(); f.Value != want {
					t.Errorf("%s: %s: %s = %s, want %s", backend, sql, f.Name, f.Value, want)
				}
			}
		}
	}
}

// unpack is what the page does with an image.
func unpack(t *testing.T, im *Image) []uint64 {
	t.Helper()
	text, err := json.Marshal(im)
	if err != nil {
		t.Fatal(err)
	}
	var written struct {
		Type string
		Data []byte
	}
	if err := json.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(written.Data)))
	if err != nil {
		t.Fatal(err)
	}
	size := map[string]int{"u8": 1, "u16": 2, "u32": 4}[written.Type]
	if size == 0 {
		t.Fatalf("an image of whole numbers is %s", written.Type)
	}
	var out []uint64
	for ; len(raw) > 0; raw = raw[size:] {
		var word [8]byte
		copy(word[:], raw[:size])
		out = append(out, binary.LittleEndian.Uint64(word[:]))
	}
	return out
}

// panel finds a picture by its title, in any pass.
func panel(t *testing.T, tr *Trace, title string) Panel {
	t.Helper()
	for _, p := range tr.Passes {
		for _, x := range p.Panels {
			if x.Title == title {
				return x
			}
		}
	}
	t.Fatalf("%s: no picture %q", tr.Backend, title)
	return Panel{}
}

func TestPicturesAreWhatTheTableHolds(t *testing.T) {
	tab := small()
	seg := tab.Chunks[0].Segments
	selected := func(row int) bool { return seg[1].Value(row).I < 40 }
	const sql = "SELECT MEDIAN(a) FROM t WHERE b < 40"

	classic := traced(t, open(t, engine.Options{Backend: "classic"}, tab), sql)
	codes, stencil := unpack(t, classic.Images[panel(t, classic, "texture read: codes of a").Image]), panel(t, classic, "stencil after")
	marks := unpack(t, classic.Images[stencil.Image])
	if len(codes) != rows || len(marks) != rows {
		t.Fatalf("pictures of %d and %d cells, the table has %d rows", len(codes), len(marks), rows)
	}
	for row := range rows {
		want := seg[0].Codes.At(row) + 1
		if seg[0].IsNull(row) {
			want = 0
		}
		if codes[row] != want || (marks[row] == 1) != selected(row) {
			t.Fatalf("row %d: code and one %d, want %d; stencil %d, selected %v", row, codes[row], want, marks[row], selected(row))
		}
	}

	fused := traced(t, open(t, engine.Options{Backend: "fused"}, tab), sql)
	scan := traced(t, open(t, engine.Options{Backend: "compute"}, tab), sql)
	plane := unpack(t, scan.Images[panel(t, scan, "bit 3 of a").Image])
	drawn, read := unpack(t, fused.Images[panel(t, fused, "bitmap drawn").Image]), unpack(t, scan.Images[panel(t, scan, "bitmap read").Image])
	for row := range rows {
		if plane[row] != seg[0].Codes.At(row)>>3&1 || (drawn[row] == 1) != selected(row) || (read[row] == 1) != selected(row) {
			t.Fatalf("row %d: plane %d of code %d; bitmaps %d and %d, selected %v", row, plane[row], seg[0].Codes.At(row), drawn[row], read[row], selected(row))
		}
	}
}

func TestASearchFindsItsBitsFromTheTop(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		tr := traced(t, open(t, engine.Options{Backend: backend}, small()), "SELECT MEDIAN(a), MEDIAN(b) FROM t WHERE b < 40")
		if len(tr.Searches) != 2 {
			t.Fatalf("%s: %d searches, want 2", backend, len(tr.Searches))
		}
		for i, s := range tr.Searches {
			known := ""
			for _, st := range s.Steps {
				if !strings.HasPrefix(st.Known, known) || len(st.Known) == len(known) || tr.Passes[st.Pass].Search != i {
					t.Errorf("%s: %s: %q after %q", backend, s.Aggregate, st.Known, known)
				}
				known = st.Known
				if backend == "classic" && (len(st.Tried) != 1 || !strings.HasSuffix(tr.Passes[st.Pass].Name, " "+st.Tried[0].Value+")")) {
					t.Errorf("%s: tentative values %v", tr.Passes[st.Pass].Name, st.Tried)
				}
				if backend == "fused" && len(st.Tried) == 0 {
					t.Errorf("%s: no tentative value", tr.Passes[st.Pass].Name)
				}
			}
			last := s.Steps[len(s.Steps)-1]
			if len(known) != s.Bits || last.Ends != [2]string{tr.Answer[i].Value, tr.Answer[i].Value} {
				t.Errorf("%s: %s ends with %q of %d bits at %v, the answer is %s", backend, s.Aggregate, known, s.Bits, last.Ends, tr.Answer[i].Value)
			}
		}
	}
}

func TestASumIsItsBits(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		tr := traced(t, open(t, engine.Options{Backend: backend}, small()), "SELECT SUM(a) FROM t WHERE b < 40")
		if len(tr.Sums) != 1 {
			t.Fatalf("%s: %d sums, want 1", backend, len(tr.Sums))
		}
		s, share := tr.Sums[0], 0.0
		for i, b := range s.Bits {
			share += b.Share
			if b.Bit != i || !s.Host && b.Records != tr.Passes[b.Pass].Samples {
				t.Errorf("%s: bit %d: %+v", backend, i, b)
			}
		}
		if s.Total != tr.Answer[0].Value || share < 0.999999 || share > 1.000001 || s.Host != (backend != "classic") {
			t.Errorf("%s: the bits make %s and share %v, the answer is %s", backend, s.Total, share, tr.Answer[0].Value)
		}
	}
}

// thirds is a table of three chunks, the last of 20 rows, the others of 40.
func thirds() *table.Table {
	big := table.Type{Kind: table.BigInt}
	tab := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}, {Name: "b", Type: big}}, 40)
	for i := range int64(100) {
		tab.Column(0).Value(table.Int(i * i % 97))
		tab.Column(1).Value(table.Int(i % 10))
		if err := tab.EndRow(); err != nil {
			panic(err)
		}
	}
	return tab.Table()
}

func TestSeveralChunks(t *testing.T) {
	for backend, searches := range map[string]int{"classic": 2, "fused": 1, "compute": 2} { // fused: MAX is one reduction
		tr := traced(t, open(t, engine.Options{Backend: backend}, thirds()), "SELECT COUNT(*), MEDIAN(a), SUM(a), MAX(a) FROM t WHERE b > 3")
		chunks := map[int]bool{}
		for _, p := range tr.Passes {
			chunks[p.Chunk] = true
		}
		if len(tr.Grids) != 3 || tr.Grids[2].First != 80 || tr.Grids[2].Rows != 20 || len(chunks) != 3 || len(tr.Sums) != 3 || len(tr.Searches) != searches {
			t.Errorf("%s: %d grids, passes over chunks %v, %d sums, %d searches", backend, len(tr.Grids), chunks, len(tr.Sums), len(tr.Searches))
		}
	}
}

// Where the values of the chunks lie apart, MIN needs no pass on backend classic: the
// passes are those of the search after it.
func TestASearchThatNeedsNoPass(t *testing.T) {
	big := table.Type{Kind: table.BigInt}
	tab := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}}, 8)
	for i := range int64(16) {
		tab.Column(0).Value(table.Int(i / 8 * i))
		if err := tab.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, tab.Table()), "SELECT MIN(a), kth_largest(a, 3) FROM t")
	if len(tr.Searches) != 1 || tr.Searches[0].Aggregate != "kth_largest(a, 3)" {
		t.Fatalf("searches %v, want that of kth_largest(a, 3) alone", tr.Searches)
	}
	if s := tr.Searches[0].Steps; s[len(s)-1].Known != "1101" {
		t.Errorf("the last step is %+v", s[len(s)-1])
	}
}

func TestTooManyPassesAreAnError(t *testing.T) {
	db := open(t, engine.Options{Backend: "classic"}, small())
	const sql = "SELECT SUM(a) FROM t WHERE b < 40"
	n := len(traced(t, db, sql).Passes)
	if _, err := Run(context.Background(), db, sql, Options{MaxPasses: n}); err != nil {
		t.Errorf("%d passes, as many as there may be: %v", n, err)
	}
	_, err := Run(context.Background(), db, sql, Options{MaxPasses: n - 1})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d passes", n-1)) || !strings.Contains(err.Error(), "--max-passes") {
		t.Errorf("%d passes, one too many: %v", n, err)
	}
	if _, err := Run(context.Background(), db, sql, Options{MaxPasses: 1}); err == nil || !strings.Contains(err.Error(), "more than 1 pass:") {
		t.Errorf("2 passes where 1 is allowed: %v", err)
	}
	if _, err := engine.Collect(db.Query(context.Background(), sql)); err != nil { // nothing is left behind
		t.Error(err)
	}
}

func TestWhatCannotBeTraced(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT nothing FROM t":            "nothing",
		"EXPLAIN SELECT COUNT(*) FROM t":   "EXPLAIN",
		"SELECT 1 FROM t; SELECT 2 FROM t": "2 statements",
	} {
		_, err := Run(context.Background(), open(t, engine.Options{Backend: "classic"}, small()), sql, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %s", sql, err, want)
		}
	}
	_, err := Run(context.Background(), open(t, engine.Options{Backend: "cpu"}, small()), statements[0], Options{})
	if err == nil || !strings.Contains(err.Error(), "--backend classic, fused or compute") {
		t.Errorf("backend cpu: error %v", err)
	}
}

func TestAStatementWithoutPasses(t *testing.T) {
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, small()), "SELECT COUNT(*) FROM t WHERE a > 100000")
	var page bytes.Buffer
	if err := tr.WriteHTML(&page); err != nil || len(tr.Passes) != 0 || tr.Answer[0].Value != "0" {
		t.Errorf("%d passes, answer %v, %v", len(tr.Passes), tr.Answer, err)
	}
}

func hasState(p *Pass, what string) bool {
	return slices.ContainsFunc(p.State, func(s [2]string) bool { return s[0] == what })
}

// What a pass lets through is told where the engine does not ask, and the attribute that
// a comparison works on is shown.
func TestAComparisonShowsItsAttributeAndWhatPasses(t *testing.T) {
	tab := small()
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, tab), "SELECT COUNT(*) FROM t WHERE a > 10 AND b < 20")
	want := uint64(0)
	for row := range rows {
		if v := tab.Chunks[0].Segments[0].Value(row); !v.Null && v.I > 10 {
			want++
		}
	}
	copied, compared := tr.Passes[0], tr.Passes[1]
	if compared.Name != "Compare(a > 10)" || compared.Counted || *compared.Passed != want || compared.Tally() != fmt.Sprintf("(%d samples)", want) || !tr.Traced() {
		t.Errorf("%s: counted %v, seen %s, want %d", compared.Name, compared.Counted, compared.Tally(), want)
	}
	if p := compared.Panels[0]; p.Title != "copied: codes of a" || p.Image != copied.Panels[0].Image {
		t.Errorf("the first picture of %s is %+v", compared.Name, p)
	}
}

// The scale of a depth buffer is that of the column's values, in each pass. A NULL is none, wherever
// the pass puts it, nor is a quad.
func TestDepthsHaveTheScaleOfTheirColumn(t *testing.T) {
	for backend, sql := range map[string]string{
		"classic": "SELECT COUNT(a), MAX(a) FROM t WHERE (a > 10 AND a <> 77 OR a < -50) AND b < 60",
		"fused":   "SELECT COUNT(*) FROM t WHERE a > 10",
	} {
		tab := small()
		seg := tab.Chunks[0].Segments[0]
		tr := traced(t, open(t, engine.Options{Backend: backend}, tab), sql)
		n, least, unit := 0, 0.0, float64(1<<textures.LimbBits)
		if backend == "fused" {
			least, unit = 1/float64(textures.DepthMax), textures.DepthMax
		}
		for _, p := range tr.Passes {
			for _, panel := range p.Panels {
				if panel.Kind != "depth" || panel.Column != "a" {
					continue
				}
				n++
				if panel.Lo != least || panel.Hi != least+float64(seg.Max)/unit || !strings.Contains(panel.Ends[1], "400") {
					t.Errorf("%s: %s: %s from %v to %v, %q", backend, p.Name, panel.Title, panel.Lo, panel.Hi, panel.Ends)
				}
				if strings.HasSuffix(p.Name, "(a IS NOT NULL)") && !strings.HasSuffix(panel.Quads[0].Text, "16777216\u00a0/\u00a02^24 (NULL)") {
					t.Errorf("%s: %v", p.Name, panel.Quads)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s: no depths of a", backend)
		}
	}
}

func TestEndsOfLimbs(t *testing.T) {
	big := table.Type{Kind: table.BigInt}
	tab := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}}, 10)
	for _, v := range []int64{0, 5, 1<<50 + 3} {
		tab.Column(0).Value(table.Int(v))
		if err := tab.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	chunk := tab.Table().Chunks[0]
	tr := &tracer{plan: &physical.Query{Table: tab.Table()}}
	const all = 1<<textures.LimbBits - 1
	for _, c := range []struct {
		limb        int
		least, most float64
	}{{0, 0, all}, {1, 0, all}, {2, 0, 4}} {
		lo, hi, _ := tr.scale(&look{Pass: &Pass{}, pass: &pass.Pass{}, grid: newGrid(0, 3)}, &buffer{column: 0, limb: c.limb})
		if lo*(all+1) != c.least || hi*(all+1) != c.most {
			t.Errorf("limb %d of codes up to %d: %v to %v, want %v to %v", c.limb, chunk.Segments[0].Max, lo*(all+1), hi*(all+1), c.least, c.most)
		}
	}
}

func TestStopsGoByRank(t *testing.T) {
	var skewed []uint64
	for i := range uint64(80) {
		skewed = append(skewed, i)
	}
	for _, c := range []struct {
		values []uint64
		lo, hi uint64
		want   []uint64
	}{
		{append(skewed, 10_000), 0, 10_000, []uint64{0, 10, 20, 30, 40, 50, 60, 70, 10_000}},
		{[]uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 1, []uint64{0, 1}},
		{[]uint64{7, 7, 7}, 7, 7, []uint64{7}},
		{nil, 0, 9, []uint64{0, 9}},
	} {
		if got := stops(c.values, c.lo, c.hi); !slices.Equal(got, c.want) {
			t.Errorf("stops %d, want %d", got, c.want)
		}
	}
}

// Of rows in an order the trace has the network. What each step draws, the next one reads, and in the
// end the keys are in order.
func TestSortingNetwork(t *testing.T) {
	tab := small()
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, tab), "SELECT b, a FROM t WHERE a > 10 ORDER BY b DESC, a LIMIT 3")
	if tr.Answer[0].Name != "b" || strings.Count(tr.Answer[0].Value, ",") != 2 {
		t.Errorf("the answer is %v", tr.Answer)
	}
	steps, image := 0, -1
	for _, p := range tr.Passes {
		pairs := map[string]int{}
		for _, panel := range p.Panels {
			if panel.Of == "pairs" {
				pairs[panel.When] = panel.Image
			}
		}
		before, reads := pairs["before"]
		if reads && before != image {
			t.Errorf("%s reads what the pass before has not drawn", p.Name)
		}
		if after, drawn := pairs["after"]; drawn {
			image = after
			steps++
		}
	}
	if steps != 1+10*11/2 { // of 1,000 records, which are filled up to 1,024
		t.Errorf("%d passes draw pairs", steps)
	}
	words := unpack(t, tr.Images[image])
	for i := 4; i < len(words); i += 4 {
		if words[i] < words[i-4] {
			t.Fatalf("texel %d has key %d behind %d", i/4, words[i], words[i-4])
		}
	}
	for _, sql := range []string{"SELECT a FROM t ORDER BY a % 7", "SELECT a FROM t", "SELECT DISTINCT a FROM t ORDER BY a"} {
		if _, err := Run(t.Context(), open(t, engine.Options{Backend: "classic"}, tab), sql, Options{}); err == nil {
			t.Errorf("%s is traced", sql)
		}
	}
}

// Values alone are sorted by blending: each pass shows the keys, the last one in order.
func TestSortingByBlending(t *testing.T) {
	tr := traced(t, open(t, engine.Options{Backend: "classic"}, small()), "SELECT a + 1 FROM t WHERE a > 10 ORDER BY a LIMIT 3")
	if strings.Count(tr.Answer[0].Value, ",") != 2 {
		t.Errorf("the answer is %v", tr.Answer)
	}
	var last *Panel
	steps := 0
	for _, p := range tr.Passes {
		for i, panel := range p.Panels {
			if panel.Of == "keys" && panel.When == "after" {
				last = &p.Panels[i]
				steps++
			}
		}
	}
	if steps != 1+3*8*9/2 { // four keys a texel of 1,000 records, which are filled up to 256 texels
		t.Fatalf("%d passes draw keys", steps)
	}
	words := unpack(t, tr.Images[last.Image])
	if words[0] < 111 || words[0] > 120 { // the code of 11 is 111
		t.Errorf("the first key is %d", words[0])
	}
	for i := 4; i < len(words); i++ {
		if words[i] < words[i-4] {
			t.Fatalf("component %d of texel %d is %d behind %d", i%4, i/4, words[i], words[i-4])
		}
	}
}

// On compute groups and a radix sort are traced, pass by pass; of groups the page has how many there are.
func TestGroupsAndOrderOfCompute(t *testing.T) {
	db := open(t, engine.Options{Backend: "compute"}, small())
	tr := traced(t, db, "SELECT b, COUNT(*) FROM t WHERE b < 7 GROUP BY b")
	if last := tr.Passes[len(tr.Passes)-1]; !strings.HasPrefix(last.Name, "Group(COUNT(*) BY b)") || !strings.HasPrefix(last.Results[0], "7 groups of ") {
		t.Errorf("%s: %q", last.Name, last.Results)
	}
	tr = traced(t, db, "SELECT b, a FROM t WHERE a > 10 ORDER BY b DESC, a")
	if !slices.ContainsFunc(tr.Passes, func(p *Pass) bool { return strings.HasPrefix(p.Name, "Sort(") }) {
		t.Error("no pass sorts")
	}
	tr = traced(t, db, "SELECT b, a FROM t ORDER BY b % 5 DESC, a LIMIT 9")
	if !slices.ContainsFunc(tr.Passes, func(p *Pass) bool { return p.Name == "Make(b % 5)" }) {
		t.Error("no pass makes the codes of an expression")
	}
	if _, err := Run(t.Context(), open(t, engine.Options{Backend: "classic"}, small()), "SELECT b FROM t GROUP BY b", Options{}); err == nil || !strings.Contains(err.Error(), "where compute ") {
		t.Errorf("classic traces groups: %v", err)
	}
}

// Of a join whose pairs compute finds the page has the passes, with the matches that they count, then those over
// its rows.
func TestMatchesOfAJoin(t *testing.T) {
	db := open(t, engine.Options{Backend: "compute"}, small())
	for way, counts := range map[string]string{"hash": "HJ: count the matches", "merge": "SMJ: count the matches", "loops": "NINLJ: count the matches"} {
		if _, err := db.Exec(t.Context(), "SET join = '"+way+"'"); err != nil {
			t.Fatal(err)
		}
		tr := traced(t, db, "SELECT COUNT(*), SUM(y.a) FROM t x JOIN t y ON x.b = y.b WHERE x.b < 7")
		at := slices.IndexFunc(tr.Passes, func(p *Pass) bool { return p.Name == counts })
		if at < 0 || len(tr.Passes[at].Results) == 0 {
			t.Fatalf("%s: no pass counts matches", way)
		}
		rows := strings.ReplaceAll(tr.Passes[at].Results[0], ",", "")
		if want := tr.Answer[0].Value + " matches counted by the program"; rows != want {
			t.Errorf("%s: %q, want %q", way, rows, want)
		}
		if last := tr.Passes[len(tr.Passes)-1]; !strings.HasPrefix(last.Name, "Accumulate(") || len(last.Panels) == 0 {
			t.Errorf("%s: the last pass is %s", way, last.Name)
		}
		for sql, rows := range map[string]string{"SELECT COUNT(*) FROM t x JOIN t y ON x.b = y.b WHERE x.b < 7": tr.Answer[0].Value, "SELECT COUNT(*), SUM(y.a) FROM t x JOIN t y ON x.b = y.b WHERE x.a < -100000": "0"} {
			if tr := traced(t, db, sql); tr.Answer[0].Value != rows || len(tr.Passes) == 0 || len(tr.Grids) != 1 {
				t.Errorf("%s: %s, %d passes, %d grids", sql, tr.Answer[0].Value, len(tr.Passes), len(tr.Grids))
			}
		}
	}
	if _, err := db.Exec(t.Context(), "SET join = hash"); err != nil {
		t.Fatal(err)
	}
	const three = "SELECT COUNT(*), SUM(z.a) FROM t x JOIN t y ON x.b = y.b JOIN t z ON y.a = z.a AND y.b = z.b WHERE x.b < 7"
	var matches []string // of one join after the other
	tr := traced(t, db, three)
	for _, p := range tr.Passes {
		if p.Name == "HJ: count the matches" {
			matches = append(matches, strings.ReplaceAll(p.Results[0], ",", ""))
		}
	}
	if len(matches) != 2 || matches[1] != tr.Answer[0].Value+" matches counted by the program" || !strings.HasPrefix(tr.Passes[len(tr.Passes)-1].Name, "Accumulate(") {
		t.Errorf("%s: matches %q, want those of two joins, the last %s", three, matches, tr.Answer[0].Value)
	}
}

// A comparison of a wide column is several clauses: the page says so where it numbers them.
func TestNumbersOfClausesAreExplained(t *testing.T) {
	tab := table.NewBuilder("t", []table.Field{{Name: "w", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Type: table.Type{Kind: table.BigInt}}}, rows)
	for i := range int64(rows) {
		tab.Column(0).Value(table.Int(i << 30))
		tab.Column(1).Value(table.Int(i % 64))
		if err := tab.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, engine.Options{Backend: "classic"}, tab.Table())
	for sql, want := range map[string]bool{"SELECT COUNT(*) FROM t WHERE b > 3 AND w > 5000000000": true, "SELECT COUNT(*) FROM t WHERE b > 3 AND b <> 7": false} {
		n := 0
		for _, p := range traced(t, db, sql).Passes {
			if !strings.Contains(p.Name, "clause ") {
				continue
			}
			n++
			if got := slices.ContainsFunc(p.Results, func(s string) bool {
				return strings.Contains(s, "after splitting wide columns into 24-bit limbs: w has 40 bits")
			}); got != want {
				t.Errorf("%s: %s: %q", sql, p.Name, p.Results)
			}
		}
		if n < 2 {
			t.Errorf("%s: %d passes number a clause", sql, n)
		}
	}
}

// constant is a table of three rows in which x has one value and n none.
func constant() *table.Table {
	big := table.Type{Kind: table.BigInt}
	tab := table.NewBuilder("c", []table.Field{{Name: "x", Type: big}, {Name: "n", Type: big}, {Name: "z", Type: big}, {Name: "w", Type: big}}, 10)
	for i := range int64(3) {
		tab.Column(0).Value(table.Int(5))
		tab.Column(1).Value(table.Null(big))
		tab.Column(2).Value(table.Int(i))
		tab.Column(3).Value(table.Int(2 - i))
		if err := tab.EndRow(); err != nil {
			panic(err)
		}
	}
	return tab.Table()
}

// degenerate are statements over columns of one value and of none.
var degenerate = []string{
	"SELECT SUM(x), AVG(x), MEDIAN(x) FROM c WHERE z > 0",
	"SELECT SUM(x), SUM(n), MIN(n) FROM c WHERE z <> 1 AND n IS NULL",
	"SELECT SUM(z), MAX(z) FROM c WHERE z > 1 AND w > 1",
	"SELECT SUM(x) FROM c",
}

// The data of a page has lists, not null, where there is nothing.
func TestEmptyListsAreLists(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, engine.Options{Backend: backend}, constant(), small())
		for _, sql := range append(slices.Clone(degenerate), statements...) {
			data, err := json.Marshal(traced(t, db, sql))
			if err != nil {
				t.Fatal(err)
			}
			if at := bytes.Index(data, []byte(":null")); at >= 0 {
				t.Errorf("%s: %s: %s", backend, sql, data[max(0, at-80):at+5])
			}
		}
	}
}

func TestProgressGoesFromPassToPass(t *testing.T) {
	var got []string
	tr, err := Run(context.Background(), open(t, engine.Options{Backend: "classic"}, small()), statements[0],
		Options{Progress: func(done, all int) { got = append(got, fmt.Sprintf("%d/%d", done, all)) }})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range tr.Passes {
		want = append(want, fmt.Sprintf("%d/%d", i+1, len(tr.Passes)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("progress %q, want %q", got, want)
	}
}

// A column's name is written in the names of passes as in SQL, and what they belong to
// is found all the same.
func TestNamesThatNeedQuotes(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "my col", Type: table.Type{Kind: table.BigInt}}, {Name: `Q"(`, Type: table.Type{Kind: table.Integer}}}, 0)
	for i := range int64(200) {
		b.Column(0).Value(table.Value{Type: table.Type{Kind: table.BigInt}, I: i * 37 % 101, Null: i%9 == 4})
		b.Column(1).Int(i % 50)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	for _, backend := range []string{"classic", "fused", "compute"} {
		tr := traced(t, open(t, engine.Options{Backend: backend}, tab), `SELECT SUM("Q""("), MEDIAN("my col") FROM t WHERE "Q""(" > 3`)
		for _, p := range tr.Passes {
			if rest := strings.NewReplacer(`"my col"`, "", `"Q""("`, "").Replace(p.Name + p.Counts); strings.Contains(rest, "my col") || strings.Contains(rest, `Q"`) {
				t.Errorf("%s: %s counts %s: a name without quotes", backend, p.Name, p.Counts)
			}
		}
		if len(tr.Searches) != 1 || len(tr.Searches[0].Steps) < 3 || len(tr.Sums) != 1 {
			t.Errorf("%s: %d searches, %d sums", backend, len(tr.Searches), len(tr.Sums))
		}
	}
}
