package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// measured notes what a stream gives, if anybody wants to know.
func (x *execution) measured(n plan.Node, in stream) stream {
	if x.rowCounts == nil {
		return in
	}
	return func(yield func(batch, error) bool) {
		var g querystats.Operator
		start, loaded := time.Now(), x.loaded()
		defer func() { x.rowCounts.Measure(n, g) }()
		for b, err := range in {
			g.Elapsed += time.Since(start) - x.loaded() + loaded
			if b != nil {
				g.Rows, g.Bytes = g.Rows+b.Len(), g.Bytes+x.bytes(b)
			}
			if !yield(b, err) {
				return
			}
			start, loaded = time.Now(), x.loaded()
		}
		g.Elapsed = max(0, g.Elapsed+time.Since(start)-x.loaded()+loaded)
	}
}

// loaded is what loading has taken so far.
func (x *execution) loaded() time.Duration {
	if x.rows.collector == nil {
		return 0
	}
	return x.rows.collector.Snapshot().Loading.Total()
}

// bytes is what rows take. Rows of a table, and groups, take the bits of their codes in the columns that are wanted. Values take 8 bytes
// each, texts their lengths, and Arrow arrays their buffers.
func (x *execution) bytes(b batch) (n int64) {
	bits := 0
	switch b := b.(type) {
	case valueRows:
		for _, row := range b {
			for _, v := range row {
				n += 8 + int64(len(v.S))
			}
		}
	case computed:
		for _, a := range b {
			n += int64(a.Data().SizeInBytes())
		}
	case intermediate:
		columns := all(len(b.of.Fields))
		if b.of == x.plan.Table {
			columns = x.fragment.Columns
		}
		bits = rowBits(b.of, columns)
	default: // they stay in the table until somebody reads them
		bits = rowBits(x.plan.Table, x.fragment.Columns)
	}
	return n + (int64(b.Len())*int64(bits)+7)/8
}

// rowBits is how wide the codes of some columns are, side by side.
func rowBits(t *table.Table, columns []int) (bits int) {
	for _, col := range columns {
		widest := 0
		for _, c := range t.Chunks {
			if s := c.Segments[col]; s != nil {
				widest = max(widest, s.Bits)
			}
		}
		bits += widest
	}
	return bits
}

// nodeLines are the lines of what the nodes of a tree gave, and were expected to, in the order in which the tree shows them.
func (x *Explanation) nodeLines() []string {
	rows := [][4]string{}
	var names []string
	shown := map[*PlanNode]bool{}
	var add func(n *PlanNode, depth int)
	add = func(n *PlanNode, depth int) {
		if shown[n] {
			return
		}
		if shown[n] = true; n.MS != nil {
			expected := ""
			if n.Expected != nil {
				expected = numbers.Grouped(*n.Expected)
			}
			names = append(names, strings.Repeat("  ", depth)+n.Node)
			rows = append(rows, [4]string{numbers.Grouped(*n.Gave), expected, fmt.Sprintf("%.3f", *n.MS), numbers.Grouped(*n.Bytes)})
		}
		for _, in := range n.Inputs {
			add(in, depth+1)
		}
	}
	for _, n := range append([]*PlanNode{x.Plan}, x.Subqueries...) {
		add(n, 0)
	}
	if len(rows) == 0 {
		return nil
	}
	widths, width := [4]int{4, 8, 2, 5}, len("Nodes, each with what is below it")
	for i, row := range rows {
		width = max(width, len([]rune(names[i]))+2)
		for k, cell := range row {
			widths[k] = max(widths[k], len(cell))
		}
	}
	line := func(name string, row [4]string) string {
		out := fmt.Sprintf("%-*s", width, name)
		for k, cell := range row {
			out += fmt.Sprintf("  %*s", widths[k], cell)
		}
		return out
	}
	lines := []string{line("Nodes, each with what is below it", [4]string{"rows", "expected", "ms", "bytes"})}
	for i, row := range rows {
		lines = append(lines, line("  "+names[i], row))
	}
	return lines
}
