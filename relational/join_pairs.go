package relational

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Pairs finds the pairs of rows of two tables, by [Join]. The codes of the selected rows are gathered from the
// planes and mapped to a code space that both columns have in common. Several keys are one of as many bits as they
// have together, 64 at most.
func Pairs(run pass.Runner, d compute.Profile, q *physical.JoinQuery) (out physical.JoinPairs, err error) {
	for _, s := range q.Sides {
		if err := compute.RunChecks(run, d, s); err != nil {
			return out, err
		}
	}
	shape := JoinShape{Way: q.Algorithm, Cmp: q.Cmp, Bits: q.Bits(), Exists: q.Exists, Pairs: q.Limit}
	var sides [2]JoinSide
	for i, s := range q.Sides {
		k := &joinKeys{run: run, device: d, starts: q.RowOffsets(i), fields: q.Fields(), wide: shape.Bits > textures.PartBits, ids: q.Limit > 0}
		for _, key := range q.Keys {
			_, columns := key.Columns()
			k.of, k.made = append(k.of, key[i]), append(k.made, !columns)
		}
		if !q.RowIDs[i].IsNone() {
			sides[i], err = k.listed(s, q.RowIDs[i])
		} else {
			sides[i], err = k.side(s)
		}
		if err != nil {
			return out, err
		}
		out.Selected[i] = sides[i].Keys.N
	}
	found, err := Join(run, d, shape, sides[0], sides[1])
	if err != nil {
		return out, err
	}
	out.N, out.Algorithm = found.N, found.Way
	for i, v := range []primitives.Vector{found.Left, found.Right} {
		switch {
		case i == 1 && q.Exists:
		case q.KeepOnDevice != nil && (found.N == 0 || !v.None()):
			if out.Held[i], err = Taken(run, d, q.KeepOnDevice[i], v); err != nil {
				return out, err
			}
		case q.KeepOnDevice == nil && !v.None():
			if out.Rows[i], err = v.Read(run); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// Taken are the rows of lists at places, on the device.
func Taken(run pass.Runner, d compute.Profile, lists []physical.RowIDs, places primitives.Vector) (held []*physical.Held, err error) {
	for _, l := range lists {
		h, err := taken(run, d, l, places)
		if err != nil {
			return nil, err
		}
		held = append(held, h)
	}
	return held, nil
}

// taken are the rows of a list at places, on the device; the places where there is none.
func taken(run pass.Runner, d compute.Profile, of physical.RowIDs, places primitives.Vector) (*physical.Held, error) {
	if of.IsNone() || places.N == 0 {
		return &physical.Held{N: places.N, On: places}, nil
	}
	rows := primitives.New(places.N)
	return &physical.Held{N: places.N, On: rows}, primitives.Gather(run, d.Primitives, vectorOf(of), places, rows)
}

// vectorOf is a list of rows on the device.
func vectorOf(l physical.RowIDs) primitives.Vector {
	if l.Held != nil {
		return l.Held.On.(primitives.Vector)
	}
	return primitives.FromSlice(l.Rows)
}

// SideOf is the side whose columns a pass of [Pairs] reads; the left one where it reads none.
func SideOf(q *physical.JoinQuery, p *pass.Pass) *physical.Query {
	for _, b := range slices.Concat(p.Dispatch.Blocks, p.Dispatch.Addressed) {
		for _, s := range q.Sides {
			if b.Chunk != nil && slices.Contains(s.Table.Chunks, b.Chunk) {
				return s
			}
		}
	}
	return q.Sides[0]
}

// joinKeys gathers the keys of a side of a join.
type joinKeys struct {
	run       pass.Runner
	device    compute.Profile
	of        []expr.Expr         // the keys
	made      []bool              // whose codes are made
	starts    []int               // the numbers of the first rows of the side's chunks, and last how many numbers its table has
	fields    []physical.KeyField // a key each
	wide, ids bool                // keys of two words; row ids are wanted
}

// side is the selected rows of a table, none of which is NULL in a key.
func (k *joinKeys) side(q *physical.Query) (out JoinSide, err error) {
	found, err := selections(k.run, k.device, q, q.Chunks)
	if err != nil {
		return out, err
	}
	var windows []JoinSide
	total := 0 // rows so far
	for _, f := range found {
		first := k.starts[f.Index]
		for j, w := range f.Pieces {
			s := f.sorting(j)
			if err := s.count(); err != nil {
				return out, err
			}
			if s.n == 0 {
				continue
			}
			one, err := k.window(s, first+w.Window.From)
			if err != nil {
				return out, err
			}
			windows, total = append(windows, one), total+s.n
		}
	}
	if len(windows) == 1 {
		return windows[0], nil
	}
	return k.together(windows, total)
}

// listed is a side whose rows are the selected ones of a list. A row is its place in the list, and gathers its key by its row number.
func (k *joinKeys) listed(q *physical.Query, list physical.RowIDs) (out JoinSide, err error) {
	d, rows := k.device.Primitives, k.starts[len(k.starts)-1]
	if list.Len() == 0 {
		return out, nil
	}
	if most := max(list.Len(), rows); most > d.MaxWords {
		return out, &plan.Declined{Why: fmt.Sprintf("%d rows are more than a block of the device holds", most)}
	}
	all := *k
	all.ids = true
	table, err := all.side(q)
	if err != nil || table.Keys.N == 0 {
		return out, err
	}
	by := vectorOf(list)
	if list.MayBeNull || table.Keys.N < rows {
		if out.Rows, err = k.among(by, table, rows); err != nil {
			return out, err
		}
		if out.Rows.N == 0 {
			return JoinSide{}, nil
		}
		if out.Rows.N == by.N {
			out.Rows = primitives.Vector{}
		} else {
			some := primitives.New(out.Rows.N)
			if err := primitives.Gather(k.run, d, by, out.Rows, some); err != nil {
				return out, err
			}
			by = some
		}
	}
	gathered := func(words primitives.Vector) (primitives.Vector, error) {
		if !table.Rows.None() { // some rows, by their numbers
			compact := words
			words = primitives.New(rows)
			if err := primitives.Scatter(k.run, d, compact, table.Rows, words); err != nil {
				return words, err
			}
		}
		to := primitives.New(by.N)
		return to, primitives.Gather(k.run, d, words, by, to)
	}
	if out.Keys, err = gathered(table.Keys); err == nil && !table.High.None() {
		out.High, err = gathered(table.High)
	}
	return out, err
}

// among are the places of the rows of a list that a side of a table of so many rows has.
func (k *joinKeys) among(list primitives.Vector, of JoinSide, rows int) (primitives.Vector, error) {
	d, has, to := k.device.Primitives, primitives.New(list.N), primitives.New(list.N)
	if err := k.has(list, of, rows, has); err != nil {
		return to, err
	}
	n, err := k.sum(has)
	if err != nil || n == 0 || n == list.N {
		return to.First(n), err
	}
	if err := primitives.Scan(k.run, d, primitives.Add, primitives.ScanShape{}, has, to); err != nil {
		return to, err
	}
	if err := primitives.Map(k.run, d, primitives.Expr("y > 0u ? x : 0xffffffffu"), to, to, has); err != nil {
		return to, err
	}
	if err := primitives.Map(k.run, d, primitives.Expr("i"), has); err != nil {
		return to, err
	}
	places := primitives.New(n)
	return places, primitives.Scatter(k.run, d, has, to, places)
}

// has writes 1 or 0 for each row of a list: whether a side of a table of so many rows has it.
func (k *joinKeys) has(list primitives.Vector, of JoinSide, rows int, to primitives.Vector) error {
	d := k.device.Primitives
	if of.Rows.None() { // all of them
		return primitives.Map(k.run, d, primitives.Func{Expr: "uint(x < c0)", Constants: []uint32{uint32(of.Keys.N)}}, to, list)
	}
	in, ones := primitives.Zeros(rows), primitives.New(of.Rows.N)
	if err := primitives.Map(k.run, d, primitives.Expr("1u"), ones); err != nil {
		return err
	}
	if err := primitives.Scatter(k.run, d, ones, of.Rows, in); err != nil {
		return err
	}
	return primitives.Gather(k.run, d, in, list, to)
}

// sum adds words up, to a number of 32 bits.
func (k *joinKeys) sum(of primitives.Vector) (int, error) {
	total := primitives.New(1)
	if err := primitives.Reduce(k.run, k.device.Primitives, primitives.Add, of, total); err != nil {
		return 0, err
	}
	words, err := total.Read(k.run)
	return int(words[0]), err
}

// Selected are the numbers of the rows that a query selects, on the device.
func Selected(run pass.Runner, d compute.Profile, q *physical.Query) (rows primitives.Vector, err error) {
	if err := compute.RunChecks(run, d, q); err != nil {
		return rows, err
	}
	found, err := selections(run, d, q, q.Chunks)
	if err != nil {
		return rows, err
	}
	starts := physical.RowOffsetsOf(q.Table)
	var windows []primitives.Vector
	for _, f := range found {
		for j, w := range f.Pieces {
			s := f.sorting(j)
			if err := s.count(); err != nil {
				return rows, err
			}
			if s.n == 0 {
				continue
			}
			ids := primitives.New(s.n)
			if err := s.ids(starts[f.Index]+w.Window.From, ids); err != nil {
				return rows, err
			}
			windows = append(windows, ids)
		}
	}
	if len(windows) == 1 {
		return windows[0], nil
	}
	return concatenated(run, d.Primitives, windows...)
}

// sourceWords are n words of a [textures.Source].
func sourceWords(n int) primitives.Vector {
	return primitives.Of(&textures.Scratch{Words: textures.GroupRows / textures.UnitsPerGroup * textures.Units(n)}, n)
}

// Column gathers a column of a table by a list of its rows. It returns their codes in a code space of the column, on the device, and
// how many are NULL. It is a [plan.Declined] where a block of the device does not hold them.
func Column(run pass.Runner, d compute.Profile, t *table.Table, col int, space *physical.CodeSpace, list physical.RowIDs) (out textures.Source, nulls int, err error) {
	rows, n, some := 0, list.Len(), list.MayBeNull
	for _, c := range t.Chunks {
		rows, some = rows+c.Rows, some || c.Segments[col].Nulls > 0
	}
	if most := max(n, rows); most > d.Primitives.MaxWords || len(d.WindowsOf(n)) > 1 {
		return out, 0, &plan.Declined{Why: fmt.Sprintf("%d rows are more than a block of the device holds", most)}
	}
	of := &expr.Column{Index: col, Name: t.Fields[col].Name, T: t.Fields[col].Type, P: -1}
	q, err := physical.NewQuery(t, &plan.Fragment{Table: t.Name, Where: &expr.IsNull{X: of, Not: true, P: -1}})
	if err != nil {
		return out, 0, err
	}
	k := &joinKeys{run: run, device: d, starts: physical.RowOffsetsOf(t), of: []expr.Expr{of}, made: []bool{false}, fields: []physical.KeyField{{Space: space}}, wide: space.Bits() > textures.PartBits, ids: true}
	side, err := k.side(q)
	if err != nil {
		return out, 0, err
	}
	by := vectorOf(list)
	gathered := func(words primitives.Vector) (primitives.Vector, error) {
		to := sourceWords(n)
		switch {
		case side.Keys.N == 0:
			return to, primitives.Map(run, d.Primitives, primitives.Expr("0u"), to)
		case !side.Rows.None():
			values := words
			words = primitives.Zeros(rows)
			if err := primitives.Scatter(run, d.Primitives, values, side.Rows, words); err != nil {
				return to, err
			}
		}
		return to, primitives.Gather(run, d.Primitives, words, by, to)
	}
	for part, words := range []primitives.Vector{side.Keys, side.High} {
		if part > 0 && !k.wide {
			break
		}
		codes, err := gathered(words)
		if err != nil {
			return out, 0, err
		}
		out.Codes[part] = codes.Block
	}
	if !some {
		return out, 0, nil
	}
	valid := sourceWords(n)
	if side.Keys.N == 0 {
		out.Valid = valid.Block
		return out, n, primitives.Map(run, d.Primitives, primitives.Expr("0u"), valid)
	}
	if err := k.has(by, side, rows, valid); err != nil {
		return out, 0, err
	}
	values, err := k.sum(valid)
	if nulls = n - values; nulls > 0 {
		out.Valid = valid.Block
	}
	return out, nulls, err
}

// window is the marked rows of a window, the first of which has a number in the table.
func (k *joinKeys) window(s *sorting, first int) (out JoinSide, err error) {
	if k.ids && !(s.all && first == 0) {
		out.Rows = primitives.New(s.n)
		if err := s.ids(first, out.Rows); err != nil {
			return out, err
		}
	}
	for i, f := range k.fields {
		if i > 0 && f.Space.Bits() == 0 { // the same in all rows
			continue
		}
		one, err := k.key(s, i)
		if err != nil {
			return out, err
		}
		if i == 0 {
			out.Keys, out.High = one.Keys, one.High
		} else if out.Keys, out.High, err = k.above(out, one, f.Shift); err != nil {
			return out, err
		}
	}
	return out, nil
}

// above puts the codes of a key above the bits that there are.
func (k *joinKeys) above(below, codes JoinSide, shift int) (low, high primitives.Vector, err error) {
	d, n := k.device.Primitives, codes.Keys.N
	low, high = below.Keys, below.High
	// What there was may be a column's.
	put := func(to *primitives.Vector, text string, by int, in ...primitives.Vector) error {
		was := *to
		*to = primitives.New(n)
		return primitives.Map(k.run, d, primitives.Func{Expr: text, Constants: []uint32{uint32(by)}}, *to, append([]primitives.Vector{was}, in...)...)
	}
	switch {
	case shift == 0:
		return codes.Keys, codes.High, nil
	case shift >= textures.PartBits:
		return low, high, put(&high, "x | y << c0", shift-textures.PartBits, codes.Keys)
	case k.wide:
		if err = put(&high, "x | y >> (32u - c0) | z << c0", shift, codes.Keys, codes.High); err != nil {
			return low, high, err
		}
	}
	return low, high, put(&low, "x | y << c0", shift, codes.Keys)
}

// key are the codes of a key in the space of both sides, for the marked rows of a window.
func (k *joinKeys) key(s *sorting, at int) (out JoinSide, err error) {
	d := k.device.Primitives
	if k.made[at] {
		return k.computedKey(s, at)
	}
	col := k.of[at].(*expr.Column).Index
	if out.Keys, err = s.part(col, 0); err != nil {
		return out, err
	}
	delta, ranks := k.fields[at].Space.Translation(s.Segment(col))
	if ranks != nil { // of texts
		codes := out.Keys
		out.Keys = primitives.New(s.n)
		if err := primitives.Gather(k.run, d, primitives.FromSlice(ranks), codes, out.Keys); err != nil {
			return out, err
		}
	}
	if k.wide {
		if out.High, err = s.part(col, 1); err != nil {
			return out, err
		}
	}
	return out, k.add(delta, &out)
}

// add adds a number to codes.
func (k *joinKeys) add(delta uint64, to *JoinSide) error {
	if delta == 0 {
		return nil
	}
	mapped := func(to *primitives.Vector, fn primitives.Func, in ...primitives.Vector) error {
		*to = primitives.New(in[0].N) // what there was may be the column's
		return primitives.Map(k.run, k.device.Primitives, fn, *to, in...)
	}
	if err := mapped(&to.Keys, primitives.Func{Expr: "x + c0", Constants: []uint32{uint32(delta)}}, to.Keys); err != nil || to.High.None() {
		return err
	}
	carried := primitives.Func{Expr: "x + c1 + uint(y < c0)", Constants: []uint32{uint32(delta), uint32(delta >> 32)}}
	return mapped(&to.High, carried, to.High, to.Keys)
}

// computedKey are the codes of a key that is computed, as key has those of a column.
func (k *joinKeys) computedKey(s *sorting, at int) (out JoinSide, err error) {
	m, err := computedCodesOf(s.ChunkWork, k.of[at])
	if err != nil {
		return out, err
	}
	zeros := func() (primitives.Vector, error) {
		v := primitives.New(s.n)
		return v, primitives.Map(k.run, k.device.Primitives, primitives.Expr("0u"), v)
	}
	if m.Val == nil { // no row is selected
		out.Keys, err = zeros()
	} else {
		var codes computedCodes
		codes, err = s.compute(k.of[at], m, nil)
		out.Keys, out.High = codes.low, codes.high
	}
	if err == nil && k.wide && out.High.None() {
		out.High, err = zeros()
	}
	if err != nil || m.Val == nil {
		return out, err
	}
	return out, k.add(k.fields[at].Space.Above(m.Base), &out)
}

// together puts the rows of several windows one behind the other.
func (k *joinKeys) together(windows []JoinSide, total int) (out JoinSide, err error) {
	if total == 0 {
		return out, nil
	}
	d := k.device.Primitives
	out.Keys = primitives.New(total)
	if k.wide {
		out.High = primitives.New(total)
	}
	if k.ids {
		out.Rows = primitives.New(total)
	}
	at := 0
	for _, w := range windows {
		places := primitives.New(w.Keys.N)
		if err := primitives.Map(k.run, d, primitives.Func{Expr: "i + c0", Constants: []uint32{uint32(at)}}, places); err != nil {
			return out, err
		}
		if k.ids && w.Rows.None() { // the first rows of the table, all of them
			w.Rows = places
		}
		for _, v := range [][2]primitives.Vector{{w.Keys, out.Keys}, {w.High, out.High}, {w.Rows, out.Rows}} {
			if v[1].None() {
				continue
			}
			if err := primitives.Scatter(k.run, d, v[0], places, v[1]); err != nil {
				return out, err
			}
		}
		at += w.Keys.N
	}
	return out, nil
}
