package arrowipc

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
)

// continuation is the word before a message's length.
const continuation = 0xffffffff

// messages cuts an Arrow IPC stream into messages for [ipc.NewReaderFromMessageReader], which are parts of
// data. Unlike arrow-go's own reader it checks the metadata. It also tells a stream with an end mark from one
// that just stops, which is how a truncated file looks.
type messages struct {
	data   []byte // from the next message on
	file   bool   // a footer follows
	n      int    // messages
	read   int64  // their bytes
	ended  bool   // at the end mark
	packed bool   // a record batch is compressed
}

// Retain and Release implement [ipc.MessageReader]; the garbage collector does
// the work.
func (m *messages) Retain() {}

func (m *messages) Release() {}

// Message implements [ipc.MessageReader]. It returns io.EOF at the end mark.
func (m *messages) Message() (*ipc.Message, error) {
	if m.ended {
		return nil, io.EOF
	}
	length, ok := m.word()
	if ok && length == continuation {
		length, ok = m.word()
	}
	switch {
	case !ok:
		return nil, source.Damagef("the stream has no end mark after %s", numbers.Count(m.n, "message", "messages"))
	case length == 0:
		m.ended = true
		// The footer of a file repeats what was read, and only its end tells that the file is whole.
		if m.file && !bytes.HasSuffix(m.data, magic) {
			return nil, source.Damagef("the file ends within its footer")
		}
		return nil, io.EOF
	case int32(length) < 8:
		return nil, source.Damagef("a message of %d bytes", int32(length))
	}
	meta, err := m.take(int64(length))
	if err != nil {
		return nil, err
	}
	room, packed := verifyMessage(meta)
	body, err := m.take(room)
	if err != nil {
		return nil, err
	}
	m.packed = m.packed || packed
	m.n++
	m.read += int64(len(meta) + len(body) + 8)
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

func (m *messages) word() (uint32, bool) {
	if len(m.data) < 4 {
		return 0, false
	}
	w := binary.LittleEndian.Uint32(m.data)
	m.data = m.data[4:]
	return w, true
}

// take passes over n bytes.
func (m *messages) take(n int64) ([]byte, error) {
	switch {
	case n < 0:
		return nil, source.Damagef("a message of %d bytes", n)
	case n > int64(len(m.data)):
		return nil, source.Damagef("the stream ends %s into a message of %d", numbers.Count(len(m.data), "byte", "bytes"), n)
	}
	out := m.data[:n:n]
	m.data = m.data[n:]
	return out, nil
}
