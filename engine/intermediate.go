package engine

import (
	"iter"
	"slices"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// intermediate is rows of a table that a statement has made on its way, such as of its groups: [blockRows] or [rowIDs] of it.
type intermediate struct {
	of *table.Table
	batch
}

// intermediateOf are the rows of a chunk.
func intermediateOf(c *table.Chunk) intermediate {
	t := &table.Table{Chunks: []*table.Chunk{c}}
	for _, s := range c.Segments {
		t.Fields = append(t.Fields, table.Field{Type: s.Type})
	}
	return intermediate{t, blockRows{table.Block{N: c.Rows}}}
}

func (m intermediate) cut(i, j int) batch { return intermediate{m.of, m.batch.cut(i, j)} }

// values are the rows as values.
func (m intermediate) values() valueRows {
	n := len(m.of.Fields)
	out, room := make(valueRows, m.Len()), make([]table.Value, m.Len()*n)
	for i := range out {
		c, at := m.at(i)
		out[i] = room[i*n:][:n:n]
		for k, s := range c.Segments {
			s.Read(at, &out[i][k])
		}
	}
	return out
}

// columns are the rows with these columns alone; ok is false where an item is something else.
func (m intermediate) columns(items []plan.Item) (out intermediate, ok bool) {
	of := &table.Table{}
	for _, c := range m.of.Chunks {
		of.Chunks = append(of.Chunks, &table.Chunk{Rows: c.Rows})
	}
	for _, item := range items {
		c, ok := item.E.(*expr.Column)
		if !ok {
			return m, false
		}
		of.Fields = append(of.Fields, m.of.Fields[c.Index])
		for i, chunk := range of.Chunks {
			chunk.Segments = append(chunk.Segments, m.of.Chunks[i].Segments[c.Index])
		}
	}
	return intermediate{of, m.batch}, true
}

// at is where a row stands.
func (m intermediate) at(i int) (*table.Chunk, int) {
	if rows, ok := m.batch.(blockRows); ok {
		return m.of.Chunks[rows.Chunk], rows.Row(i)
	}
	chunk, row := m.batch.(rowIDs).at(i)
	return m.of.Chunks[chunk], row
}

// overIntermediate is items over rows as expressions over the columns of a table that is made of these. ok is false where the type of an
// item is known only from its values, or a value may be wider than its type says.
func overIntermediate(items []plan.Item) (out []plan.Item, ok bool) {
	for _, item := range items {
		if named(item.E) < 0 {
			k := item.E.Type().Kind
			exact := !slices.ContainsFunc(parts(item.E), func(e expr.Expr) bool { return e.Type().Kind == table.Decimal })
			if !item.E.Type().IsInteger() && k != table.Double || !exact {
				return nil, false
			}
		}
		item.E = aggregation.OverGroups(item.E)
		out = append(out, item)
	}
	return out, true
}

// parts lists an expression and all of which it is made.
func parts(e expr.Expr) (list []expr.Expr) {
	expr.Walk(e, func(e expr.Expr) { list = append(list, e) })
	return list
}

// projection computes select items of batches of rows: of those that are made in columns, where the items can be.
type projection struct {
	*execution
	*plan.Project
	items []plan.Item // over the columns of what is made
	ok    bool        // there are such items
	g     *gather
	eval  vector.Evaluator
}

// project is what a Project gives of rows that are no table's.
func (x *execution) project(n *plan.Project) stream {
	p := &projection{execution: x, Project: n}
	p.items, p.ok = overIntermediate(n.Items)
	return func(yield func(batch, error) bool) {
		for b, err := range x.stream(n.Input) {
			if err != nil {
				yield(nil, err)
				return
			}
			for out, err := range p.of(b) {
				if out != nil && !yield(out, nil) {
					return
				}
				if err != nil {
					yield(nil, err)
					return
				}
			}
		}
	}
}

// pieceOfMade is how many computed rows are projected at a time, and up to how many one goroutine does it. Below that,
// waking others takes longer.
const pieceOfMade = 1 << 12

// of is the items of a batch.
func (p *projection) of(b batch) iter.Seq2[batch, error] {
	m, ok := b.(intermediate)
	if !ok || !p.ok {
		return func(yield func(batch, error) bool) { yield(p.byValue(valuesOf(b, p.Input.Fields()))) }
	}
	if p.g == nil || p.g.table != m.of {
		p.g = &gather{table: m.of, items: p.items, plain: true}
	}
	if m.Len() <= pieceOfMade {
		if out, ok := m.columns(p.items); ok {
			return func(yield func(batch, error) bool) { yield(out, nil) }
		}
		return func(yield func(batch, error) bool) { yield(p.byColumn(&p.eval, m)) }
	}
	whole := func(yield func(batch, error) bool) { yield(m.batch, nil) }
	return inPieces(p.execution, whole, pieceOfMade, func(eval *vector.Evaluator, _ int, rows batch) (batch, error) {
		return p.byColumn(eval, intermediate{m.of, rows})
	})
}

// byColumn computes the items column by column; where a row raises an error, row by row.
func (p *projection) byColumn(eval *vector.Evaluator, m intermediate) (out batch, err error) {
	if placed, ok := m.batch.(rowIDs); ok {
		out, err = p.g.byRowID(eval, placed)
	} else {
		out, err = p.g.batch(eval, m.batch.(blockRows).Block)
	}
	if err != nil {
		return p.byValue(m.values())
	}
	return out, nil
}

// byValue computes the items row by row. The rows before an error come with it.
func (p *projection) byValue(rows valueRows) (batch, error) {
	if unchanged(p.Items) && (len(rows) == 0 || len(rows[0]) == len(p.Items)) {
		return rows, nil
	}
	out := make(valueRows, 0, len(rows))
	for _, row := range rows {
		row, err := evaluate(p.Items, func(i plan.Item) expr.Expr { return i.E }, row)
		if err != nil {
			return out, err
		}
		out = append(out, row)
	}
	return out, nil
}

// madeTable is all rows of a stream as one table, where they are rows of tables in their order; the batches otherwise.
func madeTable(batches []batch) (t *table.Table, blocks []table.Block) {
	for _, b := range batches {
		m, ok := b.(intermediate)
		if !ok {
			return nil, nil
		}
		rows, ok := m.batch.(blockRows)
		if !ok || len(m.of.Chunks) != 1 {
			return nil, nil
		}
		if t == nil {
			t = &table.Table{Fields: m.of.Fields}
		}
		block := rows.Block
		block.Chunk = len(t.Chunks)
		t.Chunks, blocks = append(t.Chunks, m.of.Chunks[0]), append(blocks, block)
	}
	return t, blocks
}
