package engine

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// Columns that lie side by side become arrays where an answer is handed out: sizes are those of
// [plan.Arrays].

// arrayedTypes are the columns of the answer.
func arrayedTypes(sizes []int, columns []Column) (out []Column) {
	at := 0
	for _, size := range sizes {
		c := columns[at]
		if size > 0 {
			c = Column{Name: c.Name, Type: table.ArrayOf(c.Type)}
		}
		out, at = append(out, c), at+max(1, size)
	}
	return out
}

// arrayed is a row of the answer. An array of NULLs alone is that of no rows, which is NULL.
func arrayed(sizes []int, row []table.Value) (out []table.Value) {
	at := 0
	for _, size := range sizes {
		v := row[at]
		if size > 0 {
			list := row[at : at+size : at+size]
			v = table.List(v.Type, list)
			v.Null = true
			for _, e := range list {
				v.Null = v.Null && e.Null
			}
		}
		out, at = append(out, v), at+max(1, size)
	}
	return out
}

// arrayedColumns are columns of the answer in Arrow. It takes over those of the tree.
func arrayedColumns(sizes []int, from computed, columns []Column) (out computed) {
	at := 0
	for _, size := range sizes {
		if size == 0 {
			out, at = append(out, from[at]), at+1
			continue
		}
		parts, t := from[at:at+size], columns[at].Type
		b := array.NewBuilder(memory.DefaultAllocator, arrays.TypeOf(table.ArrayOf(t)))
		var read []func(i int) table.Value
		for _, p := range parts {
			read = append(read, arrays.Values(p, t))
		}
		for i := range parts[0].Len() {
			row := make([]table.Value, size)
			for k, value := range read {
				row[k] = value(i)
			}
			arrays.AppendValue(b, arrayed([]int{size}, row)[0])
		}
		out, at = append(out, b.NewArray()), at+size
		b.Release()
		for _, p := range parts {
			p.Release()
		}
	}
	return out
}
