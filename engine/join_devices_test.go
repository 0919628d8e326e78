package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/gpujoin"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
)

// joinOfStar is a join of the tables of openStar, and what EXPLAIN says where two devices do it.
type joinOfStar struct {
	sql  string
	want []string
}

func joinsOfStars() []joinOfStar {
	const pairs, star = ") on compute, rows of fact on devices 0, 1", "Group("
	const stays, both = "columns) on compute", "devices 0, 1"
	const chain = " FROM fact x JOIN fact y ON x.b = y.b AND x.m = y.m JOIN twice z ON y.a = z.key "
	return []joinOfStar{
		{"SELECT COUNT(*), SUM(n) FROM fact, dim WHERE a = key", []string{star, both}},
		{"SELECT dim.name, far.name, COUNT(*), SUM(n) FROM fact, dim, far WHERE a = dim.key AND b = far.key GROUP BY 1, 2 ORDER BY 1, 2", []string{star, both}},
		{"SELECT m, COUNT(*) FROM fact WHERE NOT EXISTS (SELECT * FROM far WHERE b = key AND name LIKE '%3%') GROUP BY m ORDER BY m", []string{star, both}},
		{"SELECT COUNT(*) FROM fact x JOIN fact y ON x.b = y.b", []string{pairs}},
		{"SELECT COUNT(*) FROM twice JOIN fact ON a = key", []string{pairs}},
		{"SELECT COUNT(*) FROM far JOIN dim ON length(far.name) - 5 = dim.size", []string{"on compute, rows of dim on devices 0, 1"}}, // the larger one is on one device
		{"SELECT COUNT(*) FROM far x JOIN far y ON x.name = y.name", []string{") on compute, device 0"}},
		{"SELECT a, n, name FROM fact JOIN twice ON a = key WHERE b < 900 ORDER BY n, a, name, m LIMIT 400", []string{pairs}},
		{"SELECT COUNT(*), SUM(n), MIN(name), MEDIAN(m) FROM fact JOIN twice ON a = key", []string{pairs, stays, both}},
		{"SELECT name, COUNT(*), SUM(n), MAX(b) FROM fact JOIN twice ON a = key WHERE m > 2 GROUP BY name ORDER BY name", []string{pairs, stays, both}},
		{"SELECT z.name, y.m, COUNT(*), SUM(x.n)" + chain + "GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 9", []string{pairs, stays, both}},
		{"SELECT COUNT(*), AVG(y.n), MEDIAN(x.n), kth_largest(x.b, 40)" + chain + "WHERE x.n > y.n AND x.n * 2 > z.key - y.n", []string{pairs, ") by compute", stays, both}},
		{"SELECT x.n, y.n, z.name" + chain + "WHERE x.n > y.n ORDER BY x.n, y.n, z.name, x.b LIMIT 70", []string{pairs, ") by compute"}},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE b IN (SELECT far.key FROM far WHERE length(name) = 7) AND n <> 5", []string{both}},
		{"SELECT b, n FROM fact WHERE n > 100 AND EXISTS (SELECT * FROM twice WHERE a = key AND name <> 'red')", []string{"by semi join", pairs}},
		{"SELECT a, n FROM fact WHERE m = 3 AND NOT EXISTS (SELECT 1 FROM dim WHERE a = key)", []string{"by anti join", pairs}},
		{"SELECT key, COUNT(n), SUM(n) FROM fact LEFT JOIN twice ON a = key GROUP BY key ORDER BY key", []string{"by left join", pairs}},
		{"SELECT name, COUNT(n), SUM(n) FROM fact RIGHT JOIN dim ON a = key AND n > 300 GROUP BY name ORDER BY name", []string{"by right join", pairs}},
		{"SELECT name, COUNT(n), SUM(n) FROM fact FULL JOIN twice ON b = key GROUP BY name ORDER BY name", []string{"by full join", pairs}},
		{"SELECT COUNT(*), COUNT(z.key), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n LEFT JOIN twice z ON y.m = z.key", []string{pairs}},
		{"SELECT COUNT(*), SUM(z.m), MIN(w.name) FROM fact x, fact z, twice w, dim d WHERE x.b = z.b AND d.size = w.key AND x.a = d.key AND x.m > z.m", []string{pairs}},
	}
}

