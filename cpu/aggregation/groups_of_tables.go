package aggregation

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Groups are groups of the rows of several tables with the same columns, such as the parts of a table that does not fit
// memory. They keep keys and states, and no row. One goroutine uses them.
type Groups struct {
	*worker
	ids   map[string]uint32 // by what tells their keys apart
	keys  [][]table.Value
	bytes int64
}

// NewGroups begins the groups of an aggregation; nil where aggregates need more than a few words of a group: all its values, or rows.
func NewGroups(n *plan.Aggregate) *Groups {
	for _, a := range n.Aggs {
		if k := KindOf(a); k == Gathering || k == Listing || a.Distinct {
			return nil
		}
	}
	g := &grouping{node: n, keys: &keys{}}
	g.inputs, g.places = inputsOf(n.Aggs)
	out := &Groups{worker: &worker{grouping: g}, ids: map[string]uint32{}}
	for _, in := range g.inputs {
		out.states, out.sets = append(out.states, in.states()), append(out.sets, nil)
	}
	if len(n.Keys) == 0 { // there is a group of no rows
		out.id("", nil)
	}
	return out
}

// Len is how many groups there are.
func (g *Groups) Len() int { return len(g.first) }

// Bytes is about what they take.
func (g *Groups) Bytes() int64 { return g.bytes }

// id is the group of a key, which begins with these values.
func (g *Groups) id(key string, values []table.Value) uint32 {
	id, ok := g.ids[key]
	if !ok {
		id = uint32(len(g.first))
		for i := range values { // not the memory of a whole dictionary
			values[i].S = strings.Clone(values[i].S)
		}
		g.ids[key], g.keys, g.first = id, append(g.keys, values), append(g.first, 0)
		g.bytes += int64(2*len(key) + 96*len(values) + 64*len(g.node.Aggs) + 64)
	}
	return id
}

// Add takes in rows of a table. It says which rows are the first of groups that were not there before, as blocks.
func (g *Groups) Add(ctx context.Context, t *table.Table, in iter.Seq2[table.Block, error]) ([]table.Block, error) {
	part := newGrouping(t, g.node)
	for _, i := range part.inputs {
		i.codes = nil // which mean something in one table alone
	}
	found, err := part.find(ctx, in)
	if err != nil {
		return nil, err
	}
	first := map[int][]uint32{} // of new groups, by chunk
	var key []byte
	for _, w := range found {
		to := make([]uint32, len(w.first))
		for i, place := range w.first {
			if len(g.node.Keys) == 0 {
				break
			}
			key = key[:0]
			values := make([]table.Value, len(g.node.Keys))
			for k, e := range g.node.Keys {
				if values[k], err = evaluate(e, t, place); err != nil {
					return nil, err
				}
				key = AppendKey(key, values[k])
			}
			n := g.Len()
			if to[i] = g.id(string(key), values); int(to[i]) == n {
				first[int(place>>32)] = append(first[int(place>>32)], uint32(place))
			}
		}
		g.takeAll(w, to)
	}
	for _, list := range g.states {
		for _, s := range list {
			if s, ok := s.(*ends[string]); ok {
				for i := range s.lo {
					s.lo[i], s.hi[i] = strings.Clone(s.lo[i]), strings.Clone(s.hi[i])
				}
			}
		}
	}
	var blocks []table.Block
	for chunk, rows := range first {
		slices.Sort(rows)
		blocks = append(blocks, table.Block{Chunk: chunk, Rows: rows})
	}
	return blocks, nil
}

// AppendKey appends what tells a value apart from all others of its column; NULL is a value.
func AppendKey(key []byte, v table.Value) []byte {
	switch {
	case v.Null:
		return append(key, 0)
	case v.Type.Kind == table.Varchar:
		return append(binary.AppendUvarint(append(key, 1), uint64(len(v.S))), v.S...)
	case v.Type.IsFloat():
		return binary.BigEndian.AppendUint64(append(key, 2), table.OrdinalFloat64(v.F))
	case v.Big != nil && !v.Big.IsInt64():
		text := v.Big.String()
		return append(binary.AppendUvarint(append(key, 3), uint64(len(text))), text...)
	case v.Big != nil:
		return binary.BigEndian.AppendUint64(append(key, 4), uint64(v.Big.Int64()))
	}
	return binary.BigEndian.AppendUint64(append(key, 4), uint64(v.I+int64(v.Months)*table.MicrosPerMonth))
}

