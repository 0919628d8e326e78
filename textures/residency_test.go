package textures_test

import (
	"maps"
	"math/bits"
	"slices"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// segment makes a segment of codes of a width; with nulls, the rows whose code is a
// multiple of 3 are NULL.
func segment(codes []uint64, width int, nulls bool) *table.Segment {
	seg := &table.Segment{Bits: width, Max: slices.Max(codes)}
	if nulls {
		seg.Valid = table.NewBitmap(len(codes))
		for i, c := range codes {
			if c%3 != 0 {
				seg.Valid.Set(i)
			} else {
				codes[i] = 0
				seg.Nulls++
			}
		}
	}
	seg.Codes = table.Narrow(codes, width)
	return seg
}

// TestUploadedTexelsReadBack uploads columns that take several slots of the ring.
func TestUploadedTexelsReadBack(t *testing.T) {
	const rows = 1<<18 + 12345
	for _, width := range []int{8, 16, 24, 32, 47, 64} {
		for _, nulls := range []bool{false, true} {
			codes := make([]uint64, rows)
			for i := range codes {
				codes[i] = uint64(i+1) * 0x9e3779b97f4a7c15 >> (64 - width)
			}
			seg := segment(codes, width, nulls)
			ch := &table.Chunk{Rows: rows, Segments: []*table.Segment{seg, seg}}
			refs := []textures.Ref{textures.Attribute(ch, 0)}
			switch n := textures.Limbs(width); {
			case n == 1:
				refs = append(refs, textures.Pack(ch, []int{1, 0}))
			case n == 3:
				refs = append(refs, textures.AttributeHigh(ch, 1))
			}
			gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
				for _, ref := range refs {
					got, err := g.Store().Read(ref)
					if err != nil {
						t.Fatal(err)
					}
					stride := len(got) / rows
					for i := range rows {
						for c := range min(stride, 2) {
							limb := c
							if ref.Packed {
								limb = 0
							} else if ref.High {
								limb = 2
							}
							want := float32(textures.Limb(codes[i], limb))
							if nulls && seg.IsNull(i) {
								want = textures.NullLimb
							}
							if got[i*stride+c] != want {
								t.Fatalf("%d bits, nulls %v, row %d channel %d: %v, want %v", width, nulls, i, c, got[i*stride+c], want)
							}
						}
					}
				}
			})
		}
	}
}

// TestDepthsAreExact uploads every 24-bit depth, as software renderers take it and
// as hardware does.
func TestDepthsAreExact(t *testing.T) {
	codes := make([]uint32, 1<<24)
	for i := range codes {
		codes[i] = uint32(i)
	}
	seg := &table.Segment{Bits: 24, Max: 1<<24 - 1, Codes: table.Codes{U32: codes}}
	ch := &table.Chunk{Rows: len(codes), Segments: []*table.Segment{seg}}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, software := range []bool{true, false} {
			ctx.Caps().Software = software
			words := make([]uint32, len(codes))
			store := textures.NewStore(ctx, 0)
			store.Lend = g.Lend
			target, err := store.Target(textures.ResidentDepth(ch, 0))
			if err != nil {
				t.Fatal(err)
			}
			gl.GetTextureImage(target.Texture, 0, gl.DEPTH_STENCIL, gl.UNSIGNED_INT_24_8, int32(4*len(words)), gl.Ptr(words))
			store.Close()
			for i, w := range words {
				if w>>8 != uint32(i) {
					t.Fatalf("software %v: depth %d is stored as %d", software, i, w>>8)
				}
			}
		}
	})
}