// Two devices join what each has of the larger side, whose chunks they share, with all rows of the smaller one. Pairs are counted, go
// to host memory, or stay as rows for the next join, for conditions, aggregates and groups. EXPLAIN says which devices do what.
func TestJoinsOfTwoDevices(t *testing.T) {
	onCPU, onTwo := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute", Device: "0,1"})
	for _, c := range joinsOfStars() {
		want := answerText(onCPU, c.sql)
		if got := answerText(onTwo, c.sql); got != want || strings.HasPrefix(got, "error") {
			t.Errorf("%s:\n got %.300s\nwant %.300s", c.sql, got, want)
		}
		x, err := onTwo.Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		lines, on := strings.Join(x.Lines(), "\n"), map[int]bool{}
		for _, s := range x.Steps {
			if s.Op != nil {
				on[s.Device] = true
			}
		}
		for _, w := range c.want {
			if !strings.Contains(lines, w) {
				t.Errorf("%s: no %q in\n%s", c.sql, w, lines)
			}
		}
		if !slices.Contains(c.want, ") on compute, device 0") && len(on) != 2 {
			t.Errorf("%s: passes on devices %v", c.sql, on)
		}
	}
	for _, text := range []string{ // of the rows that raise an error the same one is first
		"SELECT COUNT(*) FROM fact x JOIN fact y ON x.b = y.b WHERE 10 / (x.m - 3) > 0 AND y.n * 9223372036854775807 > 0",
		"SELECT COUNT(*), SUM(x.n) FROM fact x JOIN twice y ON x.a = y.key WHERE x.n * 9223372036854775807 > 0 AND 10 / (y.key - 3) > 0",
		"SELECT COUNT(*), SUM(x.n) FROM twice y JOIN fact x ON x.a = y.key WHERE x.n * 9223372036854775807 > 0 AND 10 / (y.key - 3) > 0",
		"SELECT b FROM fact WHERE 10 / (m - 3) > 0 AND b IN (SELECT key FROM twice WHERE 10 / (key - 3) > 0)",
		"SELECT COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b AND x.m = y.m JOIN twice z ON y.a = z.key WHERE x.n / (z.key - 3) > y.n",
	} {
		if got, want := answerText(onTwo, text), answerText(onCPU, text); got != want || !strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s, cpu has %s", text, got, want)
		}
	}
	noColumnsLeft(t, onTwo)
}

