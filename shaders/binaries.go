package shaders

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	whole "github.com/stencildb/stencildb/internal/files"
)

// maxBinaries is how many bytes of programs a folder keeps. When it has more, the oldest go,
// down to keptBinaries: so that the folder is seldom listed.
const (
	maxBinaries  = 64 << 20
	keptBinaries = 48 << 20
)

// binaries are linked programs as the driver gives them out, in files of a folder: by
// driver and text, with a checksum. One that the driver refuses is compiled again. No
// error stops anything: without a file there is no gain.
type binaries struct {
	ctx    *glctx.Context
	folder string
	driver string
	bytes  int64 // in the folder when it was last listed, and what was saved since; 0 at first
}

// binariesOf returns nil where the context has no folder, or the driver gives out no
// programs.
func binariesOf(ctx *glctx.Context) *binaries {
	var formats int32
	if ctx.Programs() != "" {
		gl.GetIntegerv(gl.NUM_PROGRAM_BINARY_FORMATS, &formats)
	}
	if formats == 0 {
		return nil
	}
	c := ctx.Caps()
	return &binaries{ctx: ctx, folder: ctx.Programs(), driver: fmt.Sprintf("%s\n%s\n%s\n%s", c.Vendor, c.Renderer, c.Version, c.GLSL)}
}

func (b *binaries) file(s Source) string {
	vertex := s.Vertex
	if vertex == "" && !s.Compute {
		vertex = Load("quad.vert").Text
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s%s", b.driver, len(vertex), vertex, s.Text))
	return filepath.Join(b.folder, hex.EncodeToString(h[:])+".program")
}

// load returns a program, 0 where there is none that serves.
func (b *binaries) load(s Source) (id uint32) {
	if b == nil {
		return 0
	}
	data, err := whole.Read(b.file(s))
	if err != nil || len(data) <= sha256.Size+4 {
		return 0
	}
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return 0
	}
	data = data[sha256.Size:]
	id = gl.CreateProgram()
	gl.ProgramBinary(id, binary.LittleEndian.Uint32(data), gl.Ptr(data[4:]), int32(len(data)-4))
	var ok int32
	gl.GetProgramiv(id, gl.LINK_STATUS, &ok)
	if err := b.ctx.Check("load " + s.Name); err != nil || ok == gl.FALSE {
		gl.DeleteProgram(id)
		return 0
	}
	return id
}

// save keeps a program for the next process.
func (b *binaries) save(s Source, id uint32) {
	if b == nil {
		return
	}
	var n int32
	if gl.GetProgramiv(id, gl.PROGRAM_BINARY_LENGTH, &n); n <= 0 {
		return
	}
	data := make([]byte, sha256.Size+4+int(n))
	var format uint32
	gl.GetProgramBinary(id, n, &n, &format, gl.Ptr(data[sha256.Size+4:]))
	if err := b.ctx.Check("keep " + s.Name); err != nil || n <= 0 {
		return
	}
	data = data[:sha256.Size+4+int(n)]
	binary.LittleEndian.PutUint32(data[sha256.Size:], format)
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	if os.MkdirAll(b.folder, 0o777) != nil {
		return
	}
	b.makeRoom(int64(len(data)))
	_ = whole.Write(b.file(s), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// makeRoom sees to it that n more bytes fit. What other processes save meanwhile it counts
// when it lists the folder: at first, and when that seems full.
func (b *binaries) makeRoom(n int64) {
	first := b.bytes == 0
	if b.bytes += n; !first && b.bytes <= maxBinaries {
		return
	}
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		return
	}
	b.bytes = n
	var list []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".program" {
			list, b.bytes = append(list, info), b.bytes+info.Size()
		}
	}
	if b.bytes <= maxBinaries {
		return
	}
	slices.SortFunc(list, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range list {
		if b.bytes <= keptBinaries {
			return
		}
		if os.Remove(filepath.Join(b.folder, f.Name())) == nil {
			b.bytes -= f.Size()
		}
	}
}
