package sortkey

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// Key is a sort key, whose values are a column of the batches.
type Key struct {
	expr.SortKey
	Column int
}

// Bytes are the keys of some rows as bytes that order as the rows do.
type Bytes struct {
	bytes       []byte
	ends, wants []int // by row: where its bytes end, and those of the keys that are unique
}

// Of are the bytes of a row.
func (k *Bytes) Of(row int) []byte {
	if row == 0 {
		return k.bytes[:k.ends[0]]
	}
	return k.bytes[k.ends[row-1]:k.ends[row]]
}

// UniqueOf is the part of a row's bytes that is unique.
func (k *Bytes) UniqueOf(row int) []byte {
	of := k.Of(row)
	return of[:len(of)-(k.ends[row]-k.wants[row])]
}

// Prefix is the first bytes of a row's keys as a number.
func Prefix(key []byte) (x uint64) {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	for i, b := range key {
		x |= uint64(b) << (56 - 8*i)
	}
	return x
}

// BytesOf are the keys of a batch's rows; the first unique of them are those that are unique.
func BytesOf(rows []arrow.Array, keys []Key, unique int) *Bytes {
	n := rows[0].Len()
	out := &Bytes{bytes: make([]byte, 0, 9*len(keys)*n), ends: make([]int, n), wants: make([]int, n)}
	of := make([]func([]byte, int) []byte, len(keys))
	for i, k := range keys {
		of[i] = keyBytes(rows[k.Column], k.E.Type())
	}
	for row := range n {
		for i, k := range keys {
			if i == unique {
				out.wants[row] = len(out.bytes)
			}
			null := rows[k.Column].IsNull(row)
			flag := byte(0)
			if null != k.NullsFirst {
				flag = 1
			}
			out.bytes = append(out.bytes, flag)
			if null {
				continue
			}
			at := len(out.bytes)
			out.bytes = of[i](out.bytes, row)
			if k.Desc {
				for j := at; j < len(out.bytes); j++ {
					out.bytes[j] = ^out.bytes[j]
				}
			}
		}
		out.ends[row] = len(out.bytes)
		if unique == len(keys) {
			out.wants[row] = len(out.bytes)
		}
	}
	return out
}

// keyBytes appends a value of an array that is not NULL as bytes, which order as the values do. No value's bytes are the
// beginning of another one's.
func keyBytes(a arrow.Array, t table.Type) func(out []byte, i int) []byte {
	number := func(out []byte, v int64) []byte { return binary.BigEndian.AppendUint64(out, table.OrdinalInt(v)) }
	switch a := a.(type) {
	case *array.Int64:
		return func(out []byte, i int) []byte { return number(out, a.Value(i)) }
	case *array.Float64:
		return func(out []byte, i int) []byte {
			return binary.BigEndian.AppendUint64(out, table.OrdinalFloat64(a.Value(i)))
		}
	case *array.Decimal128:
		return func(out []byte, i int) []byte { return append128(out, a.Value(i)) }
	case *array.Decimal256:
		return func(out []byte, i int) []byte { return append256(out, a.Value(i)) }
	}
	value := arrays.Values(a, t)
	return func(out []byte, i int) []byte {
		v := value(i)
		switch {
		case t.Kind == table.Varchar:
			for at := 0; at < len(v.S); at++ {
				if out = append(out, v.S[at]); v.S[at] == 0 {
					out = append(out, 1)
				}
			}
			return append(out, 0, 0)
		case t.IsFloat():
			return binary.BigEndian.AppendUint64(out, table.OrdinalFloat64(v.F))
		}
		return number(out, v.I+int64(v.Months)*table.MicrosPerMonth)
	}
}

func append128(out []byte, v decimal128.Num) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, table.OrdinalInt(v.HighBits())), v.LowBits())
}

func append256(out []byte, v decimal256.Num) []byte {
	words := v.Array()
	out = binary.BigEndian.AppendUint64(out, table.OrdinalInt(int64(words[3])))
	for i := 2; i >= 0; i-- {
		out = binary.BigEndian.AppendUint64(out, words[i])
	}
	return out
}
