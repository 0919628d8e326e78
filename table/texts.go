package table

import (
	"math/bits"
	"strings"
	"unsafe"
)

// Texts are some entries of a dictionary as bytes, one text behind the other, for those that look through all
// of them: chunks of one segment, so that they go where columns go.
type Texts struct {
	First, N int
	Bytes    *Chunk // a code a byte
	Starts   *Chunk // N+1 codes of 32 bits: where in it each text begins, and the last ends
}

// Of texts that go together: how many bytes (what every OpenGL 4.5 device binds), and of how many entries their number is a multiple.
const (
	mostTextBytes = 1 << 27
	textEntries   = 1 << 10
)

// Texts returns the texts of the dictionary that codes stand for, made at the first call; none where
// some of them that would go together are too long.
func (s *Segment) Texts() []*Texts {
	s.made.Do(func() {
		list := textsOf(s.Dict[:s.Max+1])
		s.texts.Store(&list)
	})
	return *s.texts.Load()
}

// Made are the segments of [Segment.Texts], as far as they were asked for.
func (s *Segment) Made() (list []*Segment) {
	if all := s.texts.Load(); all != nil {
		for _, t := range *all {
			list = append(list, t.Bytes.Segments[0], t.Starts.Segments[0])
		}
	}
	return list
}

func textsOf(dict []string) (list []*Texts) {
	for first := 0; first < len(dict); {
		n, size := 0, 0
		for first+n < len(dict) {
			more, k := 0, min(textEntries, len(dict)-first-n)
			for _, d := range dict[first+n:][:k] {
				more += len(d)
			}
			if size+more > mostTextBytes {
				break
			}
			n, size = n+k, size+more
		}
		if n == 0 {
			return nil
		}
		list = append(list, newTexts(dict, first, n, size))
		first += n
	}
	return list
}

func newTexts(dict []string, first, n, size int) *Texts {
	dict = dict[first : first+n]
	starts, at := make([]uint32, n+1), 0
	for i, d := range dict {
		starts[i] = uint32(at)
		at += len(d)
	}
	starts[n] = uint32(at)
	all, ok := Packed(dict)
	if !ok {
		all = strings.Join(dict, "")
	}
	bytes := &Segment{Max: 255, Bits: 8, Codes: Codes{U8: unsafe.Slice(unsafe.StringData(all), size)}} // nobody writes them
	begin := &Segment{Max: uint64(size), Bits: bits.Len(uint(size)), Codes: Codes{U32: starts}}
	return &Texts{First: first, N: n, Bytes: &Chunk{Rows: size, Segments: []*Segment{bytes}}, Starts: &Chunk{Rows: n + 1, Segments: []*Segment{begin}}}
}
