package gpujoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Pairing has compute find the pairs of joins, and notes its passes.
type Pairing struct {
	View   backends.View
	Took   *querystats.Collector
	Watch  func(backends.Stage) pass.Runner // nil for nobody
	Memory int64                            // bytes that rows between joins may take in host memory
	Ran    []backends.Step
	Holds  *backends.Devices // the devices that keep rows for the joins to come; nil for none

	mu   sync.Mutex // of what GL threads change
	kept []*lasting // each for its device's

	Plan    *Assignment     // by which it does what is predicted to be faster; nil: it does all that it can
	Shared  bool            // a join was cpu's, too
	opening time.Duration   // what opening the device took, of joins to come
	choices []backends.Step // of who joins, and why
	joining []int           // the scans of the join that is cpu's by its assignment, while later ones of its rows are not; nil for none
}

// Declined notes why a join is left to cpu.
func (p *Pairing) Declined(n *plan.Join, why string) {
	p.choices = append(p.choices, backends.Step{Pass: "Choice(" + n.String() + " on cpu)", Counts: why})
}

// Chosen is find where the join is the device's by its assignment, and there is a device for it.
func (p *Pairing) Chosen(ctx context.Context, q *physical.JoinQuery) (found physical.JoinPairs, how string, err error) {
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
			p.Shared = true
			p.choices = append(p.choices, backends.Step{Pass: "Choice(join on both)", Counts: why})
		}
		return found, how, err
	}
	if found, how, err = p.Find(ctx, q); errors.Is(err, glctx.ErrFault) || errors.Is(err, backends.ErrUnsupported) || plan.IsDeclined(err) {
		return found, how, stays(err.Error())
	}
	p.chose("join", why, nil)
	return found, how, err
}

// Resumes reports that a join is the last one that was asked for, and that the device is to join its rows with others.
func (p *Pairing) Resumes(scans []int) bool { return slices.Equal(p.joining, scans) }

// opens opens the device; a [plan.Declined] where auto does without it.
func (p *Pairing) opens(ctx context.Context) error {
	_, err := p.View.Devices(ctx, &p.opening)
	switch {
	case p.View.Fatal(err) || ctx.Err() != nil:
		return cmp.Or(ctx.Err(), err)
	case err != nil:
		return &plan.Declined{Why: err.Error()}
	case p.View.Backend == "auto" && !p.View.MayHaveHardware():
		return &plan.Declined{Why: "the device is software"}
	}
	return nil
}

// assigned says which backend joins: the one predicted to be the fastest with the operators that follow, from where the rows are now. It
// also says which side alone would be the faster one.
func (p *Pairing) assigned(q *physical.JoinQuery) (mode cost.Mode, faster int, why string, err error) {
	at := p.Plan.at(q.Scans)
	mode, told := p.View.Told(max(0, at))
	told = told && p.View.Backend == "both"
	if q.Algorithm == "loops" && !told {
		return cost.OnCPU, querystats.OnHost, "nested loops have no costs", nil
	}
	of, err := p.weighPairs(q)
	if err != nil {
		return cost.OnCPU, querystats.OnHost, "", err
	}
	if of.OnCPU.Run < of.OnDevice.Run {
		faster = querystats.OnHost
	}
	if told {
		if at >= 0 {
			p.note(q.Scans, p.Plan.modes[at:])
		}
		return mode, faster, "SET assignment says so", nil
	}
	now := cost.Operator{Takes: p.View.InModes(of.OnCPU.Total(), of.OnDevice.Total()), Stays: q.KeepOnDevice != nil}
	if slices.ContainsFunc(q.Keys, func(k physical.JoinKey) bool { _, columns := k.Columns(); return !columns }) {
		now.Takes[cost.OnBoth] = math.Inf(1)
	}
	modes, _ := cost.Assign(p.Plan.from(q.Scans, now))
	p.note(q.Scans, modes)
	there, why := p.View.Decide(of)
	if mode = modes[0]; mode == cost.OnBoth {
		why += ", both " + numbers.Milliseconds(now.Takes[mode])
	} else if (mode == cost.OnDevice) != there {
		why += "; but for what follows"
	}
	return mode, faster, why, nil
}

