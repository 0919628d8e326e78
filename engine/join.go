package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// findStar finds out whether the statement aggregates a star of joins, which a device that may be asked does in
// one sweep.
func (s *planned) findStar() bool {
	f, db := s.fragment, s.db
	if name := db.Backend(); name != "compute" && (name != "auto" || !db.mayHaveHardware()) || db.now().join != "auto" {
		return false
	}
	if a := s.grouped(); a != nil && f.Where == nil {
		of, err := s.joining()
		if err != nil {
			return false // which the join says
		}
		s.starKey = starKey(f.Join, a, of.Tables)
		if s.star, _ = db.stars.Get(s.starKey); s.star == nil {
			s.star = db.cpu.(cpuBackend).NewStar(f.Join, a, of)
		} else if s.star.Declined() {
			s.star = nil
		}
	}
	return s.star != nil
}

// maxStars is how many stars of joins the devices keep arrays of.
const maxStars = 32

// stars are the stars that ran last, by [starKey]: a statement may be prepared anew each time, such as one that has
// run its subqueries. Of others the devices keep no arrays.
type stars = lru.Cache[string, *cpu.Star]

func (db *DB) newStars() *stars {
	kept, _ := lru.NewWithEvict(maxStars, func(_ string, s *cpu.Star) { db.dropArrays(s) }) // only a size below 1 is an error
	return kept
}

// dropArrays has the devices drop the arrays of a star. It does not wait for that.
func (db *DB) dropArrays(s *cpu.Star) {
	if d, _, err := db.opened(); d != nil && err == nil {
		db.snapshots.releases.Go(func() { d.drop(s.Arrays()) })
	}
}

// keep keeps a star among those that ran last.
func (db *DB) keep(key string, s *cpu.Star) {
	if old, ok := db.stars.Peek(key); ok && old != s { // which took its place meanwhile
		db.dropArrays(old)
	}
	db.stars.Add(key, s)
}

// starKey is a text that only aggregations of the same over the same joins of the same snapshots have in common.
func starKey(n *plan.Join, a *plan.Aggregate, tables []*table.Table) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "%p ", t)
	}
	plan.Walk(n, func(n plan.Node, depth int) {
		fmt.Fprintln(&b, depth, n)
		for _, e := range plan.Exprs(n) {
			fmt.Fprintln(&b, expr.Identity(e))
		}
	})
	for _, k := range a.Keys {
		fmt.Fprintln(&b, "by", k, expr.Identity(k))
	}
	for _, g := range a.Aggs {
		fmt.Fprintln(&b, g, g.Reads(), expr.Identity(g.Argument()), expr.Identity(g.Filter))
	}
	return b.String()
}

// ofSubplans reports that a star has the rows of subplans, which no other statement has.
func (s *planned) ofSubplans() bool {
	return slices.ContainsFunc(plan.Scans(s.fragment.Join), func(n *plan.Scan) bool { return n.Of != nil })
}

// grouped is the aggregation over the rows of the join; without aggregates and keys where there is none.
func (s *planned) grouped() *plan.Aggregate {
	if f := s.fragment; f.Groups == nil && len(f.Aggs) > 0 {
		return &plan.Aggregate{Aggs: f.Aggs}
	} else if f.Groups != nil {
		return f.Groups
	}
	return nil
}

// mayHaveHardware reports that a device is open which is no software, or that one may yet be opened.
func (db *DB) mayHaveHardware() bool {
	d, tried, _ := db.opened()
	return d == nil && !tried || d != nil && !d.list[0].Context.Caps().Software
}

// scanned are the snapshots of the tables, a scan each.
func (s *planned) scanned() (list []*table.Table) {
	for _, scan := range s.scans {
		for i, r := range s.sources {
			if r == scan {
				list = append(list, s.tables[i])
			}
		}
	}
	return list
}

