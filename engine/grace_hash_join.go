package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// joinBeyond is a join of tables of which some come in batches, the large ones. One of them is joined batch by batch to the others.
// Sometimes their rows have to be told apart. Several tables may be large, or rows of another table may have no partner, which only
// all rows of the large table tell. Then the rows of these tables are partitioned into buckets by their join keys, and buckets with
// the same number are joined.
type joinBeyond struct {
	join   *plan.Join
	root   *plan.Join // the join, placed
	scans  []*plan.Scan
	of     map[int]*batches    // of the large ones, by scan
	dealt  map[int]bool        // the scans whose rows are dealt, the large ones among them; one alone is not
	keys   map[int][]expr.Expr // by which they are dealt, over their own columns
	single bool                // each join compares by one key
	sure   bool                // by none of which a row raises an error that the join might not
	above  []expr.Expr         // conditions that are looked at above the join, over the columns of all scans
	where  map[int]expr.Expr   // the conditions of scans alone
	first  []int               // of each scan the number of its first column
}

// joinInBatches says how a join of files goes over them in batches. It is nil where their columns fit the host memory
// budget, or where the join cannot do that. Some tables of such a join may then be joined apart.
func (db *DB) joinInBatches(ctx context.Context, b *bound) (*prunedScan, error) {
	goes := spills(b.tree)
	if !db.onCPU() || !goes && !seeks(b.fragment) {
		return nil, nil
	}
	type file struct {
		*batches
		takes int64
	}
	var files []file
	total, left := int64(0), int64(0)
	for _, r := range b.sources {
		if t := r.Table.Load(); t == nil || t.Has(r.columns) {
			continue
		}
		of, _, takes, err := db.batchesOf(ctx, r.Entry, r.columns, catalog.Conditions{}, rowBytes/2, 0)
		if err != nil {
			return nil, err
		}
		if of != nil {
			files, total, left = append(files, file{of, takes}), total+takes, of.budget
		}
	}
	if total <= left/2 { // the rest is for what joins take
		return nil, nil
	}
	if db.now().hostMemory == 0 {
		db.adopt(left)
	}
	if db.halfFull() && db.evict(ctx) {
		return db.joinInBatches(ctx, b)
	}
	if !goes {
		b.apart = rules.MaterializeRows(rules.Uncut(b.tree))
		return nil, nil
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.takes, b.takes) })
	budget := left
	for len(files) > 1 && files[0].takes <= left/4 && budget-files[0].takes >= left/2 { // these are read as a whole
		budget, files = budget-files[0].takes, files[1:]
	}
	large := map[*catalog.Entry]*batches{}
	for _, f := range files {
		of, _, _, err := db.batchesOf(ctx, f.entry, f.columns, catalog.Conditions{}, rowBytes/2, budget)
		if err != nil || of == nil {
			return nil, err
		}
		of.budget = budget
		large[f.entry] = of
	}
	way := &joinBeyond{join: b.fragment.Join, scans: plan.Scans(b.fragment.Join), of: map[int]*batches{}}
	root, fields := way.join.OverScans()
	way.root = root
	for _, e := range plan.Conjuncts(b.fragment.Where) {
		way.above = append(way.above, expr.Moved(e, func(c int) int { return fields[c] }))
	}
	at := 0
	for i, r := range b.scans {
		if of := large[r.Entry]; of != nil {
			way.of[i] = of
		}
		way.first = append(way.first, at)
		at += len(way.scans[i].Columns)
	}
	if !way.choose() {
		of, done := (&Statement{db: db, bound: b}).estimates()
		defer done()
		b.apart = rules.MaterializeJoin(rules.Uncut(b.tree), of)
		return nil, nil
	}
	var names []string
	for _, n := range way.scans {
		names = append(names, cmp.Or(n.As, n.Table))
	}
	return &prunedScan{Pruned: &catalog.Pruned{Table: &table.Table{Name: strings.Join(names, ", "), Fields: way.join.Fields()}}, batches: large[files[len(files)-1].entry], large: large, way: way}, nil
}

// seeks reports a fragment with aggregates of columns, such as order statistics of numbers. It can go over the rows of a join in batches
// once these are a table.
func seeks(f *plan.Fragment) bool {
	fields := f.Join.Fields()
	return len(f.Aggs) > 0 && f.Fallback == nil && !slices.ContainsFunc(f.Aggs, func(a expr.Aggregate) bool { return partial.NeedsSearch(a) && fields[a.Col].Type.Kind == table.Varchar })
}

