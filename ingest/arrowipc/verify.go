package arrowipc

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/stencildb/stencildb/ingest/source"
)

// arrow-go makes room for as many fields and metadata as a FlatBuffers vector says it has, and follows nested
// fields however deep. In a corrupt file the first ends in a fatal lack of memory and the second in an
// endless stack. No program survives either. So this file looks at those lengths first. What is damaged
// panics here, as an offset that points outside does there; arrow-go's reader recovers.

// Slots of the tables in Arrow's Schema.fbs and Message.fbs.
const (
	slotMessageHeaderType = 6
	slotMessageHeader     = 8
	slotMessageBody       = 10
	slotMessageMetadata   = 12
	slotSchemaFields      = 6
	slotSchemaMetadata    = 8
	slotFieldChildren     = 14
	slotFieldMetadata     = 16
	slotBatchCompression  = 10

	headerSchema = 1 // values of the union MessageHeader
	headerBatch  = 3
	maxDepth     = 64 // of nested fields; arrow-go itself reads no deeper
)

// vector returns the position and length of a vector of offsets, which lie within the
// buffer. A vector that is absent is empty.
func vector(t flatbuffers.Table, slot flatbuffers.VOffsetT) (at, n int) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return 0, 0
	}
	at, n = int(t.Vector(o)), t.VectorLen(o)
	if n < 0 || at+4*n > len(t.Bytes) {
		panic(source.Damagef("its metadata names %d elements, more than there is room for", n))
	}
	return at, n
}

// verifyMessage checks the metadata of a message, and returns the length of its body and
// whether this is a compressed record batch.
func verifyMessage(buf []byte) (bodyLen int64, packed bool) {
	m := flatbuffers.Table{Bytes: buf, Pos: flatbuffers.GetUOffsetT(buf)}
	vector(m, slotMessageMetadata)
	if o := flatbuffers.UOffsetT(m.Offset(slotMessageHeader)); o != 0 {
		header := flatbuffers.Table{Bytes: buf, Pos: m.Indirect(o + m.Pos)}
		switch m.GetByteSlot(slotMessageHeaderType, 0) {
		case headerSchema:
			vector(header, slotSchemaMetadata)
			budget := len(buf) / 4 // a field takes more than that; cycles take any number
			verifyFields(header, slotSchemaFields, 0, &budget)
		case headerBatch:
			packed = header.Offset(slotBatchCompression) != 0
		}
	}
	return m.GetInt64Slot(slotMessageBody, 0), packed
}

func verifyFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int, budget *int) {
	at, n := vector(t, slot)
	if *budget -= n; *budget < 0 || depth > maxDepth {
		panic(source.Damagef("its fields are nested without end"))
	}
	for i := range n {
		f := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(at + 4*i))}
		vector(f, slotFieldMetadata)
		verifyFields(f, slotFieldChildren, depth+1, budget)
	}
}
