package join

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

const (
	// joinRows is how many rows of the largest input a worker takes at a time.
	joinRows = 1 << 15
	// joinPairs is about how many pairs are looked at, at a time.
	joinPairs = 1 << 16
)

// joinBlock is some rows on their way through the steps of a join.
type joinBlock struct {
	n        int
	ids      []IDs // by scan, of those that it has
	nullable []bool
}

func (b *joinBlock) rowsOf(scan int) IDs      { return b.ids[scan] }
func (b *joinBlock) isNullable(scan int) bool { return b.nullable[scan] }
func (i IDs) cut(lo, hi int) IDs {
	if i.List == nil {
		return IDs{nil, i.first + lo}
	}
	return IDs{i.List[lo:hi], 0}
}

// At is the rows at places of a block's; NoRow for the place NoRow.
func (i IDs) At(places []uint32) IDs {
	out := make([]uint32, len(places))
	for k, p := range places {
		switch {
		case p == NoRow:
			out[k] = NoRow
		case i.List == nil:
			out[k] = uint32(i.first) + p
		default:
			out[k] = i.List[p]
		}
	}
	return IDs{out, 0}
}

// block is some rows of a relation.
func (j *Host) block(r *Relation, lo, hi int) *joinBlock {
	b := &joinBlock{n: hi - lo, ids: make([]IDs, len(j.Scans)), nullable: make([]bool, len(j.Scans))}
	for i, s := range r.Scans {
		b.ids[s], b.nullable[s] = IDs{r.IDs[i], 0}.cut(lo, hi), r.Nullable[s]
	}
	return b
}

// chunkOf is the rows of a block as a chunk with some columns.
func (j *Host) chunkOf(b *joinBlock, columns []int) *table.Chunk {
	c := &table.Chunk{Rows: b.n, Segments: make([]*table.Segment, len(j.Fields))}
	for _, col := range columns {
		s := j.ScanOf(col)
		c.Segments[col] = orNothing(j.Column(col).SegmentOf(b.ids[s], b.n, b.nullable[s]))
	}
	return c
}

// prepare makes what a step needs before the first block.
func (j *Host) prepare(s *Stage, probe *Relation) error {
	start := time.Now()
	defer func() { s.elapsed = time.Since(start) }()
	s.there = s.Build.Rows
	if s.KeepBuild {
		defer func() { s.matched = make([]uint64, (s.Build.Rows+63)/64) }()
	}
	s.way = "nested loops"
	if len(s.Keys) == 0 || j.ByIndex(s, probe.Rows) {
		return nil
	}
	for {
		lists := make([]hashtable.Keys, len(s.Keys))
		width := 0
		for i, k := range s.Keys {
			if k.How == ByRank {
				k.ranked(j.Column(k.Probe.(*expr.Column).Index), j.Column(k.Build.(*expr.Column).Index))
			}
			var err error
			if lists[i], err = j.NumbersOf(k, s.Build); err != nil {
				return err
			}
			k.bounded(lists[i])
			if len(s.Keys) == 1 {
				if err := j.semiJoinReduce(s, probe, &lists[i]); err != nil {
					return err
				}
			}
			width += bits.Len64(k.max - k.min)
		}
		if width > 64 && len(s.Keys) > 1 { // the others are looked at pair by pair
			last := len(s.Keys) - 1
			s.Also, s.Keys = append(s.Also, s.Keys[last].e), s.Keys[:last]
			for _, k := range s.Keys {
				k.ranks, k.words, k.pairs = nil, nil, nil
			}
			continue
		}
		lists = s.soleKey(j.Way, lists)
		lo, hi := s.Keys[0].min, s.Keys[0].max
		if len(s.Keys) > 1 {
			lo, hi = 0, 1<<width-1
		}
		var order []uint32
		exists := s.exists() && len(s.rest) == 0
		s.index, s.way, order, s.unique = newJoinIndex(j.Way, packed(s.Keys, lists), lo, hi, exists)
		if s.plain = j.plain(s, probe); s.plain && !s.KeepProbe && s.Kind != plan.Anti {
			s.likely = s.index.(*perfectIndex).codes(j.Column(s.Keys[0].Probe.(*expr.Column).Index))
		}
		for i := range s.rest {
			s.rest[i].Keys = s.rest[i].At(order)
		}
		if s.KeepBuild { // rows without a key stand at the end: they have no partner, and are kept
			order = withRest(order, s.Build.Rows)
		}
		if !exists {
			s.Build = s.Build.ordered(order)
		}
		return nil
	}
}

