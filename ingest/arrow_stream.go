package ingest

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/internal/numbers"
)

// continuation is the word before a message's length.
const continuation = 0xffffffff

// messages cuts an Arrow IPC stream into messages for [ipc.NewReaderFromMessageReader].
// Unlike arrow-go's own reader it checks the metadata, takes memory only as data
// come in, and tells a stream with an end mark from one that just stops, which is
// how a truncated file looks.
type messages struct {
	r     io.Reader
	file  bool  // a footer follows
	size  int64 // about how many bytes there are
	n     int   // messages
	read  int64 // their bytes
	ended bool  // at the end mark
}

// Retain and Release implement [ipc.MessageReader]; the garbage collector does
// the work.
func (m *messages) Retain()  {}
func (m *messages) Release() {}

// Message implements [ipc.MessageReader]. It returns io.EOF at the end mark.
func (m *messages) Message() (*ipc.Message, error) {
	if m.ended {
		return nil, io.EOF
	}
	length, err := m.word()
	if err == nil && length == continuation {
		length, err = m.word()
	}
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, damagef("the stream has no end mark after %s", numbers.Count(m.n, "message", "messages"))
	case err != nil:
		return nil, err
	case length == 0:
		m.ended = true
		if err := m.footer(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	case int32(length) < 8:
		return nil, damagef("a message of %d bytes", int32(length))
	}
	meta, err := m.take(int64(length))
	if err != nil {
		return nil, err
	}
	body, err := m.take(verifyMessage(meta))
	if err != nil {
		return nil, err
	}
	m.n++
	m.read += int64(len(meta) + len(body) + 8)
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// footer passes over that of a file: it repeats what was read, and only its end tells
// that the file is whole.
func (m *messages) footer() error {
	if !m.file {
		return nil
	}
	var end []byte
	buf := make([]byte, 4096)
	for {
		n, err := m.r.Read(buf)
		end = append(end, buf[:n]...)
		end = end[max(0, len(end)-len(arrowMagic)):]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if !bytes.Equal(end, arrowMagic) {
		return damagef("the file ends within its footer")
	}
	return nil
}

func (m *messages) word() (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(m.r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// take reads n bytes, without believing that they are more than there are.
func (m *messages) take(n int64) ([]byte, error) {
	if n < 0 {
		return nil, damagef("a message of %d bytes", n)
	}
	var b bytes.Buffer
	b.Grow(int(min(n, m.size)))
	got, err := io.CopyN(&b, m.r, n)
	if err == io.EOF {
		return nil, damagef("the stream ends %s into a message of %d", numbers.Count(got, "byte", "bytes"), n)
	}
	return b.Bytes(), err
}
