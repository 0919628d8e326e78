package table

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table/dictionary"
)

// same is equality with NULL equal to NULL and NaN to NaN.
func same(a, b Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null && a.Type == b.Type
	}
	return a.Type == b.Type && Compare(a, b) == 0
}

// The model of a table is a slice of rows of values.
func TestBuilderKeepsEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(allTypes), 1, 4).Draw(t, "types")
		chunk := rapid.IntRange(1, 9).Draw(t, "chunkRows")
		rows := rapid.IntRange(0, 20).Draw(t, "rows")
		var fields []Field
		for i, typ := range types {
			fields = append(fields, Field{Name: fmt.Sprint("c", i), Type: typ})
		}
		b := NewBuilder("t", fields, chunk)
		var model [][]Value
		for range rows {
			var row []Value
			for i, typ := range types {
				v := Null(typ)
				if !rapid.Bool().Draw(t, "null") {
					v = drawValue(t, typ)
				}
				b.Column(i).Value(v)
				row = append(row, v)
			}
			model = append(model, row)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		if err := tab.Check(); err != nil {
			t.Fatal(err)
		}
		if tab.Rows() != rows || len(tab.Chunks) != (rows+chunk-1)/chunk {
			t.Fatalf("%d rows in %d chunks, want %d rows in chunks of %d", tab.Rows(), len(tab.Chunks), rows, chunk)
		}
		r := 0
		for _, ch := range tab.Chunks {
			for k := range ch.Rows {
				for i, s := range ch.Segments {
					if got := s.Value(k); !same(got, model[r][i]) {
						t.Fatalf("row %d column %d is %v, want %v", r, i, got, model[r][i])
					}
				}
				r++
			}
		}
	})
}

// Rows around the builder's internal blocks, with the range growing in each.
func TestBuilderAcrossBlocks(t *testing.T) {
	for _, rows := range []int{blockRows - 1, blockRows, blockRows + 1, 2*blockRows + 5} {
		for _, nullAt := range []int{-1, 0, blockRows - 1, blockRows, rows - 1} {
			value := func(i int) int64 { return int64(i%100) - 50 + int64(i/blockRows)*1_000_000_000_000 }
			b := NewBuilder("t", []Field{{Name: "i", Type: Type{Kind: BigInt}}, {Name: "s", Type: Type{Kind: Varchar}}}, 0)
			for i := range rows {
				if i == nullAt {
					b.Column(0).Null()
					b.Column(1).Null()
				} else {
					b.Column(0).Int(value(i))
					b.Column(1).String(fmt.Sprint(value(i)))
				}
				if err := b.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			tab := b.Table()
			if err := tab.Check(); err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				v, s := tab.Chunks[0].Segments[0].Value(i), tab.Chunks[0].Segments[1].Value(i)
				if v.Null != (i == nullAt) || s.Null != v.Null || !v.Null && (v.I != value(i) || s.S != fmt.Sprint(value(i))) {
					t.Fatalf("%d rows, NULL at %d: row %d is %v and %v", rows, nullAt, i, v, s)
				}
			}
		}
	}
}

func TestSegmentWidths(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		bits   int
		width  string
	}{
		{7, 7, 0, "U8"}, {0, 1, 1, "U8"}, {0, 255, 8, "U8"}, {-1, 255, 9, "U16"}, {0, 65535, 16, "U16"}, {0, 65536, 17, "U32"},
		{math.MinInt32, math.MaxInt32, 32, "U32"}, {0, 1 << 32, 33, "U64"}, {math.MinInt64, math.MaxInt64, 64, "U64"},
	} {
		b := NewBuilder("t", []Field{{Name: "i", Type: Type{Kind: BigInt}}}, 0)
		for _, v := range []int64{c.hi, c.lo} {
			b.Column(0).Int(v)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		s := b.Table().Chunks[0].Segments[0]
		got := map[bool]string{s.Codes.U8 != nil: "U8", s.Codes.U16 != nil: "U16", s.Codes.U32 != nil: "U32", s.Codes.U64 != nil: "U64"}[true]
		if s.Bits != c.bits || got != c.width || s.Value(0).I != c.hi || s.Value(1).I != c.lo {
			t.Errorf("%d..%d: %d bits in %s, want %d in %s", c.lo, c.hi, s.Bits, got, c.bits, c.width)
		}
	}
}