// manyTimes is how many times as many rows as the probe side the build side must have. Then it pays to drop the build rows that no
// probe row matches.
const manyTimes = 4

// semiJoinReduce makes NULL of the keys of build rows that no row of a much smaller probe side has. The table of the remaining rows
// is small.
func (j *Host) semiJoinReduce(s *Stage, probe *Relation, of *hashtable.Keys) error {
	k := s.Keys[0]
	c, ok := k.Probe.(*expr.Column)
	if !ok || k.How != ByOrdinal || s.KeepBuild || !probe.has(j.ScanOf(c.Index)) || s.Build.Rows < joinRows || s.Build.Rows/manyTimes < probe.Rows || !densely(s.Build.Rows, k.min, k.max) {
		return nil
	}
	size := k.max - k.min + 1
	wanted := table.NewBitmap(int(size))
	var failed atomic.Pointer[error]
	j.Column(c.Index) // before others ask for it
	table.InParts(probe.Rows, func(lo, hi int) {
		have, err := j.numbers(k, j.block(probe, lo, hi), new(vector.Evaluator), false)
		if err != nil {
			failed.Store(&err)
			return
		}
		for i, x := range have.Numbers {
			if x -= k.min; x < size && !have.IsNull(i) {
				atomic.OrUint64(&wanted[x>>6], 1<<(x&63))
			}
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	if of.Null == nil {
		of.Null = table.NewBitmap(len(of.Numbers))
	}
	table.InParts(len(of.Numbers), func(lo, hi int) {
		for i, x := range of.Numbers[lo:hi] {
			if !of.IsNull(lo+i) && !wanted.Get(int(x-k.min)) {
				of.Null.Set(lo + i)
			}
		}
	})
	return nil
}

// restKey is a key that is compared where the first has found a partner.
type restKey struct {
	*Key
	hashtable.Keys // of the build side
}

// soleKey looks for one of several keys whose numbers are dense and different in all rows of the build side.
// That key alone finds the partners, and the others are compared. It returns the numbers of the keys that are
// left.
func (s *Stage) soleKey(way string, lists []hashtable.Keys) []hashtable.Keys {
	if len(lists) == 1 || len(s.Also) > 0 || way != "auto" && way != "perfect" && way != "index" {
		return lists
	}
	for i, k := range s.Keys {
		rows := len(lists[i].Numbers) - lists[i].Nulls()
		if rows == 0 || !densely(rows, k.min, k.max) {
			continue
		}
		if _, _, unique := newPerfectIndex(lists[i], k.min, k.max, rows, false); !unique {
			continue
		}
		for r, other := range s.Keys {
			if r != i {
				s.rest = append(s.rest, restKey{other, lists[r]})
			}
		}
		s.Keys = []*Key{k}
		return lists[i : i+1]
	}
	return lists
}

// compare takes away the partners whose other keys are not the same, and returns how many are left.
func (p *pipelined) compare(s *Stage, b *joinBlock, eval *vector.Evaluator, partners []uint32) (found int, err error) {
	for _, r := range s.rest {
		have, err := p.numbers(r.Key, b, eval, false)
		if err != nil {
			return 0, err
		}
		found = 0
		for i, at := range partners {
			if at == NoRow {
				continue
			}
			if have.Numbers[i] != r.Numbers[at] || have.IsNull(i) || r.IsNull(int(at)) {
				partners[i] = NoRow
			} else {
				found++
			}
		}
	}
	return found, nil
}

// plain reports that partners are found by the codes of a column of the probe side.
func (j *Host) plain(s *Stage, probe *Relation) bool {
	if _, ok := s.index.(*perfectIndex); !ok || len(s.Keys) > 1 || s.Keys[0].How != ByOrdinal {
		return false
	}
	col := s.Keys[0].Probe.(*expr.Column).Index
	c, scan := j.Column(col), j.ScanOf(col)
	return !c.HasNulls && !probe.Nullable[scan] && len(c.chunks) == 1 && probe.has(scan)
}

// withRest is a list of some numbers below n with the others behind them.
func withRest(order []uint32, n int) []uint32 {
	has := table.NewBitmap(n)
	for _, i := range order {
		has.Set(int(i))
	}
	for i := range n {
		if !has.Get(i) {
			order = append(order, uint32(i))
		}
	}
	return order
}

// ordered is the relation with its rows in another order.
func (r *Relation) ordered(order []uint32) *Relation {
	out := *r
	out.Rows, out.IDs = len(order), nil
	for _, list := range r.IDs {
		moved := make([]uint32, len(order))
		table.InParts(len(order), func(lo, hi int) {
			for i, at := range order[lo:hi] {
				if list != nil {
					at = list[at]
				}
				moved[lo+i] = at
			}
		})
		out.IDs = append(out.IDs, moved)
	}
	return &out
}

// NumbersOf are those of all rows of the build side, on all cores.
func (j *Host) NumbersOf(k *Key, build *Relation) (hashtable.Keys, error) {
	switch {
	case k.How == ByWord:
		return j.wordNumbers(k, build)
	case k.pairs != nil || build.Rows <= joinRows:
		out, err := j.numbers(k, j.block(build, 0, build.Rows), new(vector.Evaluator), true)
		return j.orWide(k, build, out, err)
	}
	out := hashtable.Keys{Numbers: make([]uint64, build.Rows)}
	var mu sync.Mutex
	var failed error
	if k.How == ByOrdinal || k.How == ByRank {
		j.Column(k.Build.(*expr.Column).Index) // before others ask for it
	}
	table.InParts(build.Rows, func(from, to int) {
		for eval := new(vector.Evaluator); from < to; from += joinRows {
			lo := from
			part, err := j.numbers(k, j.block(build, lo, min(to, lo+joinRows)), eval, true)
			mu.Lock()
			if err = cmp.Or(err, j.Ctx.Err(), failed); err != nil {
				failed = err
				mu.Unlock()
				return
			}
			if part.Null != nil && out.Null == nil {
				out.Null = table.NewBitmap(build.Rows)
			}
			mu.Unlock()
			copy(out.Numbers[lo:], part.Numbers)
			if part.Null != nil {
				copy(out.Null[lo/64:], part.Null)
			}
		}
	})
	return j.orWide(k, build, out, failed)
}

// orWide is numbers of a key; those of DECIMALs for some of which 64 bits are not enough are made again, as the values come.
func (j *Host) orWide(k *Key, build *Relation, of hashtable.Keys, err error) (hashtable.Keys, error) {
	if err != nil || !k.wide.Load() || k.pairs != nil {
		return of, err
	}
	k.pairs = map[[2]int64]uint64{}
	return j.numbers(k, j.block(build, 0, build.Rows), new(vector.Evaluator), true)
}

// Pipeline is the rows of a relation in host memory that go through steps and then satisfy conditions.
func (j *Host) Pipeline(probe *Relation, steps []*Stage, conditions []expr.Expr) (*Relation, error) {
	for _, s := range steps {
		if err := j.prepare(s, probe); err != nil {
			return nil, err
		}
	}
	if len(conditions) > 0 {
		steps = append(steps, &Stage{Also: conditions})
	}
	p := &pipelined{Host: j, probe: probe, steps: steps, need: j.neededAfter(steps)}
	if j.Depth == 0 {
		p.most = j.AtMost
	}
	out := &Relation{Scans: slices.Clone(probe.Scans), Nullable: map[int]bool{}, Name: probe.Name}
	for s := range probe.Nullable {
		out.Nullable[s] = true
	}
	for _, s := range steps {
		if s.Build == nil || s.Kind.LeftOnly() {
			continue
		}
		out.Scans, out.Name = append(out.Scans, s.Build.Scans...), out.Name+", "+s.Build.Name
		for _, scan := range s.Build.Scans {
			out.Nullable[scan] = s.Build.Nullable[scan] || s.KeepProbe
		}
		if s.KeepBuild {
			for _, scan := range probe.Scans {
				out.Nullable[scan] = true
			}
		}
	}
	p.rowBytes = j.RowBytes(out.Scans)
	if err := p.refuseProduct(); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := p.run(out); err != nil {
		return nil, err
	}
	j.note(p, time.Since(start))
	j.Enough = p.enough
	return out, nil
}

// note keeps what the steps of a pipeline did.
func (j *Host) note(p *pipelined, elapsed time.Duration) {
	j.Steps = append(j.Steps, Step{Table: p.probe.Name, In: p.probe.Rows, Out: p.probe.Rows})
	for i, s := range p.steps {
		step := Step{On: s.on(), Way: s.kindOf() + s.way, Out: int(s.out.Load()), Expected: int(min(s.Expected+0.5, 1<<62)), Elapsed: s.elapsed}
		if s.Build != nil {
			step.Table, step.In = s.Build.Name, s.there
		} else {
			step.Table, step.Way = "Filter", ""
		}
		if i == len(p.steps)-1 {
			step.Elapsed += elapsed
		}
		if p.enough {
			step.Expected, step.Way = 0, step.Way+" until there are enough rows"
		}
		j.Steps = append(j.Steps, step)
	}
}

// neededAfter says of each step which scans are looked at after it: the others' rows are not
// listed any more. After the last step the result needs those of its columns, and a join above this one
// those that some condition reads.
func (j *Host) neededAfter(steps []*Stage) [][]bool {
	need := make([][]bool, len(steps)+1)
	last := make([]bool, len(j.Scans))
	for s := range j.Scans {
		last[s] = j.Needed[s] || j.Depth > 0 && j.Read[s]
	}
	need[len(steps)] = last
	for i := len(steps) - 1; i >= 0; i-- {
		now := slices.Clone(need[i+1])
		keys := steps[i].Keys
		for _, r := range steps[i].rest {
			keys = append(slices.Clip(keys), r.Key)
		}
		for _, k := range keys {
			for _, s := range j.ScansOf(k.Probe) {
				now[s] = true
			}
		}
		for _, e := range steps[i].Also {
			for _, s := range j.ScansOf(e) {
				now[s] = true
			}
		}
		need[i] = now
	}
	return need
}

// pipelined is a pipeline that runs.
type pipelined struct {
	*Host
	probe    *Relation
	steps    []*Stage
	need     [][]bool
	rowBytes int
	rows     atomic.Int64 // of the result so far
	over     atomic.Bool  // they do not fit
	most     int          // rows that are wanted of it, any of them; 0 for all
	enough   bool         // that many have come: it has ended there
}

// batch is how many pairs are looked at, at a time: where few rows are wanted, not many more.
func (p *pipelined) batch() int {
	if p.most > 0 {
		return min(joinPairs, max(joinPairs/64, p.most))
	}
	return joinPairs
}

// errEnough ends the way of a block that has given as many rows as are wanted.
var errEnough = errors.New("cpu: there are enough rows")

// refuseProduct refuses a result whose size is known before, where it does not fit.
func (p *pipelined) refuseProduct() error {
	if p.most > 0 {
		return nil
	}
	rows := float64(p.probe.Rows)
	for _, s := range p.steps {
		if s.Build == nil || s.Kind.LeftOnly() || len(s.Keys) > 0 || len(s.Also) > 0 {
			return nil
		}
		rows *= float64(s.Build.Rows)
	}
	if len(p.steps) > 0 && p.fits(rows) != nil {
		return p.TooLarge(rows, p.rowBytes, true)
	}
	return nil
}

// fits is an error for more rows than there may be.
func (p *pipelined) fits(rows float64) error {
	if rows >= NoRow || p.Memory != nil && rows*float64(p.rowBytes) > float64(p.Room()) {
		return p.TooLarge(rows, p.rowBytes, false)
	}
	return nil
}

// found is what came of a block of the probe side.
type found struct {
	n   int
	ids []IDs // by scan
	err error
}

// run sends all rows through the steps, then those of the build sides that stand alone.
func (p *pipelined) run(out *Relation) error {
	var all []found
	rows := 0
	blocks := func(yield func([2]int) bool) {
		for lo := 0; lo < p.probe.Rows; lo += joinRows {
			if p.over.Load() || p.Ctx.Err() != nil || !yield([2]int{lo, min(p.probe.Rows, lo+joinRows)}) {
				return
			}
		}
	}
	evals := make([]vector.Evaluator, p.Workers())
	for f := range ordered.Map(p.Workers(), blocks, func(w int, at [2]int) found {
		return p.through(0, p.block(p.probe, at[0], at[1]), &evals[w])
	}) {
		if f.err != nil {
			return f.err
		}
		all, rows = append(all, f), rows+f.n
		if p.enough = p.most > 0 && rows >= p.most; p.enough {
			break
		}
	}
	for i, s := range p.steps {
		if !s.KeepBuild || p.enough {
			continue
		}
		for lo := 0; lo < s.Build.Rows; lo += joinRows {
			if b := p.alone(i, lo, min(s.Build.Rows, lo+joinRows)); b.n > 0 {
				s.out.Add(int64(b.n))
				f := p.through(i+1, b, &evals[0])
				if f.err != nil {
					return f.err
				}
				all, rows = append(all, f), rows+f.n
			}
		}
	}
	if err := p.Ctx.Err(); err != nil {
		return err
	}
	if !p.enough { // those that did not fit are not in all
		rows = int(p.rows.Load())
	}
	if err := p.fits(float64(rows)); err != nil {
		return err
	}
	out.Rows = rows
	out.IDs = make([][]uint32, len(out.Scans))
	for i, s := range out.Scans {
		if !p.need[len(p.steps)][s] {
			continue
		}
		at, whole := make([]int, len(all)+1), rows == p.probe.Rows // all rows of a table in their order need no list
		for k, f := range all {
			of := f.ids[s]
			whole = whole && of.List == nil && of.first == at[k]
			at[k+1] = at[k] + f.n
		}
		if whole {
			continue
		}
		list := make([]uint32, rows)
		ordered.Each(len(all), func(k int) { all[k].ids[s].appended(list[at[k]:at[k]], all[k].n) })
		out.IDs[i] = list
	}
	return nil
}

// alone is the rows of a step's build side that had no partner, beside none of the scans before.
func (p *pipelined) alone(step, lo, hi int) *joinBlock {
	s := p.steps[step]
	var rows []uint32
	for i := lo; i < hi; i++ {
		if s.matched[i/64]>>(i%64)&1 == 0 {
			rows = append(rows, uint32(i))
		}
	}
	b := &joinBlock{n: len(rows), ids: make([]IDs, len(p.Scans)), nullable: make([]bool, len(p.Scans))}
	nobody := slices.Repeat([]uint32{NoRow}, len(rows))
	mark := func(scans []int) {
		for _, scan := range scans {
			b.ids[scan], b.nullable[scan] = IDs{nobody, 0}, true
		}
	}
	mark(p.probe.Scans)
	for _, before := range p.steps[:step] {
		mark(before.Build.Scans)
	}
	for i, scan := range s.Build.Scans {
		b.ids[scan], b.nullable[scan] = IDs{s.Build.IDs[i], 0}.At(rows), s.Build.Nullable[scan]
	}
	return b
}

// Pipeline sends a block through the steps from one on. Of the rows that come it keeps what is needed: nothing, where they are counted.
func (p *pipelined) through(step int, b *joinBlock, eval *vector.Evaluator) (out found) {
	var all []*joinBlock
	last := p.need[len(p.steps)]
	err := p.step(step, b, eval, func(b *joinBlock) error {
		if slices.Contains(last, true) {
			kept := &joinBlock{n: b.n, ids: make([]IDs, len(b.ids))}
			for scan, need := range last {
				if need {
					kept.ids[scan] = b.ids[scan]
				}
			}
			all = append(all, kept)
		}
		if out.n += b.n; p.most > 0 && out.n >= p.most {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		out.err = err
		return out
	}
	out.ids = make([]IDs, len(p.Scans))
	for scan, need := range last {
		switch {
		case !need || len(all) == 0:
		case len(all) == 1:
			out.ids[scan] = all[0].ids[scan]
		default:
			list := make([]uint32, 0, out.n)
			for _, b := range all {
				list = b.ids[scan].appended(list, b.n)
			}
			out.ids[scan] = IDs{list, 0}
		}
	}
	return out
}

// appended is a list with n rows behind it.
func (i IDs) appended(list []uint32, n int) []uint32 {
	if i.List != nil {
		return append(list, i.List[:n]...)
	}
	for k := range n {
		list = append(list, uint32(i.first+k))
	}
	return list
}

// step sends a block through the steps from one on, and calls done with the rows at the end.
func (p *pipelined) step(step int, b *joinBlock, eval *vector.Evaluator, done func(*joinBlock) error) error {
	if b.n == 0 {
		return nil
	}
	if step == len(p.steps) {
		if p.fits(float64(p.rows.Add(int64(b.n)))) != nil {
			p.over.Store(true)
			return errEnough
		}
		return done(b)
	}
	s := p.steps[step]
	if s.Build == nil {
		keep, err := p.holds(b, s.Also)
		if err != nil {
			return err
		}
		s.out.Add(int64(len(keep)))
		return p.step(step+1, p.gather(b, keep, step), eval, done)
	}
	if s.likely != nil {
		col := s.Keys[0].Probe.(*expr.Column).Index
		if b = p.gather(b, candidates(s.likely, p.Column(col).chunks[0].Codes, b.rowsOf(p.ScanOf(col)), b.n), step); b.n == 0 {
			return nil
		}
	}
	if s.exists() || s.unique && len(s.Also) == 0 {
		return p.single(step, b, eval, done)
	}
	from, to, err := p.ranges(s, b, eval)
	if err != nil {
		return err
	}
	var had table.Bitmap
	if s.KeepProbe || s.Kind.LeftOnly() {
		had = table.NewBitmap(b.n)
	}
	places, partners := make([]uint32, 0, b.n), make([]uint32, 0, b.n)
	flush := func() error {
		if p.over.Load() {
			return errEnough
		}
		pairs := p.pairs(b, step, places, partners)
		if len(s.Also) > 0 {
			keep, err := p.holds(pairs, s.Also)
			if err != nil {
				return err
			}
			pairs = p.gather(pairs, keep, step)
			for k, i := range keep {
				places[k], partners[k] = places[i], partners[i]
			}
			places, partners = places[:len(keep)], partners[:len(keep)]
		}
		if had != nil {
			for _, i := range places {
				had.Set(int(i))
			}
		}
		if s.matched != nil {
			for _, i := range partners {
				atomic.OrUint64(&s.matched[i/64], 1<<(i%64))
			}
		}
		if !s.Kind.LeftOnly() {
			s.out.Add(int64(len(places)))
		}
		places, partners = places[:0], partners[:0]
		if s.Kind.LeftOnly() {
			return nil
		}
		return p.step(step+1, pairs, eval, done)
	}
	for i := range from {
		for at := from[i]; at < to[i] && !(s.Kind.LeftOnly() && had.Get(i)); at++ {
			places, partners = append(places, uint32(i)), append(partners, at)
			if len(places) == p.batch() {
				if err := p.Ctx.Err(); err != nil {
					return err
				}
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(places) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	if had == nil {
		return nil
	}
	if s.Kind.LeftOnly() {
		return p.among(step, b, func(i int) bool { return had.Get(i) }, eval, done)
	}
	for i := range b.n {
		if !had.Get(i) {
			places, partners = append(places, uint32(i)), append(partners, NoRow)
		}
	}
	s.out.Add(int64(len(places)))
	return p.step(step+1, p.pairs(b, step, places, partners), eval, done)
}

// ranges are where the candidates of each row of a block begin and end.
func (p *pipelined) ranges(s *Stage, b *joinBlock, eval *vector.Evaluator) (from, to []uint32, err error) {
	from, to = make([]uint32, b.n), make([]uint32, b.n)
	if s.index == nil {
		for i := range to {
			to[i] = uint32(s.Build.Rows)
		}
		return from, to, nil
	}
	lists := make([]hashtable.Keys, len(s.Keys))
	for i, k := range s.Keys {
		if lists[i], err = p.numbers(k, b, eval, false); err != nil {
			return nil, nil, err
		}
	}
	s.index.Find(packed(s.Keys, lists), from, to)
	return from, to, nil
}

// single is a step in which each row has one partner at most, or any of them will do.
func (p *pipelined) single(step int, b *joinBlock, eval *vector.Evaluator, done func(*joinBlock) error) error {
	s, found := p.steps[step], 0
	var partners []uint32
	if s.plain {
		partners = make([]uint32, b.n)
		col := s.Keys[0].Probe.(*expr.Column).Index
		found = s.index.(*perfectIndex).partners(p.Column(col), b.rowsOf(p.ScanOf(col)), partners)
	} else {
		from, to, err := p.ranges(s, b, eval)
		if err != nil {
			return err
		}
		partners = from
		for i := range partners {
			if from[i] == to[i] {
				partners[i] = NoRow
			} else {
				found++
			}
		}
	}
	if len(s.rest) > 0 {
		var err error
		if found, err = p.compare(s, b, eval, partners); err != nil {
			return err
		}
	}
	if s.Kind.LeftOnly() {
		return p.among(step, b, func(i int) bool { return partners[i] != NoRow }, eval, done)
	}
	var places []uint32 // nil for all
	if found < b.n && !s.KeepProbe {
		places = make([]uint32, b.n)
		n := 0
		for i, at := range partners {
			places[n], partners[n] = uint32(i), at
			if at != NoRow {
				n++
			}
		}
		places, partners = places[:n], partners[:n]
	}
	if s.matched != nil {
		for _, i := range partners {
			if i != NoRow {
				atomic.OrUint64(&s.matched[i/64], 1<<(i%64))
			}
		}
	}
	s.out.Add(int64(len(partners)))
	return p.step(step+1, p.pairs(b, step, places, partners), eval, done)
}

// among is a semi join, whose rows are those that have a partner, or an anti join of the others.
func (p *pipelined) among(step int, b *joinBlock, partnered func(i int) bool, eval *vector.Evaluator, done func(*joinBlock) error) error {
	s := p.steps[step]
	places := make([]uint32, 0, b.n)
	for i := range b.n {
		if partnered(i) == (s.Kind == plan.Semi) {
			places = append(places, uint32(i))
		}
	}
	s.out.Add(int64(len(places)))
	if len(places) == b.n {
		places = nil
	}
	return p.step(step+1, p.gather(b, places, step), eval, done)
}

// pairs are rows of a block beside rows of a step's build side, NoRow for none.
func (p *pipelined) pairs(b *joinBlock, step int, places, partners []uint32) *joinBlock {
	out := p.gather(b, places, step)
	s := p.steps[step]
	for i, scan := range s.Build.Scans {
		if p.reads(step, scan) {
			out.ids[scan] = IDs{s.Build.IDs[i], 0}.At(partners)
		}
		out.nullable[scan] = s.KeepProbe || s.Build.Nullable[scan]
	}
	return out
}

// reads reports that a scan is looked at in the conditions of a step or after it.
func (p *pipelined) reads(step, scan int) bool { return p.need[step][scan] || p.need[step+1][scan] }

// gather is the rows at places of a block's; nil for all.
func (p *pipelined) gather(b *joinBlock, places []uint32, step int) *joinBlock {
	if places == nil {
		return &joinBlock{b.n, slices.Clone(b.ids), slices.Clone(b.nullable)}
	}
	out := &joinBlock{n: len(places), ids: make([]IDs, len(p.Scans)), nullable: slices.Clone(b.nullable)}
	for scan, of := range b.ids {
		if p.reads(step, scan) && (of.List != nil || p.in(scan, step)) {
			out.ids[scan] = of.At(places)
		}
	}
	return out
}

// in reports that a scan is on the way before a step, or has just been joined by it.
func (p *pipelined) in(scan, step int) bool {
	if p.probe.has(scan) {
		return true
	}
	return slices.ContainsFunc(p.steps[:step], func(s *Stage) bool { return s.Build != nil && s.Build.has(scan) })
}

// holds lists the rows of a block for which conditions are TRUE.
func (p *pipelined) holds(b *joinBlock, conditions []expr.Expr) (rows []uint32, err error) {
	rows = []uint32{} // none, not all
	where := plan.Conjunction(conditions)
	c := p.chunkOf(b, expr.Columns(where))
	q, err := physical.NewQuery(&table.Table{Name: "join", Fields: p.Fields, Chunks: []*table.Chunk{c}}, &plan.Fragment{Table: "join", Where: where})
	if err != nil {
		return nil, err
	}
	for i, check := range q.Chunks[0].Checks {
		bad, err := cpu.Selected(check.Pred, c)
		if err != nil {
			return nil, err
		}
		for w, m := range bad {
			if m != 0 {
				return nil, q.CheckFailedAt(0, i, 64*w+bits.TrailingZeros64(m))
			}
		}
	}
	sel, err := cpu.Selected(q.Chunks[0].Pred, c)
	if err != nil {
		return nil, err
	}
	for w, m := range sel {
		for ; m != 0; m &= m - 1 {
			rows = append(rows, uint32(64*w+bits.TrailingZeros64(m)))
		}
	}
	return rows, nil
}