// joining is what the fragment joins, without the columns that are wanted.
func (s *planned) joining() (of cpu.Joining, err error) {
	of = cpu.Joining{Tables: s.scanned(), Way: s.db.now().join, ChunkRows: s.db.chunkRows()}
	if of.Memory, err = s.db.hostBudget(); err == nil && of.Memory == 0 {
		of.Memory = glctx.FreeHostMemory()
	}
	return of, err
}

// withJoin is the statement for the table of the rows that its joins give, which stays on devices until
// done is called. What devices take for that is added to took. Where compute aggregates the rows, their columns may be on a device alone:
// not where another backend b is to do that, nil where none is chosen yet. Where a device fails on auto, or what it leaves there has no room
// in host memory, cpu joins.
func (s *planned) withJoin(ctx context.Context, b backend, took *took) (joined *planned, done func(), err error) {
	pairing := &pairing{db: s.db, watch: s.watch, took: took}
	joined, done, err = s.joinedBy(ctx, pairing, b)
	if s.db.Backend() == "auto" && (errors.Is(err, glctx.ErrFault) || errors.Is(err, errRowsLost) || pairing.holds != nil && errors.As(err, new(*cpu.TooLarge))) {
		return s.joinedBy(ctx, nil, b)
	}
	return joined, done, err
}

// joinedBy is withJoin with the pairs that a device finds, where who looks for them is not nil.
func (s *planned) joinedBy(ctx context.Context, pairing *pairing, b backend) (joined *planned, done func(), err error) {
	of, err := s.joining()
	if err != nil {
		return nil, nil, err
	}
	of.Columns, of.AtMost, of.Above = s.fragment.Reads(), plan.Wanted(s.tree), plan.Conjuncts(s.fragment.Where)
	seen := map[plan.Node]int{}
	var nodes []plan.Node
	plan.Walk(s.fragment.Join, func(n plan.Node, _ int) { nodes = append(nodes, n) })
	of.Gave = func(at, rows int) { seen[nodes[at]] = rows }
	release := pairing.release
	defer func() { release() }()
	switch name := s.db.Backend(); {
	case pairing == nil:
	case name == "compute":
		of.Pairs, of.Declined = pairing.find, pairing.declined
	case name == "auto" && s.db.mayHaveHardware():
		of.Pairs, pairing.predicts = pairing.chosen, true
	}
	if of.Pairs != nil && s.watch == nil { // who looks at passes sees what one join gives to the next
		of.Hold = pairing
		if s.aggregates() && (b == nil || onDevice(b)) {
			of.Stays = func(t *table.Table) bool { return s.fitsDevice(ctx, t) }
		}
	}
	t, steps, away, err := s.db.cpu.(cpuBackend).Join(ctx, s.fragment.Join, of)
	if err != nil {
		return nil, nil, err
	}
	joined = &planned{Statement: s.Statement, tables: s.tables, joined: pairing.steps(steps), joinedOn: "cpu", seen: seen, away: away}
	if pairing != nil && len(pairing.ran) > 0 {
		joined.joinedOn = "compute"
	}
	if err := joined.lower(t); err != nil {
		return nil, nil, err
	}
	done = s.db.pinned(t)
	if away != nil {
		done, release = both(done, pairing.release), func() {}
	}
	return joined, done, nil
}

// here is the statement for the same rows in host memory, where their columns are on a device alone. Those that a device has lost are
// joined again on auto.
func (s *planned) here(ctx context.Context) (now *planned, done func(), err error) {
	t, err := s.away.Table(ctx)
	if err != nil && ctx.Err() == nil && s.db.Backend() == "auto" {
		return (&planned{Statement: s.Statement, tables: s.tables}).joinedBy(ctx, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	now = &planned{Statement: s.Statement, tables: s.tables, joined: s.joined, joinedOn: s.joinedOn, seen: s.seen}
	if err := now.lower(t); err != nil {
		return nil, nil, err
	}
	return now, s.db.pinned(t), nil
}

// aggregates reports that nothing but aggregates and groups are asked of the fragment's rows.
func (s *planned) aggregates() bool {
	only := len(s.fragment.Aggs) > 0 || s.fragment.Groups != nil
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		switch n.(type) {
		case *plan.GroupingSets, *plan.CountDistinct:
			only = false
		}
	})
	return only
}

