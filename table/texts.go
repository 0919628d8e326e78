package table

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/table/dictionary"
)

// textEntries is how many entries go together at least, or a multiple of these.
const textEntries = 1 << 10

// Texts returns the texts of the dictionary that codes stand for, in pieces of at most so many bytes. The first call makes
// them, and its limit holds for all calls. The list is empty where the texts are too long for the limit.
func (s *Segment) Texts(most int) []*Texts {
	if s.whole != nil {
		return s.whole.Texts(most)
	}
	s.made.Do(func() {
		list := textsOf(s.Dict[:s.Max+1], most)
		s.texts.Store(&list)
	})
	return *s.texts.Load()
}

// ASCII reports whether all texts of the dictionary are that. All cores look, at the first call.
func (s *Segment) ASCII() bool {
	if s.whole != nil {
		return s.whole.ASCII()
	}
	s.looked.Do(func() {
		const apart = 1 << 14
		var other atomic.Bool
		var wg parallel.Group
		for part := range slices.Chunk(s.Dict, apart) {
			wg.Go(func() {
				if !isASCII(part) {
					other.Store(true)
				}
			})
		}
		wg.Wait()
		s.ascii = !other.Load()
	})
	return s.ascii
}

func isASCII(list []string) bool {
	if all, ok := dictionary.Packed(list); ok {
		list = []string{all}
	}
	for _, s := range list {
		var all uint64
		b := unsafe.Slice(unsafe.StringData(s), len(s))
		for ; len(b) >= 8; b = b[8:] {
			all |= binary.LittleEndian.Uint64(b)
		}
		for _, c := range b {
			all |= uint64(c)
		}
		if all&0x8080808080808080 != 0 {
			return false
		}
	}
	return true
}

// Made are the segments of [Segment.Texts] and of [Chunk.Windows], as far as they were asked for.
func (s *Segment) Made() []*Segment {
	list := s.TextSegments()
	s.cutting.Lock()
	defer s.cutting.Unlock()
	for _, windows := range s.cuts {
		list = append(list, windows...)
	}
	return list
}

// TextSegments are those of [Segment.Texts], as far as they were asked for.
func (s *Segment) TextSegments() (list []*Segment) {
	if s.whole != nil {
		return s.whole.TextSegments()
	}
	if all := s.texts.Load(); all != nil {
		for _, t := range *all {
			list = append(list, t.Bytes.Segments[0], t.Starts.Segments[0])
		}
	}
	return list
}

func textsOf(dict []string, most int) (list []*Texts) {
	for first := 0; first < len(dict); {
		n, size := 0, 0
		for first+n < len(dict) {
			more, k := 0, min(textEntries, len(dict)-first-n)
			for _, d := range dict[first+n:][:k] {
				more += len(d)
			}
			if size+more > most {
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
	all, ok := dictionary.Packed(dict)
	if !ok {
		all = strings.Join(dict, "")
	}
	bytes := &Segment{Max: 255, Bits: 8, Codes: Codes{U8: unsafe.Slice(unsafe.StringData(all), size)}} // nobody writes them
	begin := &Segment{Max: uint64(size), Bits: bits.Len(uint(size)), Codes: Codes{U32: starts}}
	return &Texts{First: first, N: n, Bytes: &Chunk{Rows: size, Segments: []*Segment{bytes}}, Starts: &Chunk{Rows: n + 1, Segments: []*Segment{begin}}}
}
