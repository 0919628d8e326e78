package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/sqlstate"
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
		if p := s.pushing.Load(); p != nil && p.star != nil && !p.star.Kept() && slices.Equal(p.tables, s.tables) {
			s.star = p.star
			return true
		}
		if db.stars.Len() > 0 {
			s.star, _ = db.stars.Get(starKey(f.Join, a, of.Tables))
		}
		if s.star == nil {
			s.star = joinorder.NewStar(db.cpu.(backends.CPU).Backend, f.Join, a, of)
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
type stars = lru.Cache[string, *joinorder.Star]

func (db *DB) newStars() *stars {
	kept, _ := lru.NewWithEvict(maxStars, func(_ string, s *joinorder.Star) { db.dropArrays(s) }) // only a size below 1 is an error
	return kept
}

// dropArrays has the devices drop the arrays of a star. It does not wait for that.
func (db *DB) dropArrays(s *joinorder.Star) {
	if d, _, err := db.opened(); d != nil && err == nil {
		db.background(func() { d.Drop(s.Arrays()) })
	}
}

// keepStar keeps the statement's star among those that ran last, where there is something to keep of it. That of subplans no other statement has.
func (s *planned) keepStar() {
	if s.ofSubplans() || !s.star.Kept() {
		return
	}
	if of, err := s.joining(); err == nil {
		s.db.keep(starKey(s.fragment.Join, s.grouped(), of.Tables), s.star)
	}
}

// keep keeps a star among those that ran last.
func (db *DB) keep(key string, s *joinorder.Star) {
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
	return d == nil && !tried || d != nil && !d.GPUs[0].Context.Caps().Software
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
func (s *planned) joining() (of joinorder.Spec, err error) {
	of = joinorder.Spec{Spec: join.Spec{Tables: s.scanned(), Way: s.db.now().join, ChunkRows: s.db.chunkRows()}}
	budget, err := s.db.hostBudget()
	if of.Memory = s.db.freeBytes; budget > 0 {
		of.Memory = func() int64 { return budget }
	}
	return of, err
}

// withJoin is the statement for the table of the rows that its joins give, which stays on devices until done is called. What devices take
// for that is added to took. Where compute aggregates the rows, their columns may be on a device alone. They are not where another backend
// b is to aggregate; b is nil where none is chosen yet. Where a device fails on auto, or what it leaves there has no room in host memory,
// cpu joins.
func (s *planned) withJoin(ctx context.Context, b backends.Backend, took *querystats.Collector) (joined *planned, done func(), err error) {
	pairing := &pairing{db: s.db, watch: s.watch, took: took}
	if s.db.assigns() {
		if pairing.plan, err = s.assignment(); err != nil {
			return nil, nil, err
		}
	}
	joined, done, err = s.joinedBy(ctx, pairing, b)
	fails := s.db.Backend() == "auto" && (errors.Is(err, glctx.ErrFault) || errors.Is(err, errRowsLost))
	if fails || pairing.plan != nil && pairing.holds != nil && errors.As(err, new(*join.TooLarge)) {
		return s.joinedBy(ctx, nil, b)
	}
	return joined, done, err
}

// joinedBy is withJoin with the pairs that a device finds, where who looks for them is not nil.
func (s *planned) joinedBy(ctx context.Context, pairing *pairing, b backends.Backend) (joined *planned, done func(), err error) {
	of, err := s.joining()
	if err != nil {
		return nil, nil, err
	}
	of.Columns, of.AtMost, of.Above = s.fragment.Reads(), rules.LimitHint(s.tree), plan.Conjuncts(s.fragment.Where)
	seen, nodes := map[plan.Node]int{}, []plan.Node(nil)
	plan.Walk(s.fragment.Join, func(n plan.Node, _ int) { nodes = append(nodes, n) })
	of.RowCounts = func(at, rows int) { seen[nodes[at]] = rows }
	release := pairing.release
	defer func() { release() }()
	if pairing != nil {
		pairing.memory = of.Room()
	}
	name := s.db.Backend()
	switch {
	case pairing == nil:
	case name == "compute":
		of.Pairs, of.Declined = pairing.find, pairing.declined
	case pairing.plan != nil:
		of.Pairs, of.Resumes = pairing.chosen, pairing.resumes
	}
	if of.Pairs != nil && s.watch == nil { // who looks at passes sees what one join gives to the next
		of.Hold = pairing
		if name != "both" && s.aggregates() && (b == nil || onDevice(b)) {
			of.Stays = func(t *table.Table) bool { return s.fitsDevice(ctx, t) }
		}
	}
	t, steps, away, err := joinorder.Join(ctx, s.db.cpu.(backends.CPU).Backend, s.fragment.Join, of)
	if err != nil {
		return nil, nil, err
	}
	joined = &planned{Statement: s.Statement, tables: s.tables, joined: pairing.steps(steps), joinedOn: "cpu", joinedRows: seen, away: away}
	if pairing != nil {
		joined.joined = slices.Concat(pairing.plan.steps(), joined.joined)
		switch {
		case pairing.shared:
			joined.joinedOn = "compute and cpu"
		case len(pairing.ran) > 0:
			joined.joinedOn = "compute"
		}
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

// fetchToHost is the statement for the same rows in host memory, where their columns are on a device alone. Those that a device has lost are
// joined again on auto.
func (s *planned) fetchToHost(ctx context.Context) (now *planned, done func(), err error) {
	t, err := s.away.Table(ctx)
	if err != nil && ctx.Err() == nil && s.db.Backend() == "auto" {
		return (&planned{Statement: s.Statement, tables: s.tables}).joinedBy(ctx, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	now = &planned{Statement: s.Statement, tables: s.tables, joined: s.joined, joinedOn: s.joinedOn, joinedRows: s.joinedRows}
	if err := now.lower(t); err != nil {
		return nil, nil, err
	}
	return now, s.db.pinned(t), nil
}

// aggregates reports that nothing but aggregates and groups are asked of the fragment's rows.
func (s *Statement) aggregates() bool {
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
	q, err := physical.NewQuery(t, s.fragment)
	if err != nil || s.fragment.Fallback != nil && len(q.Aggs) == 0 {
		return false
	}
	var opening time.Duration
	err = s.db.on(ctx, "compute", &opening, func(b backends.Backend) error {
		p := b.(*backends.Passes)
		for _, of := range p.PartsOnce(q) {
			if q.Groups != nil {
				if done, err := p.FindGroups(&pass.Recorder{}, of.GPU, of.Query); !done || err != nil {
					return err
				}
			}
			if need, err := p.Footprint(of); err != nil || need > p.Room() {
				return err
			}
		}
		does = true
		return nil
	})
	return err == nil && does
}

// onDevice reports that a backend is compute, which has the columns that are on a device alone.
func onDevice(b backends.Backend) bool {
	v, ok := b.(*backends.Passes)
	return ok && v.Name() == "compute"
}

// supports is a [plan.Declined] where a backend does not have the statement's rows.
func (s *planned) supports(b backends.Backend) error {
	if s.away != nil && !onDevice(b) {
		return &plan.Declined{Why: "the rows of the joins are on a device"}
	}
	return nil
}

// fallsBack reports an error of a statement over rows on devices after which it runs over rows in host memory. The error of a row on one of
// several devices is such an error: only the host knows which row is first.
func (s *planned) fallsBack(err error) bool {
	ofRow := s.away != nil && len(s.plan.Table.Chunks) > 1 && errors.As(err, new(*expr.Error))
	return s.away != nil && (ofRow || plan.IsDeclined(err) || backends.Lacks(err) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDeviceMemory))
}

// adapt is the statement as a backend does it: of a star it takes the largest table, or the rows of the join.
func (s *planned) adapt(ctx context.Context, b backends.Backend, took *querystats.Collector) (now *planned, done func(), err error) {
	if s.star == nil {
		return s, func() {}, nil
	}
	if v, ok := b.(*backends.Passes); ok && devicepool.Algorithms[v.Name()].Groups != nil {
		err := s.star.Prepare(ctx)
		s.keepStar() // nor is what is declined looked at again
		if !plan.IsDeclined(err) {
			return s, func() {}, err
		}
	}
	return s.withJoin(ctx, b, took)
}

// pairing has compute find the pairs of joins, and notes its passes.
type pairing struct {
	db     *DB
	took   *querystats.Collector
	watch  func(Stage) pass.Runner // nil for nobody
	memory int64                   // bytes that rows between joins may take in host memory
	ran    []Step
	holds  *backends.Devices // the devices that keep rows for the joins to come; nil for none

	mu   sync.Mutex // of what GL threads change
	kept []*lasting // each for its device's

	plan    *assignment   // by which it does what is predicted to be faster; nil: it does all that it can
	shared  bool          // a join was cpu's, too
	opening time.Duration // what opening the device took, of joins to come
	choices []Step        // of who joins, and why
	joining []int         // the scans of the join that is cpu's by its assignment, while later ones of its rows are not; nil for none
}

// declined notes why a join is left to cpu.
func (p *pairing) declined(n *plan.Join, why string) {
	p.choices = append(p.choices, Step{Pass: "Choice(" + n.String() + " on cpu)", Counts: why})
}

// chosen is find where the join is the device's by its assignment, and there is a device for it.
func (p *pairing) chosen(ctx context.Context, q *physical.JoinQuery) (found physical.JoinPairs, how string, err error) {
	stays := func(why string) error {
		err := &plan.Declined{Why: why}
		p.chose("join", "", err)
		return err
	}
	p.joining = nil
	mode, faster, why, err := p.assigned(q)
	if err != nil {
		return found, "", err
	}
	if mode == cost.OnCPU {
		return found, "", stays(why)
	}
	if err := p.opens(ctx); plan.IsDeclined(err) {
		return found, "", stays(err.Error())
	} else if err != nil {
		return found, "", err
	}
	if mode == cost.OnBoth {
		if q.KeepOnDevice != nil { // it is asked for again
			return found, "", &plan.Declined{Why: "the rows of a join that both share come to host memory"}
		}
		if found, how, err = p.together(ctx, q, faster); plan.IsDeclined(err) {
			return found, how, stays(err.Error())
		}
		if err == nil {
			p.shared = true
			p.choices = append(p.choices, Step{Pass: "Choice(join on both)", Counts: why})
		}
		return found, how, err
	}
	if found, how, err = p.find(ctx, q); errors.Is(err, glctx.ErrFault) || errors.Is(err, ErrUnsupported) || plan.IsDeclined(err) {
		return found, how, stays(err.Error())
	}
	p.chose("join", why, nil)
	return found, how, err
}

// resumes reports that a join is the last one that was asked for, and that the device is to join its rows with others.
func (p *pairing) resumes(scans []int) bool { return slices.Equal(p.joining, scans) }

// opens opens the device; a [plan.Declined] where auto does without it.
func (p *pairing) opens(ctx context.Context) error {
	_, err := p.db.openDevice(ctx, &p.opening)
	switch {
	case p.db.fatal(err) || ctx.Err() != nil:
		return cmp.Or(ctx.Err(), err)
	case err != nil:
		return &plan.Declined{Why: err.Error()}
	case p.db.Backend() == "auto" && !p.db.mayHaveHardware():
		return &plan.Declined{Why: "the device is software"}
	}
	return nil
}

// assigned says which backend joins: the one predicted to be the fastest with the operators that follow, from where the rows are now. It
// also says which side alone would be the faster one.
func (p *pairing) assigned(q *physical.JoinQuery) (mode cost.Mode, faster int, why string, err error) {
	at := p.plan.at(q.Scans)
	mode, told := p.db.now().told(max(0, at))
	told = told && p.db.Backend() == "both"
	if q.Algorithm == "loops" && !told {
		return cost.OnCPU, querystats.OnHost, "nested loops have no costs", nil
	}
	of, err := p.db.weighPairs(q)
	if err != nil {
		return cost.OnCPU, querystats.OnHost, "", err
	}
	if of.onCPU.Run < of.on.Run {
		faster = querystats.OnHost
	}
	if told {
		if at >= 0 {
			p.note(q.Scans, p.plan.modes[at:])
		}
		return mode, faster, "SET assignment says so", nil
	}
	now := cost.Operator{Takes: p.db.inModes(of.onCPU.Total(), of.on.Total()), Stays: q.KeepOnDevice != nil}
	if slices.ContainsFunc(q.Keys, func(k physical.JoinKey) bool { _, columns := k.Columns(); return !columns }) {
		now.Takes[cost.OnBoth] = math.Inf(1)
	}
	modes, _ := cost.Assign(p.plan.from(q.Scans, now))
	p.note(q.Scans, modes)
	there, why := p.db.decide(of)
	if mode = modes[0]; mode == cost.OnBoth {
		why += ", both " + numbers.Milliseconds(now.Takes[mode])
	} else if (mode == cost.OnDevice) != there {
		why += "; but for what follows"
	}
	return mode, faster, why, nil
}

// note keeps a join that is cpu's by the modes of the operators from it on. One after it takes its rows to the device.
func (p *pairing) note(scans []int, modes []cost.Mode) {
	at := p.plan.at(scans)
	if at < 0 || modes[0] != cost.OnCPU {
		return
	}
	for i, o := range p.plan.of[at:] {
		if i > 0 && modes[i] != cost.OnCPU && o.scans != nil && !slices.ContainsFunc(scans, func(s int) bool { return !slices.Contains(o.scans, s) }) {
			p.joining = scans
		}
	}
}

// inModes is what a join takes in each mode where either processor alone takes so much. Both deal the rows first.
func (db *DB) inModes(onHost, onDevice float64) (takes [3]float64) {
	takes = [...]float64{cost.OnCPU: onHost, cost.OnDevice: onDevice, cost.OnBoth: math.Inf(1)}
	if d, _, _ := db.opened(); db.Backend() == "both" && d != nil && !d.Key.Software { // whose cores are cpu's
		takes[cost.OnBoth] = dealing*onHost + (1+backends.InTurn)/(1/onHost+1/onDevice)
	}
	return takes
}

// dealing is the part of cpu's time for a join that it takes to partition the rows into sub-joins. It was measured with 4 M rows a side on
// two cores.
const dealing = 0.3

// weighPairs predicts what finding the pairs of a join takes.
func (db *DB) weighPairs(q *physical.JoinQuery) (weighed, error) {
	w, parts := cost.OfPairs(q), []*cost.Work{}
	if d, _, _ := db.opened(); d != nil {
		divided, _ := dividePairs(d, q)
		for _, of := range divided {
			parts = append(parts, cost.OfPairs(of.q))
		}
	} else {
		parts = append(parts, w)
	}
	return db.weigh(w, func(host, device *cost.Backend) (onHost, onDevice float64) {
		onHost = host.Run(w)
		for _, of := range parts {
			if q.KeepOnDevice != nil { // they do not leave the device
				of = of.Over([]int{0})
			}
			onDevice = max(onDevice, device.Run(of))
		}
		for i, l := range q.RowIDs {
			switch bytes := int64(4 * l.Len()); {
			case l.Held != nil && q.KeepOnDevice != nil:
				onHost += device.Upload.Time(bytes * int64(max(1, len(q.KeepOnDevice[i])))) // which come from there
			case l.Held != nil:
				onHost += device.Upload.Time(bytes)
			case l.Rows != nil:
				onDevice += device.Upload.Time(bytes)
			}
		}
		return onHost, onDevice
	})
}

// weighed is what work is predicted to take on cpu and on compute alone.
type weighed struct {
	onCPU, on cost.Prediction
	missing   []backends.Column // that compute lacks
}

// weigh predicts what work takes on either. What the upload of columns and opening the device take is charged in part, as a statement is.
func (db *DB) weigh(w *cost.Work, takes func(host, device *cost.Backend) (onHost, onDevice float64)) (of weighed, err error) {
	costs, err := db.costs.Get()
	if err != nil {
		return of, err
	}
	host, gpu := costs.Profile.Backends["cpu"], costs.Profile.Backends["compute"]
	of.on, of.missing = db.charged(&gpu, w, costs.Profile.Opening)
	of.onCPU.Backend, of.on.Backend = "cpu", "compute"
	of.onCPU.Run, of.on.Run = takes(&host, &gpu)
	return of, nil
}

// charged is what bringing the columns of some work to compute takes, with what it is charged with of that, and what is missing there.
func (db *DB) charged(gpu *cost.Backend, w *cost.Work, opening float64) (on cost.Prediction, missing []backends.Column) {
	var at devicepool.Contents
	if d, _, _ := db.opened(); d != nil {
		at = d.Contents()
	} else {
		on.Opening = opening
	}
	gpu.Lack(&on, w, func(c cost.Column) bool { return at.Has("compute", c) })
	for _, c := range w.Columns {
		if of := (backends.Column{Table: c.Table, Column: c.Name}); !at.Has("compute", c) && !slices.Contains(missing, of) {
			missing = append(missing, of)
		}
	}
	if on.Opening > 0 {
		missing = append(missing, backends.Device)
	}
	on.Share = db.amortisation.Share(on.Transfer+on.Opening, missing...)
	return on, missing
}

// decide says whether compute takes less time than cpu, and why, with what either takes alone.
func (db *DB) decide(of weighed) (there bool, why string) {
	if of.on.Run < of.onCPU.Run && of.on.Total() >= of.onCPU.Total() { // it would have gained from these
		db.amortisation.Add(of.missing...)
	}
	list := []cost.Prediction{of.onCPU, of.on}
	cost.Cheapest(list)
	why = db.Backend() + " predicted"
	for i, of := range list {
		why += map[bool]string{true: ","}[i > 0] + " " + strings.Join(strings.Fields(predictionLine(of)), " ")
	}
	return list[0].Backend == "compute", why
}

// predictWork is weigh, then decide.
func (db *DB) predictWork(w *cost.Work, takes func(host, device *cost.Backend) (onHost, onDevice float64)) (there bool, why string, err error) {
	of, err := db.weigh(w, takes)
	if err != nil {
		return false, "", err
	}
	there, why = db.decide(of)
	return there, why, nil
}

// find is a [joinorder.FindPairs]: each device joins its part. What a device has no room for is joined bucket by bucket, what it has no room for then,
// either, is left to cpu.
func (p *pairing) find(ctx context.Context, q *physical.JoinQuery) (found physical.JoinPairs, how string, err error) {
	err = p.db.on(ctx, "compute", &p.opening, func(b backends.Backend) (err error) {
		p.took.Start(b.Name(), p.opening)
		p.opening = 0
		s := b.(*backends.Passes)
		if err := p.on(s.Devices, heldOf(q)...); err != nil {
			return err
		}
		if p.watch != nil { // the first device has the whole of both tables for it, until the pass that runs when ctx ends: see [Inside.Watch]
			of := &pairPart{g: s.GPUs[0], q: q}
			if err = of.g.Context.Do(context.WithoutCancel(ctx), func() error { return p.joins(ctx, s, of)() }); err == nil {
				found, how = of.found, joinedBy(s.Devices, q, []*pairPart{of}, 0)
				p.ran = append(p.ran, of.steps...)
			}
			return err
		}
		parts, side := dividePairs(s.Devices, q)
		if err := p.share(ctx, s.Devices, q, parts, 1-side); err != nil {
			return err
		}
		waits := make([]func() error, len(parts))
		for i, of := range parts {
			waits[i] = p.joins(ctx, s, of)
		}
		if err := allOrNone(waits, func(i int) { parts[i].drop() }); err != nil {
			return err
		}
		if found = mergedPairs(s.Devices, q, parts, side); tookLists(&found) {
			if !q.Borrows {
				over(heldOf(q)...)
			}
		} else { // what a part has taken is for nobody
			for _, of := range parts {
				of.drop()
			}
		}
		how = joinedBy(s.Devices, q, parts, side)
		for _, of := range parts {
			p.ran = append(p.ran, of.steps...)
		}
		return nil
	})
	if errors.As(err, new(*textures.BudgetError)) {
		err = &plan.Declined{Why: err.Error()}
	}
	return found, how, err
}

// joins has a device join its part; wait gives its error.
func (p *pairing) joins(ctx context.Context, s *backends.Passes, of *pairPart) (wait func() error) {
	g, q := of.g, of.q
	n := &noting{Runner: g.GL, g: g, of: func(p *pass.Pass) *table.Table { return relational.SideOf(q, p).Table }}
	return g.Start(ctx, q.Sides[0], n, p.took, func(run pass.Runner) (err error) {
		if p.watch != nil {
			n.Runner = p.watch(Stage{Runner: g.GL, Context: g.Context, Pairs: q})
		}
		err = run.Apart(q.Sides[0].Table, func() error {
			if of.found, err = relational.Pairs(run, g.Computes, q); err == nil {
				err = p.keep(g, slices.Concat(of.found.Held[0], of.found.Held[1]))
			}
			return err
		})
		if of.buckets = backends.Lacks(err) && p.watch == nil && q.KeepOnDevice == nil; of.buckets {
			var sides [2][]physical.Bucket
			if sides, err = dealt(ctx, q, relational.BucketBits(q, s.Room()/2)); err == nil {
				of.found, err = relational.PairsInBuckets(run, g.Computes, q, sides, s.Room()/2)
			}
			n.steps = backends.Added(n.steps)
		}
		of.steps = n.steps
		return err
	})
}

// dealt are the rows of both sides of a join, dealt to 2^log buckets.
func dealt(ctx context.Context, q *physical.JoinQuery, log int) (sides [2][]physical.Bucket, err error) {
	for i := range sides {
		if sides[i], err = join.Partition(ctx, cpu.New(0), q, i, log); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

// share gives the parts of a join the lists that devices keep of the side that is not divided. A single part that has the lists keeps them;
// others get them by way of host memory.
func (p *pairing) share(ctx context.Context, s *backends.Devices, q *physical.JoinQuery, parts []*pairPart, side int) error {
	var lists []*physical.Held
	withLists(q, side, func(l physical.RowIDs) physical.RowIDs {
		if l.Held != nil && !slices.Contains(lists, l.Held) {
			lists = append(lists, l.Held)
		}
		return l
	})
	if len(lists) == 0 {
		return nil
	}
	if d := parts[0].device; len(parts) == 1 && lists[0].Parts[d] == lists[0].N {
		parts[0].q = withLists(parts[0].q, side, func(l physical.RowIDs) physical.RowIDs { return onOne(l, d) })
		return nil
	}
	if bytes := int64(4 * len(lists) * lists[0].N); bytes > p.memory {
		return &plan.Declined{Why: fmt.Sprintf("%d bytes of rows go from device to device by way of host memory, which has no room for them", bytes)}
	}
	rows, err := p.read(ctx, s, lists, nil)
	if err != nil {
		return err
	}
	for _, of := range parts {
		of.q = withLists(of.q, side, func(l physical.RowIDs) physical.RowIDs {
			if l.Held == nil {
				return l
			}
			return physical.RowIDs{Rows: rows[slices.Index(lists, l.Held)], MayBeNull: l.MayBeNull}
		})
	}
	return nil
}

// heldOf are the lists on devices that a query takes rows of.
func heldOf(q *physical.JoinQuery) (list []*physical.Held) {
	all := q.RowIDs[:]
	if q.KeepOnDevice != nil {
		all = slices.Concat(all, q.KeepOnDevice[0], q.KeepOnDevice[1])
	}
	for _, l := range all {
		list = append(list, l.Held)
	}
	return list
}

// lasting is working memory of a device that stays for the joins to come.
type lasting struct {
	*pass.Scope
	g *devicepool.GPU
}

// open opens one, on the GL thread.
func (p *pairing) open(g *devicepool.GPU) *lasting {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &lasting{g.GL.Open(), g}
	p.kept = append(p.kept, k)
	return k
}

// keep keeps lists that a device has made, on its GL thread.
func (p *pairing) keep(g *devicepool.GPU, held []*physical.Held) error {
	if len(held) == 0 {
		return nil
	}
	k := p.open(g)
	for _, h := range held {
		h.By = k
		if v := h.On.(primitives.Vector); !v.None() {
			if err := g.GL.Hand(v.Block, k.Scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// over has the devices release lists that nobody needs any more.
func over(lists ...*physical.Held) {
	for _, h := range lists {
		if h != nil {
			drop(h.On.([]*physical.Held))
		}
	}
}

// drop is over of what one device has of lists.
func drop(held []*physical.Held) {
	for i, h := range held {
		k, kept := h.By.(*lasting)
		if !kept || i > 0 && held[i-1].By == k {
			continue
		}
		k.g.Context.Start(context.Background(), func() error { // nothing waits for it
			if !k.g.Closed() {
				k.Close()
			}
			return nil
		})
	}
}

// drop has the device release what it has taken for a part.
func (of *pairPart) drop() { drop(slices.Concat(of.found.Held[0], of.found.Held[1])) }

// release releases what is kept, after what the GL threads may be at.
func (p *pairing) release() {
	if p == nil || p.holds == nil {
		return
	}
	for _, g := range p.holds.GPUs {
		p.db.background(func() {
			_ = g.Context.Do(context.Background(), func() error { // of a closed device nothing is left
				p.mu.Lock()
				defer p.mu.Unlock()
				for _, k := range p.kept {
					if k.g == g && !g.Closed() {
						k.Close()
					}
				}
				return nil
			})
		})
	}
}

var errRowsLost = sqlstate.Errorf(sqlstate.SerializationFailure, "engine: the device was closed while rows of a join were there: run the statement again")

// on notes the devices that keep what the joins find: lists of others are lost.
func (p *pairing) on(s *backends.Devices, lists ...*physical.Held) error {
	for _, h := range lists {
		if h != nil && h.By != any(s) {
			return errRowsLost
		}
	}
	p.holds = s
	return nil
}

// Read implements [joinorder.Holder].
func (p *pairing) Read(ctx context.Context, list []*physical.Held, places []uint32) (out [][]uint32, err error) {
	err = p.db.on(ctx, "compute", &p.opening, func(b backends.Backend) error {
		s := b.(*backends.Passes).Devices
		if err := p.on(s, list...); err != nil {
			return err
		}
		out, err = p.read(ctx, s, list, places)
		return err
	})
	return out, err
}

// read is Read on these devices, one after the other.
func (p *pairing) read(ctx context.Context, s *backends.Devices, list []*physical.Held, places []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(list))
	first := 0 // row of what the device has
	for d, g := range s.GPUs {
		n, at, from := 0, []uint32(nil), []int(nil) // the places there, and where they stand
		for _, h := range list {
			if h != nil {
				n = h.Parts[d]
			}
		}
		if len(s.GPUs) == 1 {
			at = places
		}
		for i := 0; len(s.GPUs) > 1 && i < len(places); i++ {
			if k := int(places[i]) - first; k >= 0 && k < n {
				at, from = append(at, uint32(k)), append(from, i)
			}
		}
		if first += n; n == 0 || places != nil && len(at) == 0 {
			continue
		}
		parts := make([][]uint32, len(list)) // which the GL thread may still write when ctx has ended
		err := g.Query(ctx, func() (err error) {
			for i, h := range list {
				if h == nil {
					continue
				}
				rows := h.On.([]*physical.Held)[d].On.(primitives.Vector)
				if places != nil {
					all := rows
					rows = primitives.New(len(at))
					if err := primitives.Gather(g.GL, g.Computes.Primitives, all, primitives.FromSlice(at), rows); err != nil {
						return err
					}
				}
				if parts[i], err = rows.Read(g.GL); err != nil {
					return err
				}
			}
			return nil
		})()
		if err != nil {
			return nil, err
		}
		for i, part := range parts {
			switch {
			case part == nil:
			case places == nil && len(part) == list[i].N, places != nil && from == nil:
				out[i] = part
			case places == nil:
				out[i] = append(out[i], part...)
			default:
				if out[i] == nil {
					out[i] = make([]uint32, len(places))
				}
				for k, to := range from {
					out[i][to] = part[k]
				}
			}
		}
	}
	for i, h := range list {
		if h != nil && out[i] == nil { // nil is all rows
			out[i] = []uint32{}
		}
	}
	return out, nil
}

// Columns implements [joinorder.Holder].
func (p *pairing) Columns(ctx context.Context, list []joinorder.HeldColumn) ([][]*table.Segment, error) {
	out := make([][]*table.Segment, len(list[0].Rows.Held.Parts)) // which a GL thread may still write when ctx has ended
	why, err := p.gathers(list)
	if err == nil {
		if err = p.there(ctx, heldColumns(list), func(d int, g *devicepool.GPU, run pass.Runner, passes *noting) (err error) {
			out[d], _, err = p.gathered(d, g, run, passes, list)
			return err
		}, func(int, *devicepool.GPU) {}); err != nil {
			p.dropAll(out)
		}
	}
	p.chose("gather", why, err)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(of []*table.Segment) bool { return of == nil }), nil
}

// dropAll has each device drop the columns that it has gathered, and those that it is at while ctx has ended. It does not wait for that.
func (p *pairing) dropAll(columns [][]*table.Segment) {
	if p.holds == nil {
		return
	}
	for d, g := range p.holds.GPUs {
		p.db.background(func() {
			_ = g.Context.Do(context.Background(), func() error { // of a closed device nothing is left
				if !g.Closed() {
					g.Store.Drop(columns[d]...)
				}
				return nil
			})
		})
	}
}

// Where implements [joinorder.Holder].
func (p *pairing) Where(ctx context.Context, list []joinorder.HeldColumn, query func([]*table.Segment) (*physical.Query, error), lists []physical.RowIDs) (held []*physical.Held, n int, err error) {
	devices := len(list[0].Rows.Held.Parts)
	found, rows := make([][]*physical.Held, devices), make([]int, devices) // which a GL thread may still write when ctx has ended
	err = p.there(ctx, heldColumns(list), func(d int, g *devicepool.GPU, run pass.Runner, passes *noting) error {
		segments, columns, err := p.gathered(d, g, run, passes, list)
		if err != nil {
			return err
		}
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
			selected, err := relational.Selected(run, g.Computes, q)
			if err != nil {
				return err
			}
			var here []physical.RowIDs
			for _, l := range lists {
				here = append(here, onOne(l, d))
			}
			if found[d], err = relational.Taken(run, g.Computes, here, selected); err != nil {
				return err
			}
			rows[d] = selected.N
			return p.keep(g, found[d])
		})
	}, func(d int, _ *devicepool.GPU) { drop(found[d]) })
	if err != nil {
		return nil, 0, err
	}
	for _, r := range rows {
		n += r
	}
	for _, l := range lists {
		over(l.Held)
	}
	return keptLists(p.holds, found), n, nil
}

// heldColumns are the lists of the rows of columns.
func heldColumns(list []joinorder.HeldColumn) (held []*physical.Held) {
	for _, c := range list {
		held = append(held, c.Rows.Held)
	}
	return held
}

// there has do run on each device that has rows of lists, all at the same time; a [plan.Declined] where one cannot do it. undo is
// for those that have done it then.
func (p *pairing) there(ctx context.Context, held []*physical.Held, do func(d int, g *devicepool.GPU, run pass.Runner, passes *noting) error, undo func(d int, g *devicepool.GPU)) error {
	err := p.db.on(ctx, "compute", &p.opening, func(b backends.Backend) error {
		s := b.(*backends.Passes).Devices
		if err := p.on(s, held...); err != nil {
			return err
		}
		var devices []int
		var notes []*noting
		var waits []func() error
		for d, g := range s.GPUs {
			if len(s.GPUs) > 1 && (len(held) == 0 || held[0].Parts[d] == 0) {
				continue
			}
			passes := &noting{Runner: g.GL, g: g, of: func(*pass.Pass) *table.Table { return nil }}
			devices, notes = append(devices, d), append(notes, passes)
			waits = append(waits, g.Start(ctx, &physical.Query{}, passes, p.took, func(run pass.Runner) error { return do(d, g, run, passes) }))
		}
		if err := allOrNone(waits, func(i int) { undo(devices[i], s.GPUs[devices[i]]) }); err != nil {
			return err
		}
		for _, n := range notes {
			p.ran = append(p.ran, n.steps...)
		}
		return nil
	})
	if backends.Lacks(err) || errors.Is(err, ErrUnsupported) {
		err = &plan.Declined{Why: err.Error()}
	}
	return err
}

// allOrNone waits for what devices do at the same time. Where one fails, undo runs for those that have not. The error of a row on one of
// several devices becomes a [plan.Declined], because cpu knows which row comes first.
func allOrNone(waits []func() error, undo func(i int)) error {
	errs := make([]error, len(waits))
	for i, wait := range waits {
		errs[i] = wait()
		waits[i] = func() error { return errs[i] }
	}
	err := partial.WaitAll(waits)
	if err == nil {
		return nil
	}
	for i := range errs {
		if errs[i] == nil {
			undo(i)
		}
	}
	if len(waits) > 1 && errors.As(err, new(*physical.CheckError)) {
		return &plan.Declined{Why: err.Error()}
	}
	return err
}

// gathered gathers columns of the rows that a device has, on it, in working memory of their own; on the GL thread.
func (p *pairing) gathered(d int, g *devicepool.GPU, run pass.Runner, passes *noting, list []joinorder.HeldColumn) (out []*table.Segment, k *lasting, err error) {
	k = p.open(g)
	for _, c := range list {
		rows := onOne(c.Rows, d)
		passes.of = func(*pass.Pass) *table.Table { return c.Table }
		err := run.Apart(c.Table, func() error {
			src, nulls, err := relational.Column(run, g.Computes, c.Table, c.Col, c.Space, rows)
			for _, block := range []textures.Block{src.Codes[0], src.Codes[1], src.Valid} {
				if err == nil && !block.None() {
					err = g.GL.Hand(block, k.Scope)
				}
			}
			if err == nil {
				out = append(out, table.NewAway(c.Space.Segment(), rows.Len(), nulls, d))
				g.Store.From(out[len(out)-1], src)
			}
			return err
		})
		if err != nil {
			g.Store.Drop(out...)
			k.Close()
			return nil, nil, err
		}
	}
	return out, k, nil
}

// gathers says why columns are gathered on the device. It is a [plan.Declined] where the host is predicted to be faster: it reads the row
// ids and gathers the columns.
func (p *pairing) gathers(list []joinorder.HeldColumn) (why string, err error) {
	if p.plan == nil {
		return "", nil
	}
	w, lists := &cost.Work{}, map[*physical.Held]int64{}
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
	return why, err
}

// chose notes who does a part of the joins where that is predicted, and why.
func (p *pairing) chose(what, why string, err error) {
	step := Step{Pass: "Choice(" + what + " on compute)", Counts: why}
	if err != nil {
		step = Step{Pass: "Choice(" + what + " on cpu)", Counts: err.Error()}
	}
	if n := len(p.choices); p.plan == nil || err != nil && !plan.IsDeclined(err) || n > 0 && p.choices[n-1] == step { // which was asked for again
		return
	}
	p.choices = append(p.choices, step)
}

// Count implements [joinorder.Holder].
func (p *pairing) Count(ctx context.Context, q *physical.Query) (n int, err error) {
	why := ""
	defer func() { p.chose("filter of "+q.Table.Name, why, err) }()
	if p.plan != nil {
		w := cost.Of(q)
		there := false
		there, why, err = p.db.predictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) { return host.Run(w), device.Run(w) })
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
	err = p.db.on(ctx, "compute", &p.opening, func(b backends.Backend) error {
		p.took.Start(b.Name(), p.opening)
		p.opening = 0
		s := b.(*backends.Passes)
		notes := map[*devicepool.GPU]*noting{}
		for _, g := range s.GPUs {
			notes[g] = &noting{Runner: g.GL, g: g, of: func(*pass.Pass) *table.Table { return q.Table }}
		}
		var values []table.Value
		if parts := s.PartsOnce(q); len(parts) > 1 {
			values, err = s.MergedOnAll(ctx, q, parts, p.took, func(g *devicepool.GPU) pass.Runner { return notes[g] })
		} else {
			values, err = s.Alone(ctx, parts[0], p.took, notes[parts[0].GPU])
		}
		if err != nil {
			return err
		}
		n = int(values[0].I)
		for _, g := range s.GPUs {
			p.ran = append(p.ran, notes[g].steps...)
		}
		return nil
	})
	if backends.Lacks(err) || errors.Is(err, ErrUnsupported) {
		err = &plan.Declined{Why: err.Error()}
	}
	return n, err
}

// noting is a runner that notes its passes, and has the store name the columns that they read.
type noting struct {
	pass.Runner
	g     *devicepool.GPU
	of    func(*pass.Pass) *table.Table // of the columns that a pass reads
	steps []Step
}

func (n *noting) Run(p *pass.Pass) (pass.Count, error) {
	n.g.Store.Name(n.of(p))
	n.steps = append(n.steps, backends.StepOn(n.g, p))
	return n.Runner.Run(p)
}

// steps are what joins did, one after the other, who was chosen for them, then the passes that found pairs.
func (p *pairing) steps(list []join.Step) (steps []Step) {
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