// fitsDevice reports that compute does the statement as a whole over a table whose columns are on a device alone, within its memory.
func (s *planned) fitsDevice(ctx context.Context, t *table.Table) (does bool) {
	q, err := plan.NewQuery(t, s.fragment)
	if err != nil || s.fragment.Otherwise != nil && len(q.Aggs) == 0 {
		return false
	}
	var opening time.Duration
	err = s.db.on(ctx, "compute", &opening, func(b backend) error {
		p := b.(*passes)
		of := part{g: p.list[0], q: q}
		if q.Groups != nil {
			if done, err := p.findGroups(&pass.Recorder{}, of.g, q); !done || err != nil {
				return err
			}
		}
		need, err := p.footprint(of)
		does = err == nil && need <= p.room()
		return err
	})
	return err == nil && does
}

// onDevice reports that a backend is compute, which has the columns that are on a device alone.
func onDevice(b backend) bool {
	v, ok := b.(*passes)
	return ok && v.name == "compute"
}

// reaches is a [plan.Declined] where a backend does not have the statement's rows.
func (s *planned) reaches(b backend) error {
	if s.away != nil && !onDevice(b) {
		return &plan.Declined{Why: "the rows of the joins are on a device"}
	}
	return nil
}

// leaves reports that an error of a statement whose rows are away leaves it to be done over rows in host memory.
func (s *planned) leaves(err error) bool {
	return s.away != nil && (declined(err) || lacks(err) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDeviceMemory))
}

// suited is the statement as a backend does it: of a star it takes the largest table, or the rows of the join.
func (s *planned) suited(ctx context.Context, b backend, took *took) (now *planned, done func(), err error) {
	if s.star == nil {
		return s, func() {}, nil
	}
	if v, ok := b.(*passes); ok && algorithms[v.name].groups != nil {
		err := s.star.Prepare(ctx)
		if !s.ofSubplans() { // nor is what is declined looked at again
			s.db.keep(s.starKey, s.star)
		}
		if !declined(err) {
			return s, func() {}, err
		}
	}
	return s.withJoin(ctx, b, took)
}

// pairing has compute find the pairs of joins, and notes its passes.
type pairing struct {
	db    *DB
	took  *took
	watch func(Stage) pass.Runner // nil for nobody
	ran   []Step
	holds *GPU       // the device that keeps rows for the joins to come; nil for none
	kept  []*lasting // there, for its GL thread

	predicts bool          // it does what is predicted to be faster than cpu is, as auto wants it
	opening  time.Duration // what opening the device took, of joins to come
	choices  []Step        // of who joins, and why
}

// declined notes why a join is left to cpu.
func (p *pairing) declined(n *plan.Join, why string) {
	p.choices = append(p.choices, Step{Pass: "Choice(" + n.String() + " on cpu)", Counts: why})
}

// chosen is find where that is predicted to be faster than cpu is, and there is hardware for it.
func (p *pairing) chosen(ctx context.Context, q *plan.PairQuery) (found plan.Pairs, how string, err error) {
	stays := func(why string) error {
		p.choices = append(p.choices, Step{Pass: "Choice(join on cpu)", Counts: why})
		return &plan.Declined{Why: why}
	}
	if q.Way == "loops" {
		return found, "", stays("nested loops have no costs")
	}
	there, why, err := p.db.predictPairs(q)
	if err != nil {
		return found, "", err
	}
	if !there {
		return found, "", stays(why)
	}
	if err := p.opens(ctx); declined(err) {
		return found, "", stays(err.Error())
	} else if err != nil {
		return found, "", err
	}
	if found, how, err = p.find(ctx, q); errors.Is(err, glctx.ErrFault) || errors.Is(err, ErrUnsupported) || errors.As(err, new(*plan.Declined)) {
		return found, how, stays(err.Error())
	}
	p.choices = append(p.choices, Step{Pass: "Choice(join on compute)", Counts: why})
	return found, how, err
}