// Rows yields the groups, keys and then aggregates, those without of which HAVING is not TRUE. all is the table of all rows. It
// is called once, when all rows have been added.
func (g *Groups) Rows(ctx context.Context, all *table.Table) iter.Seq2[[][]table.Value, error] {
	return func(yield func([][]table.Value, error) bool) {
		g.table = all
		if err := g.arrange(); err != nil {
			yield(nil, err)
			return
		}
		if g.node.Found != nil {
			g.node.Found(g.Len())
		}
		for from := 0; from < g.Len(); from += fewGroups {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			var out [][]table.Value
			var failed error
			for id := from; id < min(g.Len(), from+fewGroups) && failed == nil; id++ {
				row := slices.Clone(g.keys[id])
				for k := 0; k < len(g.node.Aggs) && failed == nil; k++ {
					var v table.Value
					v, failed = g.aggregate(k, uint32(id))
					row = append(row, v)
				}
				keep := failed == nil
				if keep && g.node.Having != nil {
					at := func(i int) table.Value { return row[i] }
					var v table.Value
					v, failed = expr.Eval(g.node.Having, &expr.Env{Column: at, Agg: at})
					keep = failed == nil && !v.Null && v.I != 0
				}
				if keep {
					out = append(out, row)
				}
			}
			if len(out) > 0 && !yield(out, nil) {
				return
			}
			if failed != nil {
				yield(nil, failed)
				return
			}
		}
	}
}

// Hasher computes hashes of keys in rows of tables. Equal keys have equal hashes in all chunks and tables, and NULL has a hash,
// too. One goroutine uses it.
type Hasher struct {
	Keys   []expr.Expr
	Spread bool // NULL equals none: a row with one has any hash, as all rows have without keys
	eval   vector.Evaluator
	last   map[int]hashedTexts // of the keys that are columns of text
	seen   uint64              // rows with NULL that are spread
}

// hashedTexts are the hashes of a dictionary.
type hashedTexts struct {
	of   *table.Segment
	list []uint64
}

// textSeed is that of the hashes of texts: the same for all hashers of a process.
var textSeed = maphash.MakeSeed()

const nullHash = 0x2545f4914f6cdd1d

// Rows are the hashes of the keys in a block's rows. Where a row raises an error it has those of the rows before.
func (h *Hasher) Rows(c *table.Chunk, b table.Block) (out []uint64, err error) {
	out = make([]uint64, b.Len())
	var nulls []int // the rows with one
	defer func() {
		for _, k := range nulls {
			if k < len(out) {
				h.seen++
				out[k] = mixed(nullHash, h.seen)
			}
		}
	}()
	null := func(k int) {
		if h.Spread {
			nulls = append(nulls, k)
		}
	}
	for k := range out {
		if len(h.Keys) == 0 {
			null(k)
		}
	}
	for i, e := range h.Keys {
		if col, ok := e.(*expr.Column); ok && col.T.Kind == table.Varchar && len(c.Segments[col.Index].Dict) <= 4*c.Rows {
			s := c.Segments[col.Index]
			texts := h.texts(i, s)
			for k := range out {
				row, x := b.Row(k), uint64(nullHash)
				if !s.IsNull(row) {
					x = texts[s.Codes.At(row)]
				} else {
					null(k)
				}
				out[k] = mixed(out[k], x)
			}
			continue
		}
		x, failed := h.eval.Vector(e, c, b)
		if failed != nil {
			err, b = failed, b.Cut(0, x.Len())
			out = out[:x.Len()]
		}
		for k := range out {
			if out[k] = mixed(out[k], hashAt(&x, k)); x.IsNull(k) {
				null(k)
			}
		}
	}
	return out, err
}

// texts are the hashes of the texts of a column.
func (h *Hasher) texts(key int, s *table.Segment) []uint64 {
	if last := h.last[key]; last.of == s {
		return last.list
	}
	list := xslices.Map(s.Dict, func(text string) uint64 { return maphash.String(textSeed, text) })
	if h.last == nil {
		h.last = map[int]hashedTexts{}
	}
	h.last[key] = hashedTexts{s, list}
	return list
}

// hashAt is that of a value.
func hashAt(x *expr.Vector, i int) uint64 {
	switch {
	case x.IsNull(i):
		return nullHash
	case x.Texts != nil:
		return maphash.String(textSeed, x.Texts[i])
	case x.Floats != nil:
		return table.OrdinalFloat64(x.Floats[i])
	case x.Highs != nil && x.Highs[i] != x.Ints[i]>>63:
		return mixed(uint64(x.Highs[i]), uint64(x.Ints[i]))
	}
	return uint64(x.Ints[i])
}

// mixed is a hash with one value more.
func mixed(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15^bits.RotateLeft64(x, 32), (x^0xd6e8feb86659fd93)|1)
	h = hi ^ lo
	h *= 0xff51afd7ed558ccd
	return h ^ h>>32
}
