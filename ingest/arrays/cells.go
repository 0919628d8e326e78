package arrays

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// Cells is some values of a column.
type Cells struct {
	Decoded
	Words dictionary.Builder
}

// Push appends an ordinal, or NULL.
func (c *Cells) Push(o uint64, valid bool) {
	n := len(c.Ordinals)
	c.Ordinals = append(c.Ordinals, o)
	if !valid && c.Valid == nil {
		c.Valid = make([]byte, (n+7)/8, n/8+1<<10)
		bitutil.SetBitsTo(c.Valid, 0, int64(n), true)
	}
	if c.Valid != nil {
		if n%8 == 0 {
			c.Valid = append(c.Valid, 0)
		}
		bitutil.SetBitTo(c.Valid, n, valid)
	}
}

// AppendArray appends the values of an array, which is of [TypeOf] of a type, to a column of that type. It appends none where there is an error.
func AppendArray(to *table.ColumnBuilder, t table.Type, a arrow.Array) error {
	var c Cells
	if err := c.Decode(t, a, &c.Words); err != nil {
		return err
	}
	c.widen()
	c.Append(to, 0, a.Len())
	return nil
}

// Append appends n values, from value at on, to a builder, which has numbers of its own for
// words.
func (c *Cells) Append(b *table.ColumnBuilder, at, n int) {
	list := c.Ordinals[at : at+n]
	if len(c.Words.List) > 0 {
		numbers := make([]uint64, len(c.Words.List)) // 0: none yet
		list = slices.Clone(list)
		for i, k := range list {
			if c.Null(at + i) {
				continue
			}
			if numbers[k] == 0 {
				numbers[k] = 1 + b.Number(c.Words.List[k])
			}
			list[i] = numbers[k] - 1
		}
	}
	b.Ordinals(list, c.Valid, c.offset+at)
}