// TestBindsWithinAnyBudget binds textures, blocks and working memory of three scopes at random under a
// random budget. The budget is never exceeded, and what is bound holds the column.
func TestBindsWithinAnyBudget(t *testing.T) {
	var chunks []*table.Chunk
	for c := range 4 {
		rows := 9000*c + 100
		codes := make([]uint64, rows)
		for i := range codes {
			codes[i] = uint64(i*7+c) % 251
		}
		chunks = append(chunks, &table.Chunk{Rows: rows,
			Segments: []*table.Segment{segment(slices.Clone(codes), 8, false), segment(codes, 8, true)}})
	}
	var largest int64 = 16 << 15 // a packed texture of the largest chunk
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rapid.Check(t, func(rt *rapid.T) {
			budget := rapid.Int64Range(largest, 4*largest).Draw(rt, "budget")
			steps := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 1, 40).Draw(rt, "steps")
			before := ctx.Live()
			s := textures.NewStore(ctx, budget)
			s.Lend = g.Lend
			scopes := []*textures.Scope{s.Open(), s.Open(), s.Open()}
			var has [3]int64 // working memory of each scope
			for _, step := range steps {
				scope := step >> 6 % len(scopes)
				s.Enter(scopes[scope])
				s.Begin()
				held := has[0] + has[1] + has[2]
				ch, col := chunks[step&3], step>>2&1
				seg, w := ch.Segments[col], textures.Window{Rows: ch.Rows}
				switch step >> 3 % 8 {
				case 0:
					got, err := s.Read(textures.Attribute(ch, col))
					if err != nil {
						rt.Fatalf("%v with %d bytes held", err, held)
					}
					for i, v := range got {
						if want := float32(seg.Codes.At(i)); v != want && !(seg.IsNull(i) && v == textures.NullLimb) {
							rt.Fatalf("row %d: %v, want %v", i, v, want)
						}
					}
				case 1:
					if err := s.Bind(0, textures.Pack(ch, []int{0, 1})); err != nil {
						rt.Fatalf("%v with %d bytes held", err, held)
					}
				case 2, 3:
					ref := textures.Block{Chunk: ch, Col: col, Content: textures.Codes, Window: w}
					words := make([]uint32, ref.Bytes()/4)
					if err := s.Reside(ref); err != nil {
						rt.Fatal(err)
					}
					if err := s.ReadBlock(ref, words); err != nil {
						rt.Fatal(err)
					}
					for i := range ch.Rows {
						if got := words[i/4] >> (i % 4 * 8) & 255; uint64(got) != seg.Codes.At(i) {
							rt.Fatalf("row %d: code %d, want %d", i, got, seg.Codes.At(i))
						}
					}
				case 4:
					ref := textures.Block{Chunk: ch, Col: 1, Content: textures.Validity, Window: w}
					words := make([]uint32, ref.Bytes()/4)
					if err := s.Reside(ref); err != nil {
						rt.Fatal(err)
					}
					if err := s.ReadBlock(ref, words); err != nil {
						rt.Fatal(err)
					}
					n := 0
					for _, w := range words[:4*textures.Units(ch.Rows)] { // a run that is not full holds anything behind them
						n += bits.OnesCount32(w)
					}
					if want := ch.Rows - ch.Segments[1].Nulls; n != want {
						rt.Fatalf("%d valid rows, want %d", n, want)
					}
				case 5, 6: // working memory, as long as a texture fits beside it
					n := int64(1+step>>8) << 8
					if held+2*n > budget-largest {
						continue
					}
					has[scope] += 2 * n
					if step&8 == 0 {
						if err := s.Reside(textures.ScratchBlock(&textures.Scratch{Words: int(n / 4), Zero: true})); err != nil {
							rt.Fatal(err)
						}
					} else if err := s.Bind(0, textures.Buffer(make([]uint32, n/4))); err != nil {
						rt.Fatal(err)
					}
				case 7:
					scopes[scope].Close()
					has[scope] = 0
				}
				u := s.Usage()
				var resident int64
				for _, r := range s.Resident() {
					resident += r.Bytes
				}
				if u.Used > budget || u.Used != resident+u.Working || u.Budget != budget {
					rt.Fatalf("usage %+v, columns %d bytes, budget %d", u, resident, budget)
				}
			}
			s.Close()
			if after := ctx.Live(); !maps.Equal(after, before) {
				rt.Fatalf("objects %v, before %v", after, before)
			}
		})
	})
}