// opens opens the device; a [plan.Declined] where auto does without it.
func (p *pairing) opens(ctx context.Context) error {
	_, err := p.db.openDevice(ctx, &p.opening)
	switch {
	case p.db.fatal(err) || ctx.Err() != nil:
		return cmp.Or(ctx.Err(), err)
	case err != nil:
		return &plan.Declined{Why: err.Error()}
	case !p.db.mayHaveHardware():
		return &plan.Declined{Why: "the device is software"}
	}
	return nil
}

// predictPairs predicts whether finding the pairs of a join takes compute less time than cpu, and says why.
func (db *DB) predictPairs(q *plan.PairQuery) (there bool, why string, err error) {
	w := cost.OfPairs(q)
	return db.predictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) {
		onHost = host.Run(w)
		if q.Taken != nil { // they do not leave the device
			w = w.Over([]int{0})
		}
		onDevice = device.Run(w)
		for i, l := range q.Lists {
			switch bytes := int64(4 * l.Len()); {
			case l.Held != nil && q.Taken != nil:
				onHost += device.Upload.Time(bytes * int64(max(1, len(q.Taken[i])))) // which come from there
			case l.Held != nil:
				onHost += device.Upload.Time(bytes)
			case l.Rows != nil:
				onDevice += device.Upload.Time(bytes)
			}
		}
		return onHost, onDevice
	})
}

// predictWork predicts whether work takes compute less time than cpu, and says why, with what either takes alone. What the
// upload of columns and opening the device take is charged in part, as a statement is.
func (db *DB) predictWork(w *cost.Work, takes func(host, device *cost.Backend) (onHost, onDevice float64)) (there bool, why string, err error) {
	costs, err := db.costs.get()
	if err != nil {
		return false, "", err
	}
	host, gpu := costs.Profile.Backends["cpu"], costs.Profile.Backends["compute"]
	onCPU, on := cost.Prediction{Backend: "cpu"}, cost.Prediction{Backend: "compute"}
	onCPU.Run, on.Run = takes(&host, &gpu)
	var at contents
	if d, _, _ := db.opened(); d != nil {
		at = d.contents()
	} else {
		on.Opening = costs.Profile.Opening
	}
	gpu.Lack(&on, w, func(c cost.Column) bool { return at.has("compute", c) })
	var missing []columnOf
	for _, c := range w.Columns {
		if of := (columnOf{c.Table, c.Name}); !at.has("compute", c) && !slices.Contains(missing, of) {
			missing = append(missing, of)
		}
	}
	if on.Opening > 0 {
		missing = append(missing, device)
	}
	on.Share = db.uses.share(on.Transfer+on.Opening, missing...)
	if on.Run < onCPU.Run && on.Total() >= onCPU.Total() { // it would have gained from these
		db.uses.add(missing...)
	}
	list := []cost.Prediction{onCPU, on}
	cost.Cheapest(list)
	why = "auto predicted"
	for i, of := range list {
		why += map[bool]string{true: ","}[i > 0] + " " + strings.Join(strings.Fields(predictionLine(of)), " ")
	}
	return list[0].Backend == "compute", why, nil
}