// What two devices have no room for they join bucket by bucket, what they have none for then, either, cpu joins. A join may have more
// pairs than a block of a device holds. Where their rows are kept for a join, cpu has them, too, whether all devices have that many or
// one.
func TestJoinsThatTwoDevicesHaveNoRoomFor(t *testing.T) {
	const pairs = "SELECT COUNT(*) FROM fact x JOIN fact y ON x.a = y.a"
	const between = "SELECT COUNT(*) FROM far p JOIN far q ON p.key = q.key AND p.name = q.name JOIN fact x ON x.n = q.key" // of p and q one device has the rows
	const many = "SELECT COUNT(*), SUM(x.n), MIN(z.name) FROM fact x JOIN fact y ON x.b % 1000 = y.b % 1000 JOIN dim z ON x.m = z.size"
	onCPU, seen := openStar(t, Options{Backend: "cpu"}), map[string]bool{}
	memory := int64(5 << 10)
	for _, tab := range onCPU.inMemory() {
		memory += tab.Bytes()
	}
	for _, o := range []Options{{GPUMemory: 1 << 10}, {GPUMemory: 192 << 10}, {GPUMemory: 384 << 10}, {HostMemory: memory}, {Device: "0"}, {}} {
		if o.Backend = "compute"; o.Device == "" {
			o.Device = "0,1"
		}
		db, text := openStar(t, o), pairs
		if o.HostMemory > 0 {
			if text = between; answerText(db, "SET join = hash") != "" { // no star
				t.Fatal("SET join")
			}
		} else if o.GPUMemory == 0 {
			if err := Inspect(db).Ready(); err != nil {
				t.Fatal(err)
			}
			for _, g := range devicesOf(db).GPUs { // of 212,268 pairs the second of two devices has fewer
				g.Computes.Primitives.MaxWords = 100_000
			}
			text = many
		}
		if got, want := answerText(db, text), answerText(onCPU, text); got != want || strings.HasPrefix(got, "error") {
			t.Errorf("%+v: %s: %s, want %s", o, text, got, want)
		}
		x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		for _, say := range []string{" on cpu)", "in buckets on compute, rows of fact on devices 0, 1", "on compute, rows of fact on devices 0, 1", "the device has no room for 2", "6000 bytes of rows go from device to device"} {
			if strings.Contains(lines, say) {
				seen[say] = true
			}
		}
		if text == many && !strings.Contains(lines, "the device has no room for 2") {
			t.Error(lines)
		}
		noColumnsLeft(t, db)
	}
	if len(seen) != 5 {
		t.Errorf("EXPLAIN says only %v", seen)
	}
}