// TestChunksThatDoNotFitTogether goes over a column's chunks again and again: those
// that fit stay, instead of each being evicted before it is needed.
func TestChunksThatDoNotFitTogether(t *testing.T) {
	const n, fit = 8, 5
	var chunks []*table.Chunk
	for range n {
		chunks = append(chunks, &table.Chunk{Rows: 1 << 16, Segments: []*table.Segment{{Codes: table.Codes{U8: make([]uint8, 1<<16)}}}})
	}
	gltest.Run(t, fit*4<<16, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		for query := range 4 {
			before, uploads := ctx.Created(), 0
			for _, c := range chunks {
				if !slices.ContainsFunc(s.Resident(), func(r textures.Residency) bool { return r.Segment == c.Segments[0] }) {
					uploads++
				}
				s.Begin()
				if err := s.Bind(0, textures.Attribute(c, 0)); err != nil {
					t.Fatal(err)
				}
			}
			g.End()
			if query > 0 && uploads != n-fit+1 {
				t.Errorf("query %d uploads %d chunks", query, uploads)
			}
			if made := ctx.Created() - before; query > 0 && made != 0 { // those that go hand their memory on
				t.Errorf("query %d makes %d objects", query, made)
			}
		}
	})
}

// Memory that the host begins is not such that the device may still use; other memory is used again at once. Only so many buffers wait.
func TestBegunMemoryWaitsForTheDevice(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		use := func(m textures.Scratch) (made int) {
			before, scope := ctx.Created(), s.Open()
			outer := s.Enter(scope)
			b := textures.ScratchBlock(&m)
			if err := s.Reside(b); err != nil {
				t.Fatal(err)
			}
			if m.Words > 16 { // read back
				if err := s.ReadBlock(b, make([]uint32, 1)); err != nil {
					t.Fatal(err)
				}
			}
			s.Enter(outer)
			scope.Close()
			return ctx.Created() - before
		}
		zeros, words, any, read := textures.Scratch{Words: 16, Zero: true}, textures.Scratch{Words: 16, Init: []uint32{1}}, textures.Scratch{Words: 16}, textures.Scratch{Words: 100}
		for i, step := range []struct {
			of   textures.Scratch
			made int
		}{{zeros, 1}, {zeros, 1}, {words, 1}, {any, 0}, {read, 1}, {words, 0}, {zeros, 0}, {any, 0}, {read, 0}} {
			if made := use(step.of); made != step.made {
				t.Errorf("step %d makes %d buffers, not %d", i, made, step.made)
			}
		}
		s.Finish()
		all := 0
		for range 100 {
			all += use(zeros)
		}
		if all == 0 || all > 8 {
			t.Errorf("%d buffers for 100 queries that read nothing back", all)
		}
	})
}

func TestWorkingMemoryIsUsedAgain(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		var made int
		for query := range 5 {
			s.Begin()
			words := []uint32{1, 2, 3, uint32(query)}
			mask := &textures.Temp{Width: 16, Height: 16}
			for _, err := range []error{
				s.Bind(0, textures.Buffer(words)),
				s.Bind(1, textures.Ref{Temp: mask}),
				s.Reside(textures.ScratchBlock(&textures.Scratch{Words: 100})),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if v, err := s.Read(textures.Ref{Temp: mask}); v[16*3+3] != 0 || err != nil {
				t.Fatalf("a mask begins with %v, %v", v, err)
			}
			f, err := s.Draw(mask)
			if err != nil {
				t.Fatal(err)
			}
			seven := [4]float32{7, 7, 7, 7}
			gl.ColorMask(true, true, true, true)
			gl.ClearNamedFramebufferfv(f, gl.COLOR, 0, &seven[0])
			gl.ColorMask(false, false, false, false)
			g.End()
			if query == 0 {
				made = ctx.Created()
			}
			if n := ctx.Created() - made; n != 0 {
				t.Fatalf("query %d creates %d objects", query, n)
			}
		}
	})
}
