package wisconsin

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/table"
)

// Layout is how a tuple lies in memory, in words of four bytes: the identifier, integers, floats, strings of two words.
type Layout struct {
	Name  string
	Words int
	// Integer is the place of the first integer, and IntegerWords are what each takes; likewise Float.
	Integer, IntegerWords, Integers int
	Float, FloatWords, Floats       int
	String, Strings                 int
}

// The layouts of sections 5.2 and 5.2.6: 80, 24 and 136 bytes. The large one's integers have eight bytes each, as the text has it, and its
// floats are padded to eight, which the text's size needs.
var (
	Standard = Layout{"standard", 20, 1, 1, 9, 10, 1, 4, 14, 3}
	Small    = Layout{"small", 6, 1, 1, 2, 3, 1, 1, 4, 1}
	Large    = Layout{"large", 34, 2, 2, 9, 20, 2, 4, 28, 3}
)

// Bytes is the size of a tuple.
func (l Layout) Bytes() int { return 4 * l.Words }

// defines tell a program where attributes are, of tuples with a prefix.
func (l Layout) defines() []string {
	return []string{fmt.Sprintf("TUPLE %du", l.Words), fmt.Sprintf("NUMBER(k) (%du + %du * uint(k))", l.Integer, l.IntegerWords), fmt.Sprintf("PERCENT(k) (%du + %du * uint(k))", l.Float, l.FloatWords)}
}

// Numbers of attributes: attrb_num of the text's kernels, and floats.
const (
	Unique1, Unique2, Two  = 0, 1, 2
	OnePercent, TenPercent = 0, 1
)

// Table is N tuples in host memory, one after the other.
type Table struct {
	Layout
	N     int
	Words []uint32
}

// Make makes the Wisconsin table of n rows as tuples, on all cores.
func Make(l Layout, n int, seed uint64) *Table {
	t := &Table{l, n, make([]uint32, n*l.Words)}
	table.InParts(n, func(from, to int) {
		for i := from; i < to; i++ {
			w, x := generate.Wisconsin(i, n, seed), t.Words[i*l.Words:(i+1)*l.Words]
			x[0] = uint32(i)
			for k := range l.Integers {
				x[l.Integer+k*l.IntegerWords] = uint32(w.Numbers[k])
			}
			for k := range l.Floats {
				x[l.Float+k*l.FloatWords] = math.Float32bits(w.Percents[k])
			}
			for k := range l.Strings {
				x[l.String+2*k], x[l.String+2*k+1] = binary.BigEndian.Uint32(w.Strings[k][:4]), binary.BigEndian.Uint32(w.Strings[k][4:])
			}
		}
	})
	return t
}

// tuple is the words of tuple i.
func (t *Table) tuple(i int) []uint32 { return t.Words[i*t.Layout.Words : (i+1)*t.Layout.Words] }

// number and percent are attributes of tuple i.
func (t *Table) number(i, k int) int32 { return int32(t.tuple(i)[t.Integer+k*t.IntegerWords]) }
func (t *Table) percent(i, k int) float32 {
	return math.Float32frombits(t.tuple(i)[t.Float+k*t.FloatWords])
}

func op(name string, n int) lab.Op {
	return lab.Op{Paper: "wisconsin", Name: name, Over: fmt.Sprintf("%d tuples", n)}
}