// Rows of a join that only the second of two devices has stay there, and are aggregated there. Where it has the row that raises an
// error in the left table, which cpu looks at first, that error comes first. It comes before one of the right table that the first
// device finds, too.
func TestWhatOneOfTwoDevicesHas(t *testing.T) {
	onCPU, onTwo := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute", Device: "0,1"})
	for _, db := range []*DB{onCPU, onTwo} {
		b := table.NewBuilder("steps", []table.Field{{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "v", Type: table.Type{Kind: table.BigInt}}}, 100)
		for i := range 300 {
			b.Column(0).Int(int64(i))
			b.Column(1).Int(int64(i % 7))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Add(b.Table()); err != nil {
			t.Fatal(err)
		}
		if got := answerText(db, "SET join = hash"); got != "" { // no stars
			t.Fatal(got)
		}
	}
	const from = " FROM steps s JOIN far f ON s.k = f.key AND s.v < f.key WHERE s.k BETWEEN "
	for _, text := range []string{
		"SELECT COUNT(*), SUM(s.v), MIN(f.name), MEDIAN(f.key)" + from + "120 AND 180",
		"SELECT f.name, s.v, COUNT(*), SUM(f.key)" + from + "120 AND 180 GROUP BY 1, 2 ORDER BY 1, 2",
		"SELECT f.name, s.v, COUNT(*), SUM(f.key)" + from + "40 AND 280 GROUP BY 1, 2 ORDER BY 1, 2",
		"SELECT COUNT(*), SUM(s.v), MIN(f.name)" + from + "120 AND 180 AND s.v > 100",
		"SELECT COUNT(*) FROM steps s JOIN twice y ON s.v = y.key WHERE 10 / (s.k - 150) > -100 AND y.key * 9223372036854775807 >= 0",
		"SELECT COUNT(*) FROM steps s WHERE 10 / (s.k - 150) > -100 AND EXISTS (SELECT 1 FROM twice y WHERE y.key = s.v AND y.key * 9223372036854775807 >= 0)",
		"SELECT s.k FROM (SELECT * FROM steps WHERE 10 / (k - 150) > -100) s JOIN (SELECT * FROM twice WHERE key * 9223372036854775807 >= 0) y ON s.v = y.key",
	} {
		got, want := answerText(onTwo, text), answerText(onCPU, text)
		if got != want || strings.HasPrefix(want, "error") != strings.Contains(text, "10 /") {
			t.Errorf("%s: %s, cpu has %s", text, got, want)
		}
	}
	x, err := onTwo.Explain(context.Background(), "SELECT SUM(s.v), MIN(f.name)"+from+"120 AND 180", ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "Gather(2 columns) on compute") || !strings.Contains(lines, "bits), device 1") {
		t.Error(lines)
	}
	noColumnsLeft(t, onTwo)
}

// noColumnsLeft checks that no device has something of rows of joins.
func noColumnsLeft(t *testing.T, db *DB) {
	t.Helper()
	db.backends.Release()
	d, _, err := db.backends.Now()
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range d.GPUs {
		left := -1
		if err := g.Context.Do(context.Background(), func() error { left = g.Store.Sources(); return nil }); err != nil || left != 0 {
			t.Errorf("%d columns are left on device %d, %v", left, i, err)
		}
	}
}

// Random joins of two devices have the rows that cpu's have, by each algorithm.
func TestRandomJoinsOfTwoDevices(t *testing.T) {
	onCPU, onTwo := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute", Device: "0,1"})
	for _, db := range []*DB{onCPU, onTwo} {
		for _, name := range []string{"fact", "dim"} { // every third row of each chunk is deleted
			tab, chunks := db.entry(name).Table.Load(), []*table.Chunk(nil)
			for _, c := range tab.Chunks {
				rows := make([]int, c.Rows/3)
				for i := range rows {
					rows[i] = 3 * i
				}
				c, err := c.Delete(rows)
				if err != nil {
					t.Fatal(err)
				}
				chunks = append(chunks, c)
			}
			if err := db.replace(tab.With(chunks...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
		key := func(table string) string {
			return table + "." + pick("key", map[string][]string{"x": {"a", "b", "m"}, "y": {"a", "b", "n"}, "dim": {"key", "size"}, "twice": {"key"}, "far": {"key"}}[table]...)
		}
		tables := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "dim", "twice", "far"}), 2, 4, rapid.ID[string]).Draw(r, "tables")
		from := func(table string) string {
			if len(table) == 1 {
				return "fact " + table
			}
			return table
		}
		text := from(tables[0])
		for i, other := range tables[1:] {
			on := key(tables[rapid.IntRange(0, i).Draw(r, "joined to")]) + " = " + key(other)
			if i == 0 && len(tables) > 2 || pick("also", "no", "no", "yes") == "yes" {
				on += " AND " + key(tables[i]) + pick("compares", " < ", " <> ", " = ") + key(other)
			}
			text += pick("kind", " JOIN ", " JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + from(other) + " ON " + on
		}
		first, last := tables[0], tables[len(tables)-1]
		if where := pick("WHERE", "", "<", "EXISTS", "NOT EXISTS"); where == "<" {
			text += " WHERE " + key(first) + " < 30"
		} else if where != "" {
			text += " WHERE " + where + " (SELECT 1 FROM twice t WHERE t.key = " + key(first) + ")"
		}
		a, b := key(first), key(last)
		text = pick("what", "SELECT COUNT(*) FROM ",
			fmt.Sprintf("SELECT COUNT(*), SUM(%s), MIN(%s), MEDIAN(%s), COUNT(%s) FROM ", a, b, b, b),
			fmt.Sprintf("SELECT %s AS k, COUNT(*), SUM(%s), MAX(%s) FROM ", a, b, b)) + text
		if strings.Contains(text, " AS k") {
			text += " GROUP BY 1 ORDER BY 1"
		}
		way := "SET join = " + pick("way", "auto", "hash", "merge", "index")
		for _, db := range []*DB{onCPU, onTwo} {
			if got := answerText(db, way); strings.HasPrefix(got, "error") {
				r.Fatal(got)
			}
		}
		if got, want := answerText(onTwo, text), answerText(onCPU, text); got != want {
			r.Errorf("%s by %s:\n got %.300s\nwant %.300s", text, way, got, want)
		}
	})
	noColumnsLeft(t, onTwo)
}

// What joins leave on two devices goes with the statement, after errors, cancellations and faults of one of them, too. There is room
// for the next one, as often as one runs.
func TestRowsOfJoinsOfTwoDevicesAreReleased(t *testing.T) {
	db := openStar(t, Options{Backend: "compute", Device: "0,1", GPUMemory: 2 << 20})
	const chain = "SELECT COUNT(*), SUM(x.n), MIN(z.name) FROM fact x JOIN fact y ON x.b = y.b JOIN twice z ON y.a = z.key WHERE x.m < 6"
	want := answerText(openStar(t, Options{Backend: "cpu"}), chain)
	for i := range 20 {
		if _, err := Collect(db.Query(context.Background(), "SELECT SUM(1 / (x.m - z.key)) FROM fact x JOIN fact y ON x.b = y.b JOIN twice z ON y.a = z.key")); err == nil || !strings.Contains(err.Error(), "division by zero") {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
		_, _ = Collect(db.Query(ctx, chain))
		cancel()
	}
	x, err := db.Explain(context.Background(), chain, ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(x.Lines(), "\n"); strings.Contains(lines, "on cpu)") || strings.Count(lines, "rows of fact on devices 0, 1") != 2 {
		t.Error(lines)
	}
	noColumnsLeft(t, db)
	d, _, _ := db.backends.Now()
	var lost bool
	d.GPUs[1].Wrap = func(run pass.Runner) pass.Runner {
		return faulty{run, func(*pass.Pass) error {
			lost = true
			return glctx.ErrContextLost
		}}
	}
	if _, err := Collect(db.Query(context.Background(), chain)); err == nil || !lost {
		t.Errorf("%v of a device that is lost, %v", err, lost)
	}
	if got := answerText(db, chain); got != want {
		t.Errorf("after that %s, want %s", got, want)
	}
}

// Of a join that two devices divide auto predicts what the one with more to do takes.
func TestPredictionOfJoinsOfTwoDevices(t *testing.T) {
	curve := func(fixed, row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(8, []cost.Point{{Rows: 1000, Seconds: fixed}, {Rows: 1_000_000, Seconds: fixed + row*999_000}})}
	}
	var predicted []float64
	for _, device := range []string{"0", "0,1"} {
		db := openStar(t, Options{Backend: "auto", Device: device, Calibrations: t.TempDir()})
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		caps := devicesOf(db).GPUs[0].Context.Caps()
		caps.Software = false
		p, err := cost.Default(true, 2)
		if err != nil {
			t.Fatal(err)
		}
		host, there := p.Backends["cpu"], p.Backends["compute"]
		host.Costs[cost.Join], host.Costs[cost.Pairs] = curve(1, 1e-3), curve(0, 1e-3)
		there.Costs[cost.Join], there.Costs[cost.Pairs] = curve(1e-5, 1e-4), curve(0, 1e-4)
		there.Upload = cost.Transfer{Band: 1e9}
		p.Backends["cpu"], p.Backends["compute"] = host, there
		db.backends.Costs.Now = cost.Costs{Profile: p}
		x, err := db.Explain(context.Background(), "SELECT x.n, name FROM fact x JOIN twice ON x.b = key ORDER BY 1, 2 LIMIT 30", ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range x.Steps {
			if why, ok := strings.CutPrefix(s.Counts, "auto predicted compute "); ok {
				ms, err := strconv.ParseFloat(strings.Fields(why)[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				predicted = append(predicted, ms)
			}
		}
		caps.Software = true
	}
	if len(predicted) != 2 || predicted[1] > 0.8*predicted[0] || predicted[1] < 0.5*predicted[0] { // 3,300 of 5,000 rows
		t.Errorf("one device takes %v ms, two the other", predicted)
	}
}

// The lists that one join leaves on two devices are there until the next one has what it takes of them: then both release them.
func TestListsAreReleasedOnBothDevices(t *testing.T) {
	db := openStar(t, Options{Backend: "compute", Device: "0,1"})
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	ctx, p := context.Background(), &gpujoin.Pairing{View: db.view(), Took: &querystats.Collector{}, Memory: 1 << 30}
	defer func() {
		p.Close()
		db.backends.Release()
	}()
	column := func(table string, i int) *expr.Column {
		f := db.entry(table).Table.Load().Fields[i]
		return &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1}
	}
	join := func(key int) *physical.JoinQuery { // of a column of fact and twice.key
		q := &physical.JoinQuery{Cmp: expr.EQ, Algorithm: "hash", Limit: 1 << 31, Keys: []physical.JoinKey{{column("fact", key), column("twice", 0)}}}
		for i, name := range []string{"fact", "twice"} {
			var err error
			q.Sides[i], err = physical.NewQuery(db.entry(name).Table.Load(), &plan.Fragment{Table: name, Where: &expr.IsNull{X: q.Keys[0][i], Not: true, P: -1}})
			if err != nil {
				t.Fatal(err)
			}
		}
		q.KeepOnDevice = &[2][]physical.RowIDs{{{}}, {{}}}
		return q
	}
	first, _, err := p.Find(ctx, join(0))
	if err != nil {
		t.Fatal(err)
	}
	rows := first.Held[0][0]
	if len(rows.Parts) != 2 || rows.Parts[0] == 0 || rows.Parts[1] == 0 || rows.Parts[0]+rows.Parts[1] != int(first.N) {
		t.Fatalf("%d rows, of the devices %v", first.N, rows.Parts)
	}
	left := func(d int) error {
		g, v := devicesOf(db).GPUs[d], rows.On.([]*physical.Held)[d].On.(primitives.Vector)
		return g.Query(ctx, func() error { _, err := v.Read(g.GL); return err })()
	}
	if left(0) != nil || left(1) != nil {
		t.Errorf("of the first join %v, %v", left(0), left(1))
	}
	q := join(3)
	q.RowIDs[0], q.KeepOnDevice[0] = physical.RowIDs{Held: rows}, []physical.RowIDs{{Held: rows}}
	second, _, err := p.Find(ctx, q)
	if err != nil || second.N != 2*first.N { // m is one of twice's keys
		t.Fatalf("%d rows, then %d, %v", first.N, second.N, err)
	}
	lists, err := p.Read(ctx, second.Held[0], nil)
	if err != nil || len(lists) != 1 || len(lists[0]) != int(second.N) {
		t.Errorf("of the second join %d lists, %v", len(lists), err)
	}
	if left(0) == nil || left(1) == nil {
		t.Errorf("of the first join there are rows yet: %v, %v", left(0), left(1))
	}
}

// afterwards is a runner that does something after each pass.
type afterwards struct {
	pass.Runner
	do func()
}

func (a afterwards) Run(p *pass.Pass) (pass.Count, error) {
	c, err := a.Runner.Run(p)
	a.do()
	return c, err
}

// A statement whose context ends in any pass of its joins leaves no columns on the device, though nobody waits for what that is at.
func TestCancelledJoinsLeaveNoColumns(t *testing.T) {
	db := openStar(t, Options{Backend: "compute"})
	const chain = "SELECT COUNT(*), SUM(x.n), MIN(z.name) FROM fact x JOIN fact y ON x.b = y.b JOIN twice z ON y.a = z.key WHERE x.m < 6"
	if got := answerText(db, chain); strings.HasPrefix(got, "error") {
		t.Fatal(got)
	}
	d, _, _ := db.backends.Now()
	for last, ended := 0, true; ended; last++ {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		d.GPUs[0].Wrap = func(run pass.Runner) pass.Runner {
			return afterwards{run, func() {
				if n++; n == last+1 {
					cancel()
					time.Sleep(2 * time.Millisecond)
				}
			}}
		}
		_, err := Collect(db.Query(ctx, chain))
		ended = err != nil
		cancel()
		noColumnsLeft(t, db)
	}
}