// choose chooses what is dealt, and by which keys: all that a join compares, else one of them. It reports whether there is a way.
func (j *joinBeyond) choose() bool {
	for _, j.single = range []bool{false, true} {
		j.dealt = map[int]bool{}
		for scan := range j.of {
			j.dealt[scan] = true
		}
		for {
			j.keys, j.where = map[int][]expr.Expr{}, map[int]expr.Expr{}
			next, n := 0, len(j.dealt)
			if _, ok := j.spread(j.root, &next, j.above); ok {
				return true
			}
			if len(j.dealt) == n { // no other table that would have to be dealt
				break
			}
		}
	}
	return false
}

// scanOf is the scan that an expression over all columns reads alone; -1 for none.
func (j *joinBeyond) scanOf(e expr.Expr) int {
	at := -1
	for _, c := range expr.Columns(e) {
		i := len(j.first) - 1
		for j.first[i] > c {
			i--
		}
		if at >= 0 && at != i {
			return -1
		}
		at = i
	}
	return at
}

// joinInput is an input of a join: its scans are first to before end, and of these some are dealt.
type joinInput struct {
	first, end int
	spread     []int
}

// spread reports whether the rows of a node are those of its parts together, with the tables below it partitioned by keys that it
// chooses. spread are their scans. next is the number of the next scan, and above what is asked of the node's rows. Where another table
// would have to be dealt, too, it is from now on, and this is not ok.
func (j *joinBeyond) spread(n plan.Node, next *int, above []expr.Expr) (spread []int, ok bool) {
	switch n := n.(type) {
	case *plan.Scan:
		if *next++; j.dealt[*next-1] {
			return []int{*next - 1}, true
		}
		return nil, true
	case *plan.Filter:
		if _, alone := n.Input.(*plan.Scan); alone {
			j.where[*next] = n.Where
		}
		return j.spread(n.Input, next, plan.Conjuncts(n.Where))
	case *plan.Join:
		if n.Kind == plan.Inner {
			var inputs []joinInput
			var conditions []expr.Expr
			if !j.inner(n, next, &inputs, &conditions) {
				return nil, false
			}
			return j.together(inputs, append(conditions, above...))
		}
		left, right := joinInput{first: *next}, joinInput{}
		if left.spread, ok = j.spread(n.Left, next, nil); !ok {
			return nil, false
		}
		left.end, right.first = *next, *next
		if right.spread, ok = j.spread(n.Right, next, nil); !ok {
			return nil, false
		}
		right.end = *next
		switch {
		case len(left.spread) == 0 && len(right.spread) == 0:
			return nil, true
		case len(right.spread) == 0 && !n.Kind.KeepsRight():
			return left.spread, true
		case len(left.spread) == 0 && !n.Kind.KeepsLeft() && !n.Kind.LeftOnly():
			return right.spread, true
		}
		for pair, by := range j.compared(plan.Conjuncts(n.On), left, right) {
			l, r := slices.Contains(left.spread, pair[0]), slices.Contains(right.spread, pair[1])
			switch {
			case l && r && j.deals(pair, by):
				return slices.Concat(left.spread, right.spread), true
			case l && len(right.spread) == 0:
				j.dealt[pair[1]] = true
				return nil, false
			case r && len(left.spread) == 0:
				j.dealt[pair[0]] = true
				return nil, false
			}
		}
	}
	return nil, false
}

// inner collects the inputs of inner joins that stand above one another, and their conditions. It reports whether all are spread.
func (j *joinBeyond) inner(n plan.Node, next *int, inputs *[]joinInput, conditions *[]expr.Expr) bool {
	if n, ok := n.(*plan.Join); ok && n.Kind == plan.Inner {
		ok = j.inner(n.Left, next, inputs, conditions) && j.inner(n.Right, next, inputs, conditions)
		*conditions = append(*conditions, plan.Conjuncts(n.On)...)
		return ok
	}
	in := joinInput{first: *next}
	spread, ok := j.spread(n, next, nil)
	in.spread, in.end = spread, *next
	*inputs = append(*inputs, in)
	return ok
}

