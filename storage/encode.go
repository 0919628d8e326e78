package storage

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// The parts of a change that a record has, as bits of one byte.
const (
	hasDefine = 1 << iota
	hasDrop
	hasCompact
	hasRows // updates, deleted and appended rows
	hasCounted
)

// far are the parts of a record before its last one: codes that are written from where they are. Copying many codes would take as long as
// writing them.
type far [][]byte

// farBytes is how many bytes of codes are not copied, at least. (A variable for the tests.)
var farBytes = 1 << 16

// put puts codes behind out, or, where they are many, both among the parts that lie before what is appended next.
func put[T uint8 | uint16 | uint32 | uint64](f *far, out []byte, codes []T) []byte {
	if !littleEndian {
		out, _ = binary.Append(out, binary.LittleEndian, codes)
		return out
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes)*int(unsafe.Sizeof(T(0))))
	if f == nil || len(bytes) < farBytes {
		return append(out, bytes...)
	}
	*f = append(*f, out, bytes)
	return nil
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// record is a commit as a record of the log, behind room for its head. Its parts may be the codes of the commit's segments.
func record(commit []Change) (parts [][]byte, err error) {
	var f far
	out, err := encode(&f, make([]byte, recordHead), commit)
	return append(f, out), err
}

// encode appends a commit to out as a record of the log has it (docs/format.md). What a reader could not take back is
// an error.
func encode(f *far, out []byte, commit []Change) ([]byte, error) {
	out = binary.AppendUvarint(out, uint64(len(commit)))
	for i := range commit {
		var err error
		if out, err = commit[i].encode(f, out); err != nil {
			return nil, fmt.Errorf("storage: a change of table %s cannot be kept: %w", commit[i].Table, err)
		}
	}
	return out, nil
}

