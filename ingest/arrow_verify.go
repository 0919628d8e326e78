package ingest

import flatbuffers "github.com/google/flatbuffers/go"

// arrow-go makes room for as many fields and metadata as a FlatBuffers vector says
// it has, and follows nested fields however deep. In a corrupt file the first ends
// in a fatal lack of memory and the second in an endless stack, neither of which a
// program survives. So this file looks at those lengths first. An offset that
// points outside panics here as it would there, and load recovers.

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

	headerSchema = 1  // value of the union MessageHeader
	maxDepth     = 64 // of nested fields; arrow-go itself reads no deeper
)

// root returns the root table of a FlatBuffer.
func root(buf []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: buf, Pos: flatbuffers.GetUOffsetT(buf)}
}

// vector returns the position and length of a vector of offsets, after checking that
// they lie within the buffer. A vector that is absent is empty.
func vector(t flatbuffers.Table, slot flatbuffers.VOffsetT) (at, n int, err error) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return 0, 0, nil
	}
	at, n = int(t.Vector(o)), t.VectorLen(o)
	if n < 0 || at+4*n > len(t.Bytes) {
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
	if _, _, err := vector(schema, slotSchemaMetadata); err != nil {
		return err
	}
	budget := len(schema.Bytes) / 4 // a field takes more than that; cycles take any number
	return verifyFields(schema, slotSchemaFields, 0, &budget)
}

func verifyFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int, budget *int) error {
	at, n, err := vector(t, slot)
	if err != nil {
		return err
	}
	if *budget -= n; *budget < 0 || depth > maxDepth {
		return damagef("its fields are nested without end")
	}
	for i := range n {
		f := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(at + 4*i))}
		if _, _, err := vector(f, slotFieldMetadata); err != nil {
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
	if _, _, err := vector(m, slotMessageMetadata); err != nil {
		return 0, err
	}
	if schema, ok := child(m, slotMessageHeader); ok && m.GetByteSlot(slotMessageHeaderType, 0) == headerSchema {
		if err := verifySchema(schema); err != nil {
			return 0, err
		}
	}
	return m.GetInt64Slot(slotMessageBody, 0), nil
}