// note keeps a join that is cpu's by the modes of the operators from it on. One after it takes its rows to the device.
func (p *Pairing) note(scans []int, modes []cost.Mode) {
	at := p.Plan.at(scans)
	if at < 0 || modes[0] != cost.OnCPU {
		return
	}
	for i, o := range p.Plan.of[at:] {
		if i > 0 && modes[i] != cost.OnCPU && o.scans != nil && !slices.ContainsFunc(scans, func(s int) bool { return !slices.Contains(o.scans, s) }) {
			p.joining = scans
		}
	}
}

// weighPairs predicts what finding the pairs of a join takes.
func (p *Pairing) weighPairs(q *physical.JoinQuery) (backends.Weighed, error) {
	w, parts := cost.OfPairs(q), []*cost.Work{}
	if d, _, _ := p.View.Now(); d != nil {
		divided, _ := dividePairs(d, q)
		for _, of := range divided {
			parts = append(parts, cost.OfPairs(of.Q))
		}
	} else {
		parts = append(parts, w)
	}
	return p.View.Weigh(w, func(host, device *cost.Backend) (onHost, onDevice float64) {
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

// Find is a [joinorder.FindPairs]: each device joins its part. What a device has no room for is joined bucket by bucket, what it has no room for then,
// either, is left to cpu.
func (p *Pairing) Find(ctx context.Context, q *physical.JoinQuery) (found physical.JoinPairs, how string, err error) {
	err = p.View.On(ctx, "compute", &p.opening, func(b backends.Backend) (err error) {
		p.Took.Start(b.Name(), p.opening)
		p.opening = 0
		s := b.(*backends.Passes)
		if err := p.on(s.Devices, heldOf(q)...); err != nil {
			return err
		}
		if p.Watch != nil { // the first device has the whole of both tables for it, until the pass that runs when ctx ends: see [engine.Inside.Watch]
			of := &pairPart{g: s.GPUs[0], Q: q}
			if err = of.g.Context.Do(context.WithoutCancel(ctx), func() error { return p.joins(ctx, s, of)() }); err == nil {
				found, how = of.Found, joinedBy(s.Devices, q, []*pairPart{of}, 0)
				p.Ran = append(p.Ran, of.steps...)
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
			p.Ran = append(p.Ran, of.steps...)
		}
		return nil
	})
	if errors.As(err, new(*textures.BudgetError)) {
		err = &plan.Declined{Why: err.Error()}
	}
	return found, how, err
}

// joins has a device join its part; wait gives its error.
func (p *Pairing) joins(ctx context.Context, s *backends.Passes, of *pairPart) (wait func() error) {
	g, q := of.g, of.Q
	n := &Noting{Runner: g.GL, G: g, Of: func(p *pass.Pass) *table.Table { return relational.SideOf(q, p).Table }}
	return g.Start(ctx, q.Sides[0], n, p.Took, func(run pass.Runner) (err error) {
		if p.Watch != nil {
			n.Runner = p.Watch(backends.Stage{Runner: g.GL, Context: g.Context, Pairs: q})
		}
		err = run.Apart(q.Sides[0].Table, func() error {
			if of.Found, err = relational.Pairs(run, g.Computes, q); err == nil {
				err = p.keep(g, slices.Concat(of.Found.Held[0], of.Found.Held[1]))
			}
			return err
		})
		if of.buckets = backends.Lacks(err) && p.Watch == nil && q.KeepOnDevice == nil; of.buckets {
			var sides [2][]physical.Bucket
			if sides, err = dealt(ctx, q, relational.BucketBits(q, s.Room()/2)); err == nil {
				of.Found, err = relational.PairsInBuckets(run, g.Computes, q, sides, s.Room()/2)
			}
			n.Steps = backends.Added(n.Steps)
		}
		of.steps = n.Steps
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
func (p *Pairing) share(ctx context.Context, s *backends.Devices, q *physical.JoinQuery, parts []*pairPart, side int) error {
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
	if d := parts[0].Device; len(parts) == 1 && lists[0].Parts[d] == lists[0].N {
		parts[0].Q = withLists(parts[0].Q, side, func(l physical.RowIDs) physical.RowIDs { return onOne(l, d) })
		return nil
	}
	if bytes := int64(4 * len(lists) * lists[0].N); bytes > p.Memory {
		return &plan.Declined{Why: fmt.Sprintf("%d bytes of rows go from device to device by way of host memory, which has no room for them", bytes)}
	}
	rows, err := p.read(ctx, s, lists, nil)
	if err != nil {
		return err
	}
	for _, of := range parts {
		of.Q = withLists(of.Q, side, func(l physical.RowIDs) physical.RowIDs {
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
func (p *Pairing) open(g *devicepool.GPU) *lasting {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &lasting{g.GL.Open(), g}
	p.kept = append(p.kept, k)
	return k
}

// keep keeps lists that a device has made, on its GL thread.
func (p *Pairing) keep(g *devicepool.GPU, held []*physical.Held) error {
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
func (of *pairPart) drop() { drop(slices.Concat(of.Found.Held[0], of.Found.Held[1])) }

// Close releases what is kept, after what the GL threads may be at.
func (p *Pairing) Close() {
	if p == nil || p.Holds == nil {
		return
	}
	for _, g := range p.Holds.GPUs {
		p.View.Background(func() {
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

// ErrRowsLost is the error of a join whose rows went with a device that was closed.
var ErrRowsLost = sqlstate.Errorf(sqlstate.SerializationFailure, "engine: the device was closed while rows of a join were there: run the statement again")

// on notes the devices that keep what the joins find: lists of others are lost.
func (p *Pairing) on(s *backends.Devices, lists ...*physical.Held) error {
	for _, h := range lists {
		if h != nil && h.By != any(s) {
			return ErrRowsLost
		}
	}
	p.Holds = s
	return nil
}

// Read implements [joinorder.Holder].
func (p *Pairing) Read(ctx context.Context, list []*physical.Held, places []uint32) (out [][]uint32, err error) {
	err = p.View.On(ctx, "compute", &p.opening, func(b backends.Backend) error {
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
func (p *Pairing) read(ctx context.Context, s *backends.Devices, list []*physical.Held, places []uint32) ([][]uint32, error) {
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
func (p *Pairing) Columns(ctx context.Context, list []joinorder.HeldColumn) ([][]*table.Segment, error) {
	out := make([][]*table.Segment, len(list[0].Rows.Held.Parts)) // which a GL thread may still write when ctx has ended
	why, err := p.gathers(list)
	if err == nil {
		if err = p.there(ctx, heldColumns(list), func(d int, g *devicepool.GPU, run pass.Runner, passes *Noting) (err error) {
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
func (p *Pairing) dropAll(columns [][]*table.Segment) {
	if p.Holds == nil {
		return
	}
	for d, g := range p.Holds.GPUs {
		p.View.Background(func() {
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
func (p *Pairing) Where(ctx context.Context, list []joinorder.HeldColumn, query func([]*table.Segment) (*physical.Query, error), lists []physical.RowIDs) (held []*physical.Held, n int, err error) {
	devices := len(list[0].Rows.Held.Parts)
	found, rows := make([][]*physical.Held, devices), make([]int, devices) // which a GL thread may still write when ctx has ended
	err = p.there(ctx, heldColumns(list), func(d int, g *devicepool.GPU, run pass.Runner, passes *Noting) error {
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
		passes.Of = func(*pass.Pass) *table.Table { return q.Table }
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
	return keptLists(p.Holds, found), n, nil
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
func (p *Pairing) there(ctx context.Context, held []*physical.Held, do func(d int, g *devicepool.GPU, run pass.Runner, passes *Noting) error, undo func(d int, g *devicepool.GPU)) error {
	err := p.View.On(ctx, "compute", &p.opening, func(b backends.Backend) error {
		s := b.(*backends.Passes).Devices
		if err := p.on(s, held...); err != nil {
			return err
		}
		var devices []int
		var notes []*Noting
		var waits []func() error
		for d, g := range s.GPUs {
			if len(s.GPUs) > 1 && (len(held) == 0 || held[0].Parts[d] == 0) {
				continue
			}
			passes := &Noting{Runner: g.GL, G: g, Of: func(*pass.Pass) *table.Table { return nil }}
			devices, notes = append(devices, d), append(notes, passes)
			waits = append(waits, g.Start(ctx, &physical.Query{}, passes, p.Took, func(run pass.Runner) error { return do(d, g, run, passes) }))
		}
		if err := allOrNone(waits, func(i int) { undo(devices[i], s.GPUs[devices[i]]) }); err != nil {
			return err
		}
		for _, n := range notes {
			p.Ran = append(p.Ran, n.Steps...)
		}
		return nil
	})
	if backends.Lacks(err) || errors.Is(err, backends.ErrUnsupported) {
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
func (p *Pairing) gathered(d int, g *devicepool.GPU, run pass.Runner, passes *Noting, list []joinorder.HeldColumn) (out []*table.Segment, k *lasting, err error) {
	k = p.open(g)
	for _, c := range list {
		rows := onOne(c.Rows, d)
		passes.Of = func(*pass.Pass) *table.Table { return c.Table }
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
func (p *Pairing) gathers(list []joinorder.HeldColumn) (why string, err error) {
	if p.Plan == nil {
		return "", nil
	}
	w, lists := &cost.Work{}, map[*physical.Held]int64{}
	for _, c := range list {
		w.Gather(c.Table, c.Col, c.Rows.Len())
		lists[c.Rows.Held] = int64(4 * c.Rows.Len())
	}
	there, why, err := p.View.PredictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) {
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
func (p *Pairing) chose(what, why string, err error) {
	step := backends.Step{Pass: "Choice(" + what + " on compute)", Counts: why}
	if err != nil {
		step = backends.Step{Pass: "Choice(" + what + " on cpu)", Counts: err.Error()}
	}
	if n := len(p.choices); p.Plan == nil || err != nil && !plan.IsDeclined(err) || n > 0 && p.choices[n-1] == step { // which was asked for again
		return
	}
	p.choices = append(p.choices, step)
}

// Count implements [joinorder.Holder].
func (p *Pairing) Count(ctx context.Context, q *physical.Query) (n int, err error) {
	why := ""
	defer func() { p.chose("filter of "+q.Table.Name, why, err) }()
	if p.Plan != nil {
		w := cost.Of(q)
		there := false
		there, why, err = p.View.PredictWork(w, func(host, device *cost.Backend) (onHost, onDevice float64) { return host.Run(w), device.Run(w) })
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
	err = p.View.On(ctx, "compute", &p.opening, func(b backends.Backend) error {
		p.Took.Start(b.Name(), p.opening)
		p.opening = 0
		s := b.(*backends.Passes)
		notes := map[*devicepool.GPU]*Noting{}
		for _, g := range s.GPUs {
			notes[g] = &Noting{Runner: g.GL, G: g, Of: func(*pass.Pass) *table.Table { return q.Table }}
		}
		var values []table.Value
		if parts := s.PartsOnce(q); len(parts) > 1 {
			values, err = s.MergedOnAll(ctx, q, parts, p.Took, func(g *devicepool.GPU) pass.Runner { return notes[g] })
		} else {
			values, err = s.Alone(ctx, parts[0], p.Took, notes[parts[0].GPU])
		}
		if err != nil {
			return err
		}
		n = int(values[0].I)
		for _, g := range s.GPUs {
			p.Ran = append(p.Ran, notes[g].Steps...)
		}
		return nil
	})
	if backends.Lacks(err) || errors.Is(err, backends.ErrUnsupported) {
		err = &plan.Declined{Why: err.Error()}
	}
	return n, err
}

// Noting is a runner that notes its passes, and has the store name the columns that they read.
type Noting struct {
	pass.Runner
	G     *devicepool.GPU
	Of    func(*pass.Pass) *table.Table // of the columns that a pass reads
	Steps []backends.Step
}

// Run implements [pass.Runner].
func (n *Noting) Run(p *pass.Pass) (pass.Count, error) {
	n.G.Store.Name(n.Of(p))
	n.Steps = append(n.Steps, backends.StepOn(n.G, p))
	return n.Runner.Run(p)
}

// Steps are what joins did, one after the other, who was chosen for them, then the passes that found pairs.
func (p *Pairing) Steps(list []join.Step) (steps []backends.Step) {
	for i, s := range list {
		ms := 1e3 * s.Elapsed.Seconds()
		step := backends.Step{Pass: s.Table, Counts: numbers.Count(int64(s.Out), "row", "rows"), MS: &ms}
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
		steps = slices.Concat(steps, p.choices, p.Ran)
	}
	return steps
}
