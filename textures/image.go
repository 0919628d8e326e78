package textures

import (
	"fmt"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// Target is a resident depth-stencil buffer with its framebuffer.
type Target struct {
	Framebuffer uint32
	Texture     uint32
	Ref         TargetRef // without its Chunk
}

// Bind makes the texture of a ref resident, uploading it at first use, and binds
// it to a texture unit.
func (s *Store) Bind(unit uint32, ref Ref) error {
	id, err := s.Texture(ref)
	if err == nil {
		gl.BindTextureUnit(unit, id)
	}
	return err
}

// Texture returns the GL texture of a ref, made resident, for others to sample. It
// is good until the next statement runs.
func (s *Store) Texture(ref Ref) (uint32, error) {
	o, err := s.image(ref)
	if err != nil {
		return 0, err
	}
	return o.texture, nil
}

// Draw returns the framebuffer of a temporary texture, or of that of which it is lines, by itself.
func (s *Store) Draw(t *Temp) (uint32, error) {
	o, err := s.image(Ref{Temp: t})
	if err != nil {
		return 0, err
	}
	if o.frame == 0 {
		s.makeFrame(o, gl.COLOR_ATTACHMENT0)
	}
	return o.frame, s.ctx.Check("textures: draw into a temporary texture")
}

// Attach makes a temporary texture the colour buffer of a target; nil detaches.
func (s *Store) Attach(t *Target, temp *Temp) error {
	id, buffer := uint32(0), uint32(gl.NONE)
	if temp != nil {
		var err error
		if id, err = s.Texture(Ref{Temp: temp}); err != nil {
			return err
		}
		buffer = gl.COLOR_ATTACHMENT0
	}
	gl.NamedFramebufferTexture(t.Framebuffer, gl.COLOR_ATTACHMENT0, id, 0)
	gl.NamedFramebufferDrawBuffer(t.Framebuffer, buffer)
	return nil
}

func (s *Store) image(ref Ref) (*object, error) {
	k := ref.key()
	if o := s.find(k); o != nil {
		return o, s.applyPatches(o, func(i int, rows []uint32) error { return s.patchImage(o, ref, i, rows) })
	}
	what := ref.describe(s.table)
	switch {
	case ref.Words != nil:
		return s.list(k, what, ref.Words)
	case ref.Temp != nil:
		ref.Temp = ref.Temp.Whole()
	}
	sh, records, f := ref.layout()
	if ref.Temp != nil {
		o, _, err := s.take(k, poolKey{temp: *ref.Temp}, what, ref.Bytes(), false, func(o *object) { s.makeImage(o, f.internal, sh.Width, sh.Height) })
		if err != nil {
			return nil, err
		}
		gl.ClearTexImage(o.texture, 0, f.texel, f.kind, nil)
		return o, s.ctx.Check("textures: clear " + what)
	}
	if err := s.fits(sh); err != nil {
		return nil, err
	}
	o := &object{kind: FloatTexture, bytes: ref.Bytes(), made: shape{ref.Bytes(), f.internal, sh.Width, sh.Height}}
	if ref.Form != Floats {
		o.kind = IntegerTexture
	}
	for _, c := range ref.columns() {
		o.segments = append(o.segments, ref.Chunk.Segments[c])
	}
	return s.reside(k, o, ref.Chunk, what, func() error {
		s.makeImage(o, f.internal, sh.Width, sh.Height)
		return nil
	}, func() error {
		upload := func(line int) error { return s.uploadTexture(o.texture, ref, sh, f, line) }
		done, err := s.derived(o, k, func(rows int) Shape { return ref.shape(rows, records) }, func(i int, rows []uint32) error { return s.patchImage(o, ref, i, rows) },
			func(after int) error { return upload(after / records / sh.Width) })
		if done || err != nil {
			return err
		}
		return upload(0)
	})
}

// list writes words into working memory and makes that a texture.
func (s *Store) list(k key, what string, words *Scratch) (*object, error) {
	if n, m := words.Words/4, s.ctx.Caps().MaxTextureBuffer; n > m {
		return nil, fmt.Errorf("textures: %d entries in a buffer texture, the device has at most %d", n, m)
	}
	o, err := s.buffer(k, what, words)
	if err == nil {
		s.view(o)
	}
	return o, err
}

// Target makes a depth-stencil buffer resident. It stays until the scope is left or
// closed. Fresh contents are undefined.
func (s *Store) Target(ref TargetRef) (*Target, error) {
	k := ref.key()
	o := s.find(k)
	if o == nil {
		if err := s.fits(ref.Shape); err != nil {
			return nil, err
		}
		what, fill := fmt.Sprintf("a %dx%d %v buffer", ref.Shape.Width, ref.Shape.Height, ref.Format), (func() error)(nil)
		o = &object{kind: WorkingMemory, bytes: ref.Bytes()}
		if ref.Chunk != nil {
			what = fmt.Sprintf("%s of a chunk of %d rows as depths", describeColumns(s.table, ref.Col), ref.Chunk.Rows)
			o.kind, o.segments = DepthTexture, k.segments[:1]
			fill = func() error {
				done, err := s.derived(o, k, LineShape, func(_ int, rows []uint32) error { return s.patchDepths(o.target, ref, rows) },
					func(after int) error { return s.uploadDepths(o.target, ref, after/ref.Shape.Width) })
				if done || err != nil {
					return err
				}
				return s.uploadDepths(o.target, ref, 0)
			}
		}
		if _, err := s.reside(k, o, ref.Chunk, what, func() error { return s.makeTarget(o, what, k.target) }, fill); err != nil {
			return nil, err
		}
	} else if err := s.applyPatches(o, func(_ int, rows []uint32) error { return s.patchDepths(o.target, ref, rows) }); err != nil {
		return nil, err
	}
	s.scope.draws(o)
	return o.target, nil
}

func (s *Store) makeTarget(o *object, what string, ref TargetRef) error {
	s.makeImage(o, map[Format]uint32{D24S8: gl.DEPTH24_STENCIL8, D32FS8: gl.DEPTH32F_STENCIL8}[ref.Format], ref.Shape.Width, ref.Shape.Height)
	s.makeFrame(o, gl.DEPTH_STENCIL_ATTACHMENT)
	gl.NamedFramebufferDrawBuffer(o.frame, gl.NONE)
	o.target = &Target{Framebuffer: o.frame, Texture: o.texture, Ref: ref}
	if status := gl.CheckNamedFramebufferStatus(o.frame, gl.FRAMEBUFFER); status != gl.FRAMEBUFFER_COMPLETE {
		return glctx.Fault(fmt.Errorf("textures: %s: framebuffer incomplete (0x%x)", what, status))
	}
	return nil
}

// fits checks a shape against the device's texture size.
func (s *Store) fits(sh Shape) error {
	if m := s.ctx.Caps().MaxTextureSize; sh.Width > m || sh.Height > m {
		return fmt.Errorf("textures: a chunk of %d rows needs a texture of %dx%d, the device has at most %dx%d: load it in smaller chunks",
			sh.Rows, sh.Width, sh.Height, m, m)
	}
	return nil
}