func TestBuilderErrors(t *testing.T) {
	b := NewBuilder("t", []Field{{Name: "a", Type: Type{Kind: BigInt}}, {Name: "u", Unsupported: "a nested type"}}, 2)
	if err := b.EndRow(); err == nil {
		t.Error("a row without a value was accepted")
	}
	b = NewBuilder("t", []Field{{Name: "a", Type: Type{Kind: BigInt}}, {Name: "u", Unsupported: "a nested type"}}, 2)
	for range 3 {
		b.Column(0).Int(1)
	}
	if err := b.EndRows(3); err == nil {
		t.Error("three rows went into a chunk of two")
	}
	b = NewBuilder("t", []Field{{Name: "u", Unsupported: "a nested type"}}, 2)
	if err := b.EndRows(2); err != nil {
		t.Fatal(err)
	}
	tab := b.Table()
	if err := tab.Check(); err != nil || tab.Rows() != 2 || tab.Chunks[0].Segments[0] != nil {
		t.Errorf("a table of an unsupported column: %v, %d rows", err, tab.Rows())
	}
}

// Check finds each kind of damage.
func TestCheckFindsDamage(t *testing.T) {
	build := func() *Table {
		b := NewBuilder("t", []Field{{Name: "i", Type: Type{Kind: BigInt}}, {Name: "s", Type: Type{Kind: Varchar}}}, 0)
		for i := range 3 {
			b.Column(0).Int(int64(i))
			b.Column(1).String(fmt.Sprint(i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		b.Column(0).Null()
		b.Column(1).Null()
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
		return b.Table()
	}
	if err := build().Check(); err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func(*Chunk){
		"rows":              func(c *Chunk) { c.Rows++ },
		"a missing segment": func(c *Chunk) { c.Segments = c.Segments[:1] },
		"the type":          func(c *Chunk) { c.Segments[0].Type.Kind = Integer },
		"bits":              func(c *Chunk) { c.Segments[0].Bits = 5 },
		"max":               func(c *Chunk) { c.Segments[0].Max, c.Segments[0].Bits = 0, 0 },
		"nulls":             func(c *Chunk) { c.Segments[0].Nulls = 0 },
		"validity's length": func(c *Chunk) { c.Segments[0].Valid = nil; c.Segments[0].Valid = Bitmap{0, 0} },
		"the code of NULL":  func(c *Chunk) { c.Segments[0].Codes.U8[3] = 1 },
		"max, of no NULLs": func(c *Chunk) {
			*c.Segments[0] = Segment{Type: c.Segments[0].Type, Codes: Codes{U8: []uint8{0, 1, 3, 2}}, Max: 2, Bits: 2}
		},
		"dictionary order": func(c *Chunk) { c.Segments[1].Dict[0] = "9" },
		"dictionary twins": func(c *Chunk) { c.Segments[1].Dict[1] = "0" },
		"dictionary size":  func(c *Chunk) { c.Segments[1].Dict = c.Segments[1].Dict[:2] },
	} {
		tab := build()
		damage(tab.Chunks[0])
		if tab.Check() == nil {
			t.Errorf("damage to %s was not found", what)
		}
	}
	tab := build()
	tab.Chunks = append(tab.Chunks, build().Chunks...)
	if tab.Chunks[0].Segments[0] = nil; tab.Check() == nil {
		t.Error("a column that is read in one chunk of two was not found")
	}
	if tab.Chunks[1].Segments[0] = nil; tab.Check() != nil || tab.Has([]int{0, 1}) || !tab.Has([]int{1}) {
		t.Error("a column that has not been read is taken for damage, or for one that has")
	}
}

// Parts of a frame, put at the same time in any order, are the segment that a builder makes of all
// values. So they are where the bounds are loose.
func TestFrameIsWhatABuilderMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := Type{Kind: rapid.SampledFrom([]Kind{BigInt, Boolean, Double, Real}).Draw(t, "type")}
		width := rapid.SampledFrom([]int{1, 7, 8, 9, 16, 17, 32, 33, 62}).Draw(t, "width")
		n, nullable := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.Bool().Draw(t, "nullable")
		want, ordinals, valid := &ColumnBuilder{typ: typ}, make([]uint64, n), make([]byte, n/8+1)
		lo, hi := ^uint64(0), uint64(0)
		for i := range n {
			v := Value{Type: typ, I: rapid.Int64Range(0, 1<<width-1).Draw(t, "value")}
			if v.F = float64(v.I); typ.Kind == Real {
				v.F = float64(float32(v.I))
			} else if typ.Kind == Boolean {
				v.I &= 1
			}
			if v.Null = nullable && rapid.Bool().Draw(t, "null"); !v.Null {
				valid[i/8] |= 1 << (i % 8)
				ordinals[i] = Ordinal(v)
				lo, hi = min(lo, ordinals[i]), max(hi, ordinals[i])
			} else {
				ordinals[i] = rapid.Uint64().Draw(t, "any")
			}
			want.Value(v)
		}
		if lo > hi {
			lo, hi = 0, 0
		}
		loose := rapid.Uint64Range(0, ^uint64(0)-hi).Draw(t, "loose")
		f := NewSegmentBuilder(typ, n, lo, hi+loose, nil, nil)
		var parts sync.WaitGroup
		for at := 0; at < n; {
			m := rapid.IntRange(1, n-at).Draw(t, "part")
			of := valid
			if !nullable {
				of = nil
			}
			from := at
			parts.Go(func() {
				if !Put(f, from, ordinals[from:from+m], of, from) {
					panic("values within the bounds do not fit")
				}
			})
			at += m
		}
		parts.Wait()
		got, made := f.Segment(), want.Segment()
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if a, b := got.Value(i), made.Value(i); a.Null != b.Null || !a.Null && Compare(a, b) != 0 {
				t.Fatalf("row %d: %v, want %v", i, a, b)
			}
		}
		if got.Bits != made.Bits || got.Codes.Width() != made.Codes.Width() || got.Nulls != made.Nulls {
			t.Fatalf("%d bits in %d bytes, %d NULLs; want %d in %d, %d", got.Bits, got.Codes.Width(), got.Nulls, made.Bits, made.Codes.Width(), made.Nulls)
		}
		if n > 1 && !nullable && hi > lo && Put(NewSegmentBuilder(typ, n, lo, hi-1, nil, nil), 0, ordinals, nil, 0) {
			t.Fatal("a value beyond the bounds was not found")
		}
	})
}