// find is a [cpu.FindPairs]. What a device has no room for is joined bucket by bucket, what it has no room for then, either, is left to cpu.
func (p *pairing) find(ctx context.Context, q *plan.PairQuery) (found plan.Pairs, how string, err error) {
	host, where := cpu.New(0), " on compute"
	err = p.db.on(ctx, "compute", &p.opening, func(b backend) (err error) {
		p.took.start(b.Name(), p.opening)
		p.opening = 0
		g := b.(*passes).list[0] // which has the whole of both tables for it
		if err := p.on(g, heldOf(q)...); err != nil {
			return err
		}
		n := &noting{Runner: g.GL, g: g, of: func(p *pass.Pass) *table.Table { return compute.SideOf(q, p).Table }}
		out := struct { // which the GL thread may still write when ctx has ended
			found plan.Pairs
			where string
		}{where: where}
		do := func() error {
			return g.metered(ctx, q.Sides[0], n, p.took, func(run pass.Runner) (err error) {
				if p.watch != nil {
					n.Runner = p.watch(Stage{Runner: g.GL, Context: g.Context, Pairs: q})
				}
				err = run.Apart(q.Sides[0].Table, func() error {
					if out.found, err = compute.Pairs(run, g.Computes, q); err == nil {
						err = p.keep(g, q, out.found.Held)
					}
					return err
				})
				if lacks(err) && p.watch == nil && q.Taken == nil {
					out.where = " in buckets on compute"
					rows := [2]iter.Seq2[table.Block, error]{host.Rows(ctx, q.Sides[0]), host.Rows(ctx, q.Sides[1])}
					out.found, err = compute.PairsInBuckets(run, g.Computes, q, rows, b.(*passes).room()/2)
					n.steps = added(n.steps)
				}
				return err
			})()
		}
		if p.watch != nil { // until the pass that runs when ctx ends: see [Inside.Watch]
			err = g.Context.Do(context.WithoutCancel(ctx), do)
		} else {
			err = do()
		}
		if err == nil {
			found, where = out.found, out.where
			p.ran = append(p.ran, n.steps...)
		}
		return err
	})
	if errors.As(err, new(*textures.BudgetError)) {
		err = &plan.Declined{Why: err.Error()}
	}
	return found, map[string]string{"perfect": "perfect hash join (PHJ)", "hash": "hash join (HJ)", "merge": "sort-merge join (SMJ)", "loops": "non-indexed nested loops (NINLJ)", "index": "indexed nested loops (INLJ)"}[found.Way] + where, err
}

// heldOf are the lists on a device that a query takes rows of.
func heldOf(q *plan.PairQuery) (list []*plan.Held) {
	all := q.Lists[:]
	if q.Taken != nil {
		all = slices.Concat(all, q.Taken[0], q.Taken[1])
	}
	for _, l := range all {
		list = append(list, l.Held)
	}
	return list
}

// lasting is working memory that stays for the joins to come.
type lasting struct {
	*pass.Scope
	g *GPU
}

// keep keeps what a join has left on a device, and releases what that was made of, on the GL thread.
func (p *pairing) keep(g *GPU, q *plan.PairQuery, held [2][]*plan.Held) error {
	if q.Taken == nil {
		return nil
	}
	k := &lasting{g.GL.Open(), g}
	p.kept = append(p.kept, k)
	for _, h := range slices.Concat(held[0], held[1]) {
		h.By = k
		if v := h.On.(primitives.Vector); !v.None() {
			if err := g.GL.Hand(v.Block, k.Scope); err != nil {
				return err
			}
		}
	}
	for _, h := range heldOf(q) {
		if h != nil {
			h.By.(*lasting).Close()
		}
	}
	return nil
}

// release releases what is kept, after what the GL thread may be at.
func (p *pairing) release() {
	if p == nil {
		return
	}
	if g := p.holds; g != nil {
		p.db.snapshots.releases.Go(func() {
			_ = g.Context.Do(context.Background(), func() error { // of a closed device nothing is left
				for _, k := range p.kept {
					if k.g == g && !g.closed {
						k.Close()
					}
				}
				return nil
			})
		})
	}
}

var errRowsLost = errors.New("engine: the device was closed while rows of a join were there: run the statement again")

// on notes the device that keeps what the joins find: lists of another one are lost.
func (p *pairing) on(g *GPU, lists ...*plan.Held) error {
	for _, h := range lists {
		if h != nil && h.By.(*lasting).g != g {
			return errRowsLost
		}
	}
	p.holds = g
	return nil
}

