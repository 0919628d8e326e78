package ingest

import (
	"encoding/binary"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// arrow-go makes room for as many fields and metadata as a FlatBuffers vector says
// it has, and follows nested fields however deep. In a corrupt file the first ends
// in a fatal lack of memory and the second in an endless stack, neither of which a
// program survives. So this file looks at those lengths first. An offset that
// points outside panics here as it would there, and load recovers.

// Slots of the tables in Arrow's Schema.fbs, Message.fbs and File.fbs.
const (
	slotMessageHeaderType = 6
	slotMessageHeader     = 8
	slotMessageBody       = 10
	slotMessageMetadata   = 12
	slotSchemaFields      = 6
	slotSchemaMetadata    = 8
	slotFieldChildren     = 14
	slotFieldMetadata     = 16
	slotFooterSchema      = 6
	slotFooterDicts       = 8
	slotFooterBatches     = 10

	headerSchema = 1  // value of the union MessageHeader
	blockSize    = 24 // bytes of a Block in the footer
	maxDepth     = 64 // of nested fields; arrow-go itself reads no deeper
)

// root returns the root table of a FlatBuffer.
func root(buf []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: buf, Pos: flatbuffers.GetUOffsetT(buf)}
}

// vector returns the position and length of a vector, after checking that its
// elements of elem bytes lie within the buffer. A vector that is absent is empty.
func vector(t flatbuffers.Table, slot flatbuffers.VOffsetT, elem int) (at, n int, err error) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return 0, 0, nil
	}
	at, n = int(t.Vector(o)), t.VectorLen(o)
	if n < 0 || at+n*elem > len(t.Bytes) {
		return 0, 0, damagef("its metadata names %d elements, more than there is room for", n)
	}
	return at, n, nil
}

// child returns the table to which a slot points.
func child(t flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}, true
}

func verifySchema(schema flatbuffers.Table) error {
	if _, _, err := vector(schema, slotSchemaMetadata, 4); err != nil {
		return err
	}
	budget := len(schema.Bytes) / 4 // a field takes more than that; cycles take any number
	return verifyFields(schema, slotSchemaFields, 0, &budget)
}

func verifyFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int, budget *int) error {
	at, n, err := vector(t, slot, 4)
	if err != nil {
		return err
	}
	if *budget -= n; *budget < 0 || depth > maxDepth {
		return damagef("its fields are nested without end")
	}
	for i := range n {
		f := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(at + 4*i))}
		if _, _, err := vector(f, slotFieldMetadata, 4); err != nil {
			return err
		}
		if err := verifyFields(f, slotFieldChildren, depth+1, budget); err != nil {
			return err
		}
	}
	return nil
}

// verifyMessage checks the metadata of a message and returns the length of its
// body.
func verifyMessage(buf []byte) (bodyLen int64, err error) {
	m := root(buf)
	if _, _, err := vector(m, slotMessageMetadata, 4); err != nil {
		return 0, err
	}
	if schema, ok := child(m, slotMessageHeader); ok && m.GetByteSlot(slotMessageHeaderType, 0) == headerSchema {
		if err := verifySchema(schema); err != nil {
			return 0, err
		}
	}
	return m.GetInt64Slot(slotMessageBody, 0), nil
}

// verifyArrowFile checks the footer of a file and the metadata of all its blocks.
func verifyArrowFile(r io.ReaderAt, size int64) error {
	tail := make([]byte, 4+len(arrowMagic))
	if size < int64(len(tail)) {
		return damagef("%d bytes are too few", size)
	}
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail)))
	if string(tail[4:]) != string(arrowMagic) || n < 8 || n > size-int64(len(tail)) {
		return damagef("it does not end as one")
	}
	buf := make([]byte, n)
	if _, err := r.ReadAt(buf, size-int64(len(tail))-n); err != nil {
		return err
	}
	footer := root(buf)
	if schema, ok := child(footer, slotFooterSchema); ok {
		if err := verifySchema(schema); err != nil {
			return err
		}
	}
	for _, slot := range []flatbuffers.VOffsetT{slotFooterDicts, slotFooterBatches} {
		at, n, err := vector(footer, slot, blockSize)
		if err != nil {
			return err
		}
		for i := range n {
			if err := verifyBlock(r, size, buf[at+i*blockSize:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyBlock checks the message of a Block: offset, length of the metadata (with
// its prefix), length of the body.
func verifyBlock(r io.ReaderAt, size int64, block []byte) error {
	offset := int64(binary.LittleEndian.Uint64(block))
	meta := int64(int32(binary.LittleEndian.Uint32(block[8:])))
	if offset < 0 || meta < 16 || offset > size || meta > size-offset {
		return damagef("a block of %d bytes at %d in a file of %d", meta, offset, size)
	}
	buf := make([]byte, meta)
	if _, err := r.ReadAt(buf, offset); err != nil {
		return err
	}
	prefix := 4
	if binary.LittleEndian.Uint32(buf) == continuation {
		prefix = 8
	}
	_, err := verifyMessage(buf[prefix:])
	return err
}
