package textures_test

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

func TestPlaneRowNumbersEveryRowOnce(t *testing.T) {
	seen := make([]bool, 2*textures.GroupRows)
	for unit := range 2 * textures.UnitsPerGroup {
		for component := range 4 {
			for bit := range 32 {
				row := textures.PlaneRow(unit, component, bit)
				if seen[row] {
					t.Fatalf("row %d twice", row)
				}
				seen[row] = true
			}
		}
	}
}

func TestWindowsCoverTheRows(t *testing.T) {
	for _, n := range []int{0, 1, 8192, 8193, 100_000} {
		for _, limit := range []int64{1, 1 << 15, 1 << 16, 100_000, 1 << 31} {
			at := 0
			for _, w := range textures.Windows(n, limit) {
				if w.From != at || w.Rows <= 0 || w.From%textures.GroupRows != 0 {
					t.Fatalf("%d rows, limit %d: window %+v at %d", n, limit, w, at)
				}
				at += w.Rows
			}
			if at != n {
				t.Fatalf("%d rows, limit %d: windows cover %d", n, limit, at)
			}
		}
	}
}

// TestBlocksHoldTheCodes builds each content of random columns of each width and reads it back. It
// does so as for this device and as for the other class of devices.
func TestBlocksHoldTheCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	testBlocks(t, rng, false, []int{1, 100, 8192, 8193, 20_000, 70_000})
	testBlocks(t, rng, true, []int{8193, 70_000})
}

func testBlocks(t *testing.T, rng *rand.Rand, other bool, sizes []int) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		if caps := ctx.Caps(); other {
			caps.Software = !caps.Software
		}
		for _, width := range []int{1, 5, 8, 11, 16, 19, 32, 33, 47, 64} {
			for _, rows := range sizes {
				ch := randomChunk(rng, width, rows)
				limit := int64(4 * textures.GroupRows * 2)
				if rows > 32768 { // a window of several runs
					limit *= 4
				}
				plus := 1 + rng.Uint64()>>(64-width)/2
				for _, w := range textures.Windows(rows, limit) {
					checkBlocks(t, g, ch, w)
					checkSums(t, g, ch, w, plus)
				}
				g.End()
			}
		}
	})
}

func randomChunk(rng *rand.Rand, width, rows int) *table.Chunk {
	mask := ^uint64(0) >> (64 - width) &^ (rng.Uint64() & rng.Uint64() & rng.Uint64()) // some planes are not used
	codes := make([]uint64, rows)
	seg := &table.Segment{Valid: table.NewBitmap(rows)}
	for i := range codes {
		if rng.IntN(5) == 0 {
			seg.Nulls++
			continue
		}
		seg.Valid.Set(i)
		codes[i] = rng.Uint64() & mask
		if rng.IntN(8) == 0 { // a sum with it carries far
			codes[i] = mask & (1<<rng.IntN(width+1) - 1)
		}
		seg.Max = max(seg.Max, codes[i])
	}
	seg.Bits = bits.Len64(seg.Max)
	seg.Codes = table.Narrow(codes, seg.Bits)
	return &table.Chunk{Rows: rows, Segments: []*table.Segment{seg}}
}

// resident makes a block resident and reads it back.
func resident(t *testing.T, g *pass.GL, b textures.Block) []uint32 {
	t.Helper()
	words := make([]uint32, b.Bytes()/4)
	if err := g.Store().Reside(b); err != nil {
		t.Fatal(err)
	}
	if err := g.Read(b, words); err != nil {
		t.Fatal(err)
	}
	return words
}

// checkSums compares the planes of the codes plus a constant; a code of 64 bits has none.
func checkSums(t *testing.T, g *pass.GL, ch *table.Chunk, w textures.Window, plus uint64) {
	t.Helper()
	seg := ch.Segments[0]
	if seg.Max+plus < plus {
		return
	}
	got := make([]uint64, w.Rows)
	for part := range 2 {
		b := textures.Block{Chunk: ch, Content: textures.Planes, Part: part, Plus: plus, Window: w}
		planes := bits.OnesCount32(b.Stored())
		if planes == 0 {
			continue
		}
		words := resident(t, g, b)
		for row := range got {
			in := row % textures.GroupRows
			unit, component, bit := row/textures.GroupRows*textures.UnitsPerGroup+in%256/4, in%4, in/256
			for p := range planes {
				got[row] |= uint64(words[textures.PlaneWord(unit, p, planes)+component]>>bit&1) << (textures.PartBits*part + p)
			}
		}
	}
	for row, sum := range got {
		if want := seg.Codes.At(w.From+row) + plus; sum != want {
			t.Fatalf("%d bits, window %+v, row %d: planes of the sum with %x hold %x, want %x", seg.Bits, w, row, plus, sum, want)
		}
	}
}

func checkBlocks(t *testing.T, g *pass.GL, ch *table.Chunk, w textures.Window) {
	t.Helper()
	seg := ch.Segments[0]
	get := func(b textures.Block) []uint32 { return resident(t, g, b) }
	units := textures.Units(w.Rows)
	plane := func(words []uint32, planes, p, unit, component int) uint32 {
		return words[4*(unit/256*256*planes+p*256+unit%256)+component]
	}
	validity := get(textures.Block{Chunk: ch, Content: textures.Validity, Window: w})
	for part := range textures.Parts(seg) {
		b := textures.Block{Chunk: ch, Content: textures.Planes, Part: part, Window: w}
		stored := b.Stored()
		var words []uint32
		if stored != 0 {
			words = get(b)
		}
		packed := get(textures.Block{Chunk: ch, Content: textures.Codes, Part: part, Window: w})
		bytes := make([]byte, 0, 4*len(packed))
		for _, v := range packed {
			bytes = binary.LittleEndian.AppendUint32(bytes, v)
		}
		size := textures.CodeBytes(seg)
		for unit := range units {
			for component := range 4 {
				for bit := range 32 {
					row := textures.PlaneRow(unit, component, bit)
					var want uint32
					valid := false
					if row < w.Rows {
						want = uint32(seg.Codes.At(w.From+row) >> (32 * part))
						valid = !seg.IsNull(w.From + row)
					}
					var got uint32
					p := 0
					for i := range 32 {
						if stored>>i&1 != 0 {
							got |= plane(words, bits.OnesCount32(stored), p, unit, component) >> bit & 1 << i
							p++
						}
					}
					if got != want {
						t.Fatalf("%d bits, window %+v, part %d, row %d: planes hold %x, want %x", seg.Bits, w, part, row, got, want)
					}
					if v := plane(validity, 1, 0, unit, component)>>bit&1 != 0; v != valid {
						t.Fatalf("row %d: valid %v, want %v", row, v, valid)
					}
					if row < w.Rows {
						var code uint32
						for i := range size {
							code |= uint32(bytes[row*size+i]) << (8 * i)
						}
						if code != want {
							t.Fatalf("%d bits, row %d: codes hold %x, want %x", seg.Bits, row, code, want)
						}
					}
				}
			}
		}
	}
}