func TestBitmap(t *testing.T) {
	b := NewBitmap(65)
	b.Set(0)
	b.Set(64)
	if len(b) != 2 || !b.Get(64) || b.Get(63) || b.Count() != 2 {
		t.Errorf("bitmap %v", b)
	}
}

func BenchmarkOrderOfTexts(b *testing.B) {
	for _, format := range []string{"%d", "text number %d", "%016x"} {
		b.Run(format, func(b *testing.B) {
			var list []string
			for i := range 1_000_000 {
				list = append(list, fmt.Sprintf(format, uint64(i)*0x9e3779b97f4a7c15>>32))
			}
			for b.Loop() {
				b.StopTimer()
				w := &dictionary.Builder{}
				for _, s := range list {
					w.Number(s)
				}
				b.StartTimer()
				w.Order()
			}
		})
	}
}

func TestTextsAsBytes(t *testing.T) {
	for _, other := range []string{"", "é"} {
		w := &dictionary.Builder{}
		for i := range 5000 {
			w.Number(fmt.Sprint(i * 7919))
		}
		w.Number(other)
		s := &Segment{Type: Type{Kind: Varchar}, Dict: dictionary.Merge([]*dictionary.Builder{w})}
		s.Max = uint64(len(s.Dict) - 1)
		if s.ASCII() != (other == "") {
			t.Errorf("with %q: %v", other, s.ASCII())
		}
		next := 0
		for _, x := range s.Texts(20_000) {
			if x.First != next || x.First%textEntries != 0 || x.Bytes.Rows > 20_000 {
				t.Fatalf("texts %d to %d of %d bytes come after %d", x.First, x.First+x.N, x.Bytes.Rows, next)
			}
			bytes, starts := x.Bytes.Segments[0].Codes.U8, x.Starts.Segments[0].Codes.U32
			for i, want := range s.Dict[x.First:][:x.N] {
				if got := string(bytes[starts[i]:starts[i+1]]); got != want {
					t.Fatalf("text %d is %q, not %q", x.First+i, got, want)
				}
			}
			next += x.N
		}
		if next != len(s.Dict) {
			t.Errorf("%d texts of %d", next, len(s.Dict))
		}
		if long := (&Segment{Dict: []string{strings.Repeat("x", 100)}}).Texts(50); long != nil {
			t.Errorf("a text of 100 bytes in 50")
		}
	}
}