// together is spread of an inner join of inputs: those with tables that are dealt are compared by their keys, one after the other.
func (j *joinBeyond) together(inputs []joinInput, conditions []expr.Expr) (spread []int, ok bool) {
	dealt := slices.DeleteFunc(slices.Clone(inputs), func(in joinInput) bool { return len(in.spread) == 0 })
	if len(dealt) == 0 {
		return nil, true
	}
	have := []joinInput{dealt[0]}
	spread, dealt = dealt[0].spread, dealt[1:]
	connects := func(a, b joinInput) bool {
		for pair, by := range j.compared(conditions, a, b) {
			if slices.Contains(a.spread, pair[0]) && slices.Contains(b.spread, pair[1]) && j.deals(pair, by) {
				return true
			}
		}
		return false
	}
	for len(dealt) > 0 {
		at := slices.IndexFunc(dealt, func(in joinInput) bool {
			return slices.ContainsFunc(have, func(known joinInput) bool { return connects(known, in) })
		})
		if at < 0 {
			break
		}
		have, spread = append(have, dealt[at]), append(spread, dealt[at].spread...)
		dealt = slices.Delete(dealt, at, at+1)
	}
	if len(dealt) == 0 {
		return spread, true
	}
	reaches := func(between joinInput, list []joinInput) (scan int) { // the scan of it that is compared to one of them
		for _, in := range list {
			for pair := range j.compared(conditions, between, in) {
				if slices.Contains(in.spread, pair[1]) {
					return pair[0]
				}
			}
		}
		return -1
	}
	for _, in := range inputs {
		if scan := reaches(in, have); len(in.spread) == 0 && scan >= 0 && reaches(in, dealt) == scan {
			j.dealt[scan] = true
			break
		}
	}
	return nil, false
}

// compared are the keys that conditions say are equal. Each pair is over the columns of one scan of left and one of right, by these
// scans. Scans that most conditions compare come first.
func (j *joinBeyond) compared(conditions []expr.Expr, left, right joinInput) iter.Seq2[[2]int, [][2]expr.Expr] {
	var pairs [][2]int
	by := map[[2]int][][2]expr.Expr{}
	for i, e := range conditions {
		l, r, raises, ok := plan.Equality(e)
		if !ok || raises && j.sure && !(i == 0 && len(j.scans) == 2) { // of two tables a row raises the first one's error for any row of the other one
			continue
		}
		a, b := j.scanOf(l), j.scanOf(r)
		if a >= right.first && a < right.end {
			a, b, l, r = b, a, r, l
		}
		if p, q := l.Type(), r.Type(); a < left.first || a >= left.end || b < right.first || b >= right.end || !(p.Kind == q.Kind && p.Scale == q.Scale || p.IsInteger() && q.IsInteger()) {
			continue
		}
		at := [2]int{a, b}
		if by[at] == nil {
			pairs = append(pairs, at)
		}
		by[at] = append(by[at], [2]expr.Expr{j.own(l, a), j.own(r, b)})
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int { return len(by[b]) - len(by[a]) })
	return func(yield func([2]int, [][2]expr.Expr) bool) {
		for _, at := range pairs {
			if !yield(at, by[at]) {
				return
			}
		}
	}
}

// deals reports whether two scans are equal in what they are dealt by, and chooses it where that is open.
func (j *joinBeyond) deals(scans [2]int, by [][2]expr.Expr) bool {
	side := 0
	known := j.keys[scans[0]]
	if known == nil {
		side, known = 1, j.keys[scans[1]]
	}
	if known == nil {
		if j.single {
			by = by[:1]
		}
		for _, pair := range by {
			for i, scan := range scans {
				j.keys[scan] = append(j.keys[scan], pair[i])
			}
		}
		return true
	}
	var others []expr.Expr
	for _, k := range known {
		at := slices.IndexFunc(by, func(pair [2]expr.Expr) bool { return expr.Identity(pair[side]) == expr.Identity(k) })
		if at < 0 {
			return false
		}
		others = append(others, by[at][1-side])
	}
	other := scans[1-side]
	if keys := j.keys[other]; keys != nil {
		return slices.EqualFunc(keys, others, func(a, b expr.Expr) bool { return expr.Identity(a) == expr.Identity(b) })
	}
	j.keys[other] = others
	return true
}

// own is an expression over the columns of one scan.
func (j *joinBeyond) own(e expr.Expr, scan int) expr.Expr {
	return expr.Moved(e, func(c int) int { return c - j.first[scan] })
}