func (c *Change) encode(f *far, out []byte) ([]byte, error) {
	var parts byte
	for _, p := range []struct {
		bit byte
		set bool
	}{{hasDefine, c.Define != nil}, {hasDrop, c.Drop}, {hasCompact, c.Compact}, {hasRows, len(c.Update)+len(c.Delete)+len(c.Append) > 0}, {hasCounted, len(c.Sequences) > 0}} {
		if p.set {
			parts |= p.bit
		}
	}
	out = append(appendText(out, c.Table), parts)
	var err error
	if c.Define != nil {
		if out, err = c.encodeDefine(out); err != nil {
			return nil, err
		}
	}
	if parts&hasCounted != 0 {
		out = binary.AppendUvarint(out, uint64(len(c.Sequences)))
		for _, n := range c.Sequences {
			out = binary.AppendVarint(binary.AppendUvarint(out, uint64(n.Column)), n.Last)
		}
	}
	if parts&hasRows == 0 {
		return out, nil
	}
	out = binary.AppendUvarint(out, uint64(len(c.Update)))
	for _, u := range c.Update {
		out = binary.AppendUvarint(out, uint64(u.Column))
		if out, err = appendRows(out, u.Rows); err == nil {
			out, err = appendSegment(f, out, u.Values)
		}
		if err != nil {
			return nil, err
		}
	}
	if out, err = appendRows(out, c.Delete); err != nil {
		return nil, err
	}
	out = binary.AppendUvarint(out, uint64(len(c.Append)))
	for _, ch := range c.Append {
		if ch.Deleted > 0 {
			return nil, fmt.Errorf("rows to append are deleted")
		}
		out = binary.AppendUvarint(out, uint64(ch.Rows))
		out = binary.AppendUvarint(out, uint64(len(ch.Segments)))
		for _, s := range ch.Segments {
			if s == nil || s.Rows() != ch.Rows {
				return nil, fmt.Errorf("a column has not the rows of its chunk")
			}
			if out, err = appendSegment(f, out, s); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// encodeDefine appends the definition, and where the new columns come from.
func (c *Change) encodeDefine(out []byte) ([]byte, error) {
	if err := c.Define.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(toJSON(c.Define))
	if err != nil {
		return nil, err
	}
	out = appendText(out, string(text))
	out = binary.AppendUvarint(out, uint64(len(c.From)))
	for i, from := range c.From {
		out = binary.AppendVarint(out, int64(from))
		if from >= 0 {
			continue
		}
		if i >= len(c.Fill) || i >= len(c.Define.Fields) {
			return nil, fmt.Errorf("a new column has no value for the rows that there are")
		}
		if out, err = appendSegment(nil, out, table.SegmentOf(c.Define.Fields[i].Type, c.Fill[i])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check reports what cannot be kept on disk.
func (d *Definition) check() error {
	if len(d.Columns) != len(d.Fields) {
		return fmt.Errorf("%d columns are described of %d", len(d.Columns), len(d.Fields))
	}
	if !utf8.ValidString(d.Name) || d.Name == "" {
		return fmt.Errorf("its name is empty or not valid UTF-8")
	}
	seen := map[string]bool{}
	for _, f := range d.Fields {
		switch {
		case f.Unsupported != "":
			return fmt.Errorf("column %s is %s", f.Name, f.Unsupported)
		case f.Type.Kind == table.Interval:
			return sqlstate.Errorf(sqlstate.FeatureNotSupported, "column %s: a table on disk has no columns of type interval: keep the microseconds as bigint", f.Name)
		case !utf8.ValidString(f.Name):
			return fmt.Errorf("the name of a column is not valid UTF-8")
		case seen[f.Name]:
			return fmt.Errorf("two columns are named %s", f.Name)
		}
		if _, err := typeNamed(f.Type.String()); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
		seen[f.Name] = true
	}
	for i, c := range d.Columns {
		if c.Length < 0 || (c.Length > 0 || c.Padded) && d.Fields[i].Type.Kind != table.Varchar {
			return fmt.Errorf("column %s of type %s has length %d", d.Fields[i].Name, d.Fields[i].Type, c.Length)
		}
		if c.Sequence != nil {
			if err := c.Sequence.check(d.Fields[i]); err != nil {
				return err
			}
		}
	}
	for _, k := range d.Keys {
		for _, col := range k.Columns {
			if col < 0 || col >= len(d.Fields) {
				return fmt.Errorf("key %s has column %d of %d", k.Name, col, len(d.Fields))
			}
		}
	}
	return nil
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// appendRows appends ascending row numbers as runs: how many rows lie before the run, and its length. Their number
// stands before them.
func appendRows(out []byte, rows []int) ([]byte, error) {
	out = binary.AppendUvarint(out, uint64(len(rows)))
	next := 0
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+n {
			n++
		}
		if rows[i] < next {
			return nil, fmt.Errorf("row %d is out of order", rows[i])
		}
		out = binary.AppendUvarint(out, uint64(rows[i]-next))
		out = binary.AppendUvarint(out, uint64(n))
		next, i = rows[i]+n, i+n
	}
	return out, nil
}

// What of a segment follows its codes.
const (
	segmentNulls = 1 << iota
	segmentNegativeZeros
)

// appendSegment appends a segment, its codes as they lie.
func appendSegment(f *far, out []byte, s *table.Segment) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	n := s.Rows()
	out = append(out, byte(s.Type.Kind), byte(s.Type.Precision), byte(s.Type.Scale))
	out = binary.LittleEndian.AppendUint64(out, s.Base)
	out = binary.AppendUvarint(out, s.Max)
	out = binary.AppendUvarint(out, uint64(n))
	c := s.Codes
	if c.Width() != width(s.Bits) {
		wide := make([]uint64, n)
		for i := range wide {
			wide[i] = c.At(i)
		}
		c = table.Narrow(wide, s.Bits)
	}
	switch {
	case c.U64 != nil:
		out = put(f, out, c.U64)
	case c.U32 != nil:
		out = put(f, out, c.U32)
	case c.U16 != nil:
		out = put(f, out, c.U16)
	default:
		out = put(f, out, c.U8)
	}
	bits := byte(0)
	if s.Nulls > 0 {
		bits |= segmentNulls
	}
	if s.NegativeZeros != nil {
		bits |= segmentNegativeZeros
	}
	if out = append(out, bits); s.Nulls > 0 {
		out = put(f, out, s.Valid)
	}
	if s.NegativeZeros != nil {
		out = put(f, out, s.NegativeZeros)
	}
	if s.Type.Kind != table.Varchar {
		return out, nil
	}
	out = binary.AppendUvarint(out, uint64(len(s.Dict)))
	for _, word := range s.Dict {
		if !utf8.ValidString(word) {
			return nil, fmt.Errorf("a text is not valid UTF-8")
		}
		out = binary.AppendUvarint(out, uint64(len(word)))
	}
	for _, word := range s.Dict {
		out = append(out, word...)
	}
	return out, nil
}

// width is the bytes of a code of so many bits.
func width(b int) int {
	if b <= 8 {
		return 1
	}
	return 1 << bits.Len(uint(b-1)/8)
}