// Read implements [cpu.Holder].
func (p *pairing) Read(ctx context.Context, list []*plan.Held, places []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(list)) // which the GL thread may still write when ctx has ended
	err := p.db.on(ctx, "compute", &p.opening, func(b backend) error {
		g := b.(*passes).list[0]
		if err := p.on(g, list...); err != nil {
			return err
		}
		return g.query(ctx, func() (err error) {
			at := primitives.FromSlice(places)
			for i, h := range list {
				if h == nil {
					continue
				}
				if out[i] = []uint32{}; h.N == 0 || places != nil && at.N == 0 { // not nil, which is all rows
					continue
				}
				rows := h.On.(primitives.Vector)
				if places != nil {
					all := rows
					rows = primitives.New(at.N)
					if err := primitives.Gather(g.GL, g.Computes.Primitives, all, at, rows); err != nil {
						return err
					}
				}
				if out[i], err = rows.Read(g.GL); err != nil {
					return err
				}
			}
			return nil
		})()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Columns implements [cpu.Holder].
func (p *pairing) Columns(ctx context.Context, list []cpu.HeldColumn) ([]*table.Segment, error) {
	if err := p.gathers(list); err != nil {
		return nil, err
	}
	var out []*table.Segment // which the GL thread may still write when ctx has ended
	err := p.there(ctx, list, func(g *GPU, run pass.Runner, passes *noting) (err error) {
		out, err = p.gathered(g, run, passes, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Where implements [cpu.Holder].
func (p *pairing) Where(ctx context.Context, list []cpu.HeldColumn, query func([]*table.Segment) (*plan.Query, error), lists []plan.RowList) ([]*plan.Held, int, error) {
	var held []*plan.Held
	n := 0
	err := p.there(ctx, list, func(g *GPU, run pass.Runner, passes *noting) error {
		segments, err := p.gathered(g, run, passes, list)
		if err != nil {
			return err
		}
		columns := p.kept[len(p.kept)-1]
		defer func() {
			g.Store.Drop(segments...)
			columns.Close()
		}()
		q, err := query(segments)
		if err != nil {
			return err
		}
		passes.of = func(*pass.Pass) *table.Table { return q.Table }
		return run.Apart(q.Table, func() error {
			rows, err := compute.Selected(run, g.Computes, q)
			if err != nil {
				return err
			}
			if held, err = compute.Taken(run, g.Computes, lists, rows); err != nil {
				return err
			}
			n = rows.N
			return p.keep(g, &plan.PairQuery{Taken: &[2][]plan.RowList{lists}}, [2][]*plan.Held{held})
		})
	})
	if err != nil {
		return nil, 0, err
	}
	return held, n, nil
}

// there has do run on the device that has the rows of columns; a [plan.Declined] where that cannot do it.
func (p *pairing) there(ctx context.Context, list []cpu.HeldColumn, do func(g *GPU, run pass.Runner, passes *noting) error) error {
	var held []*plan.Held
	for _, c := range list {
		held = append(held, c.Rows.Held)
	}
	err := p.db.on(ctx, "compute", &p.opening, func(b backend) error {
		g := b.(*passes).list[0]
		if err := p.on(g, held...); err != nil {
			return err
		}
		passes := &noting{Runner: g.GL, g: g, of: func(*pass.Pass) *table.Table { return nil }}
		err := g.metered(ctx, &plan.Query{}, passes, p.took, func(run pass.Runner) error { return do(g, run, passes) })()
		if err == nil {
			p.ran = append(p.ran, passes.steps...)
		}
		return err
	})
	if lacks(err) || errors.Is(err, ErrUnsupported) {
		err = &plan.Declined{Why: err.Error()}
	}
	return err
}

// gathered gathers columns on a device, in a scope of their own, which is the last one that is kept; on the GL thread.
func (p *pairing) gathered(g *GPU, run pass.Runner, passes *noting, list []cpu.HeldColumn) (out []*table.Segment, err error) {
	k := &lasting{g.GL.Open(), g}
	p.kept = append(p.kept, k)
	for _, c := range list {
		passes.of = func(*pass.Pass) *table.Table { return c.Table }
		err := run.Apart(c.Table, func() error {
			src, nulls, err := compute.Column(run, g.Computes, c.Table, c.Col, c.Space, c.Rows)
			for _, block := range []textures.Block{src.Codes[0], src.Codes[1], src.Valid} {
				if err == nil && !block.None() {
					err = g.GL.Hand(block, k.Scope)
				}
			}
			if err == nil {
				out = append(out, table.NewAway(c.Space.Segment(), c.Rows.Len(), nulls))
				g.Store.From(out[len(out)-1], src)
			}
			return err
		})
		if err != nil {
			g.Store.Drop(out...)
			k.Close()
			return nil, err
		}
	}
	return out, nil
}

// gathers is a [plan.Declined] where reading rows and gathering columns of them in host memory is predicted to be faster than bringing the
// columns to the device.
func (p *pairing) gathers(list []cpu.HeldColumn) error {
	if !p.predicts {
		return nil
	}
	w, lists := &cost.Work{}, map[*plan.Held]int64{}
	for _, c := range list {
		w.Gather(c.Table, c.Col, c.Rows.Len())
		lists[c.Rows.Held] = int64(4 * c.Rows.Len())
	}
	there, why, err := p.db.predictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) {
		onHost = host.Run(w)
		for _, bytes := range lists {
			onHost += device.Upload.Time(bytes)
		}
		return onHost, device.Overhead
	})
	if err == nil && !there {
		err = &plan.Declined{Why: why}
	}
	return err
}

// Count implements [cpu.Holder].
func (p *pairing) Count(ctx context.Context, q *plan.Query) (n int, err error) {
	if p.predicts {
		w := cost.Of(q)
		there, why, err := p.db.predictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) { return host.Run(w), device.Run(w) })
		if err == nil && !there {
			err = &plan.Declined{Why: why}
		}
		if err == nil {
			err = p.opens(ctx)
		}
		if err != nil {
			return 0, err
		}
	}
	err = p.db.on(ctx, "compute", &p.opening, func(b backend) error {
		p.took.start(b.Name(), p.opening)
		p.opening = 0
		g := b.(*passes).list[0]
		passes := &noting{Runner: g.GL, g: g, of: func(*pass.Pass) *table.Table { return q.Table }}
		var values []table.Value
		err := g.metered(ctx, q, passes, p.took, func(run pass.Runner) error {
			return run.Apart(q.Table, func() (err error) {
				values, err = g.Run("compute", run, q)
				return err
			})
		})()
		if err == nil {
			n, p.ran = int(values[0].I), append(p.ran, passes.steps...)
		}
		return err
	})
	if lacks(err) || errors.Is(err, ErrUnsupported) {
		err = &plan.Declined{Why: err.Error()}
	}
	return n, err
}

// noting is a runner that notes its passes, and has the store name the columns that they read.
type noting struct {
	pass.Runner
	g     *GPU
	of    func(*pass.Pass) *table.Table // of the columns that a pass reads
	steps []Step
}

func (n *noting) Run(p *pass.Pass) (pass.Count, error) {
	n.g.Store.Name(n.of(p))
	n.steps = append(n.steps, n.g.step(p))
	return n.Runner.Run(p)
}

// steps are what joins did, one after the other, who was chosen for them, then the passes that found pairs.
func (p *pairing) steps(list []cpu.JoinStep) (steps []Step) {
	for i, s := range list {
		ms := 1e3 * s.Elapsed.Seconds()
		step := Step{Pass: s.Table, Counts: numbers.Count(int64(s.Out), "row", "rows"), MS: &ms}
		if i > 0 && s.On != "" {
			step.Pass = "Join(" + cmp.Or(s.Table, "a subquery") + ": " + s.On + ")"
			if s.Way != "" {
				step.Pass += " by " + s.Way
			}
			step.Counts = fmt.Sprintf("%s there, %s", numbers.Count(int64(s.In), "row", "rows"), step.Counts)
			if step.Expected, step.Rows = s.Expected, s.Out; s.Expected > 0 {
				step.Counts += fmt.Sprintf(" of %s expected", numbers.Count(int64(s.Expected), "row", "rows"))
			}
		}
		steps = append(steps, step)
	}
	if p != nil {
		steps = slices.Concat(steps, p.choices, p.ran)
	}
	return steps
}