// alone reports whether the rows of the join are those of the parts of one scan's rows together, each joined to the whole others.
func (j *joinBeyond) alone(scan int) bool {
	next := 0
	var has func(n plan.Node) (has, ok bool)
	has = func(n plan.Node) (bool, bool) {
		switch n := n.(type) {
		case *plan.Scan:
			next++
			return next-1 == scan, true
		case *plan.Filter:
			return has(n.Input)
		case *plan.Join:
			left, ok := has(n.Left)
			right, also := has(n.Right)
			if left {
				return true, ok && !n.Kind.KeepsRight()
			}
			return right, also && (!right || !n.Kind.KeepsLeft() && !n.Kind.LeftOnly())
		}
		return false, false
	}
	_, ok := has(j.root)
	return ok
}

// parts are executions over the rows of the join of which a condition holds.
func (j *joinBeyond) parts(b *beyond, where expr.Expr) iter.Seq2[*execution, error] {
	return func(yield func(*execution, error) bool) {
		p := &joinParts{joinBeyond: j, beyond: b, yield: yield}
		f := *b.rest
		p.fragment, f.Where = &f, where
		for i := range j.scans {
			for k, r := range b.sources {
				if r == b.Statement.scans[i] {
					p.tables = append(p.tables, b.sides[k])
				}
			}
		}
		err := p.all()
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// joinParts are the parts of a join on their way.
type joinParts struct {
	*joinBeyond
	beyond   *beyond
	fragment *plan.Fragment
	tables   []*table.Table // of the scans
	yield    func(*execution, error) bool
}

// kept is what is kept of a scan's rows.
func (p *joinParts) kept(scan int) kept {
	columns := p.beyond.Statement.scans[scan].columns
	out := kept{fields: p.scans[scan].Columns, row: rowBytes / 2, rest: &plan.Fragment{Table: p.scans[scan].Table, Columns: columns, Tree: p.scans[scan]}}
	if of := p.of[scan]; of != nil {
		out.total, out.most = of.total, of.rows
		return out
	}
	t := p.tables[scan]
	out.most = int64(t.Rows())
	for _, c := range t.Chunks {
		for _, col := range columns {
			out.total += int64(c.Segments[col].Bytes())
		}
	}
	return out
}

// rows are the executions over the rows of a scan: in batches, or at once.
func (p *joinParts) rows(scan int, k kept) iter.Seq2[*execution, error] {
	if of := p.of[scan]; of != nil {
		return p.beyond.parts(of, k.rest, p.where[scan])
	}
	f := *k.rest
	f.Where = p.where[scan]
	return func(yield func(*execution, error) bool) { yield(p.beyond.over(p.tables[scan], &f)) }
}

func (p *joinParts) all() error {
	if len(p.dealt) == 1 {
		for scan, of := range p.of {
			r := of.reader(p.beyond.ctx, p.beyond.db, &p.beyond.times)
			defer r.close()
			for i := range of.groups {
				t, err := r.get(i)
				if err == nil {
					p.tables[scan] = t
					err = p.joined()
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	scans := slices.Sorted(maps.Keys(p.dealt))
	var all []kept
	for _, scan := range scans {
		all = append(all, p.kept(scan))
	}
	n := p.beyond.bucketsFor(0, all...)
	sides := map[int]*buckets{}
	some := false // row of a table whose keys raise no error
	var raised error
	var bad int // the scan of the first that do
	for _, scan := range scans {
		k := p.kept(scan)
		side, err := p.deal(k, p.keys[scan], n, 0, p.rows(scan, k))
		if row := (*badKey)(nil); errors.As(err, &row) {
			if raised != nil && p.sure {
				return raised
			}
			raised, bad = row.error, scan
			if !p.sure {
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		sides[scan] = side
		some = some || slices.ContainsFunc(side.list, func(b bucket) bool { return b.rows > 0 })
	}
	if raised != nil && !p.sure {
		way := *p.joinBeyond
		if way.sure = true; !way.choose() {
			return fmt.Errorf("a row raises an error in what the join compares, and all pairs of rows would have to be seen for it: %w: raise the budget (--host-memory)", raised)
		}
		p.joinBeyond = &way
		return p.all()
	}
	if raised != nil {
		if some { // a row that the keys are compared to
			return raised
		}
		k := p.kept(bad)
		side, err := p.deal(k, nil, n, 0, p.rows(bad, k))
		if err != nil {
			return err
		}
		sides[bad] = side
	}
	return p.buckets(sides, 0)
}

// badKey is the error of a row's key.
type badKey struct{ error }

// deal deals rows by keys; without any, and where one is NULL, to any bucket.
func (p *joinParts) deal(k kept, keys []expr.Expr, n, level int, rows iter.Seq2[*execution, error]) (*buckets, error) {
	side := p.beyond.deal(k, keys, n, level)
	for i := range side.hashers {
		side.hashers[i].Spread = true
	}
	for part, err := range rows {
		if err == nil {
			_, err = side.add(part, part.selectedRows(), nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return side, side.end()
}

// buckets joins the buckets of a level, number by number: those that are too large are dealt again.
func (p *joinParts) buckets(sides map[int]*buckets, level int) error {
	n, all := 0, int64(0)
	for _, side := range sides {
		n = len(side.list)
		for i := range side.list {
			all += side.takes(i)
		}
	}
	for at := range n {
		takes := int64(0)
		for _, side := range sides {
			takes += side.takes(at)
		}
		if takes == 0 {
			continue
		}
		again := level+1 < mostLevels && (level == 0 || takes < all/8*7) // else most rows have one key
		if !again || takes <= p.beyond.budget/2 {
			large := (*join.TooLarge)(nil)
			err := p.bucket(sides, at)
			if err == nil {
				continue
			}
			if !again || !errors.As(err, &large) || p.blocked(sides) != nil {
				return err
			} // nothing of it has been given
		}
		fewer := map[int]*buckets{}
		for scan, side := range sides {
			var err error
			if fewer[scan], err = p.deal(side.kept, side.hashers[0].Keys, p.beyond.bucketsFor(level+1), level+1, side.parts(at, p.beyond.budget/8)); err != nil {
				return err
			}
		}
		if err := p.buckets(fewer, level+1); err != nil {
			return err
		}
	}
	return nil
}

// blocked are the scans of which the blocks of a bucket may be joined one after the other.
func (p *joinParts) blocked(sides map[int]*buckets) (list []int) {
	for _, scan := range slices.Sorted(maps.Keys(sides)) {
		if p.alone(scan) {
			list = append(list, scan)
		}
	}
	return list
}

// bucket joins the buckets of a number: what does not fit in blocks.
func (p *joinParts) bucket(sides map[int]*buckets, at int) error {
	budget := p.beyond.budget
	takes := func(scan int) int64 { return sides[scan].takes(at) }
	blocks := p.blocked(sides)
	slices.SortStableFunc(blocks, func(a, b int) int { return cmp.Compare(takes(a), takes(b)) })
	whole := int64(0)
	for scan := range sides {
		if !slices.Contains(blocks, scan) {
			whole += takes(scan)
		}
	}
	if whole > budget/2 && len(p.tables) == 2 {
		return p.blocks(sides, at)
	}
	if whole > budget/2 {
		return sqlstate.Errorf(sqlstate.OutOfMemory, "the rows of a key, or of few, take more than the host memory budget of %s in a join that has to see all of them at once: raise it (--host-memory)", size(budget))
	}
	for len(blocks) > 1 && whole+takes(blocks[0]) <= budget/2 {
		whole, blocks = whole+takes(blocks[0]), blocks[1:]
	}
	for scan, side := range sides {
		if !slices.Contains(blocks, scan) {
			t, err := side.table(side.list[at].extents)
			if err != nil {
				return err
			}
			p.tables[scan] = t
		}
	}
	if len(blocks) == 0 { // rows of all tables may stand alone
		return p.joined()
	}
	var next func(list []int) error
	next = func(list []int) error {
		scan := list[0]
		for part, err := range sides[scan].parts(at, budget/8/int64(len(blocks))) {
			switch {
			case err != nil:
				return err
			case len(list) == 1:
				p.tables[scan] = part.plan.Table
				err = p.joined()
			default:
				p.tables[scan] = part.plan.Table
				err = next(list[1:])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return next(blocks)
}

// blocks joins two buckets of the same number where neither fits. It joins each block of the one with each block of the other. Rows
// that match none are those that match no block.
func (p *joinParts) blocks(sides map[int]*buckets, at int) error {
	kind := p.join.Kind
	pairs, alone := p.as(p.join.WithKind(plan.Inner)), p.as(p.join)
	if kind.LeftOnly() {
		pairs = p.as(p.join.WithKind(plan.Semi))
	}
	empty := func(scan int) *table.Table {
		return &table.Table{Name: p.scans[scan].Table, Fields: p.scans[scan].Columns}
	}
	for _, left := range []bool{true, false} {
		of, other, without := 0, 1, p.join.WithKind(plan.Anti)
		if !left {
			of, other, without = 1, 0, p.join.Swapped(plan.Anti)
		}
		keeps := left && (kind.KeepsLeft() || kind == plan.Anti) || !left && kind.KeepsRight()
		if !left && !keeps {
			return nil
		}
		for part, err := range sides[of].parts(at, p.beyond.budget/16) {
			if err != nil {
				return err
			}
			block := part.plan.Table
			rest := block // what has matched none so far
			for part, err := range sides[other].parts(at, p.beyond.budget/16) {
				if err != nil {
					return err
				}
				to := part.plan.Table
				if left && kind != plan.Anti {
					pairs.tables[of], pairs.tables[other] = block, to
					if kind == plan.Semi {
						pairs.tables[of] = rest
					}
					if err := pairs.joined(); err != nil {
						return err
					}
				}
				if !keeps && kind != plan.Semi {
					continue
				}
				joining := joinorder.Spec{Spec: join.Spec{Tables: []*table.Table{rest, to}, Columns: p.beyond.Statement.scans[of].columns, Way: p.beyond.db.now().join, Memory: func() int64 { return p.beyond.budget }}}
				if rest, _, _, err = joinorder.Join(p.beyond.ctx, p.beyond.db.backends.CPU.(backends.CPU).Backend, without, joining); err != nil {
					return err
				}
			}
			if keeps {
				alone.tables[of], alone.tables[other] = rest, empty(other)
				if err := alone.joined(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// as is p for another join of the same two tables.
func (p *joinParts) as(n *plan.Join) *joinParts {
	way, out := *p.joinBeyond, *p
	way.join = n
	way.root, _ = n.OverScans()
	out.joinBeyond, out.tables = &way, slices.Clone(p.tables)
	return &out
}

// leastJoined is how many bytes a part of a join may have however small the budget is: those of the rows of two small blocks.
const leastJoined = 1 << 18

// joined yields executions over the join of the tables that there are, each over as many rows as can be sorted or grouped. Where
// the rows take too much memory, they are those of the halves of a table.
func (p *joinParts) joined() error {
	b := p.beyond
	of := joinorder.Spec{Above: plan.Conjuncts(p.fragment.Where), Spec: join.Spec{Tables: p.tables, Columns: b.fragment.Reads(), Way: b.db.now().join, AtMost: rules.LimitHint(b.tree),
		Memory: func() int64 { return max(b.budget/4, leastJoined) }, ChunkRows: int(min(table.MaxChunkRows, max(64, b.budget/2/rowBytes)))}}
	out, _, _, err := joinorder.Join(b.ctx, b.db.backends.CPU.(backends.CPU).Backend, p.join, of)
	if large := (*join.TooLarge)(nil); errors.As(err, &large) {
		most := -1
		for scan, t := range p.tables {
			if t.Rows() > 64 && (most < 0 || t.Rows() > p.tables[most].Rows()) && p.alone(scan) {
				most = scan
			}
		}
		if most < 0 {
			return err
		}
		whole := p.tables[most]
		for _, half := range halves(whole) {
			p.tables[most] = half
			if err := p.joined(); err != nil {
				return err
			}
		}
		p.tables[most] = whole
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range out.Chunks {
		part, err := b.over(out.With(c), p.fragment)
		if err != nil {
			return err
		}
		if !p.yield(part, nil) {
			return errStopped
		}
	}
	return nil
}

// step says how the tables are joined.
func (j *joinBeyond) step() Step {
	if len(j.dealt) == 1 {
		return Step{Pass: "Join(batch by batch)", Counts: "each batch is joined to the whole of the other tables"}
	}
	var by []string
	for scan, of := range j.scans {
		if keys := j.keys[scan]; keys != nil {
			var list []string
			for _, k := range keys {
				list = append(list, k.String())
			}
			by = append(by, strings.Join(list, ", ")+" of "+expr.Ident(cmp.Or(of.As, of.Table)))
		}
	}
	return Step{Pass: "Join(bucket by bucket)", Counts: "rows are dealt to buckets in a temporary file: " + strings.Join(by, "; ")}
}

// halves are the two halves of a table's rows.
func halves(t *table.Table) []*table.Table {
	chunks := t.Chunks
	if len(chunks) == 1 {
		chunks = chunks[0].Windows((chunks[0].Rows/2 + 63) &^ 63)
	}
	n := len(chunks) / 2
	return []*table.Table{{Name: t.Name, Fields: t.Fields, Chunks: chunks[:n]}, {Name: t.Name, Fields: t.Fields, Chunks: chunks[n:]}}
}
