package catalog

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Rows of a key are looked for one by one, by an index of one of its columns in each chunk. These are rows that a
// statement names (WHERE k = 5), or rows that have the key of a new row. Small chunks are scanned, and so are larger ones
// until an index pays. The index is made when a segment has been scanned so often, and kept with it. Queries use it, too.
const (
	ScannedRows  = 1 << 12 // rows of a segment that is always looked through
	scannedTimes = 32      // times that a larger one is, about as many as an index costs
	mostAlike    = 1 << 10 // rows with the same code of one column that are looked at for the others
)

// lookups is what is kept with a segment in which rows are looked for: see [table.Segment.Lookups].
type lookups struct {
	times  atomic.Int32
	making sync.Mutex
	index  atomic.Pointer[index.Index]
}

// lookupsOf is what is kept with a segment, from the first look-up on.
func lookupsOf(s *table.Segment) *lookups {
	if s.Lookups.Load() == nil {
		s.Lookups.CompareAndSwap(nil, &lookups{})
	}
	return s.Lookups.Load().(*lookups)
}

// KeyIndex is the index that is kept with a segment; nil where none is.
func KeyIndex(s *table.Segment) *index.Index {
	if kept, ok := s.Lookups.Load().(*lookups); ok {
		return kept.index.Load()
	}
	return nil
}

// ofKey is an index of a segment that is a column of a key. It is nil while a scan is cheaper, while another goroutine makes one, and where
// there is no room for it.
func (x *Indexes) ofKey(ctx context.Context, name string, s *table.Segment, room func(bytes int64) bool) (*index.Index, error) {
	if list := x.Of(s); len(list) > 0 {
		return list[0], nil
	}
	kept := lookupsOf(s)
	if kept.times.Add(1) <= scannedTimes || !kept.making.TryLock() {
		return nil, nil
	}
	defer kept.making.Unlock()
	if known := kept.index.Load(); known != nil {
		return known, nil
	}
	if !room(IndexRowBytes * int64(s.Rows())) {
		return nil, nil
	}
	made, err := index.New(ctx, name, index.Kinds[0], s)
	if err == nil {
		kept.index.Store(made)
	}
	return made, err
}

// IndexRowBytes is what an index takes for a row while it is made, about.
const IndexRowBytes = 32

// RowsOfKey lists the rows of a chunk, ascending, that are there and have values of a key, none of them NULL. ok is false
// where too many would have to be looked at. room reports that there is room for an index of so many bytes.
func (x *Indexes) RowsOfKey(ctx context.Context, k *storage.Key, values []table.Value, chunk *table.Chunk, room func(bytes int64) bool) (rows []uint32, ok bool, err error) {
	var few [4]uint64
	codes, lead := few[:0], 0
	for i, col := range k.Columns {
		code, there := chunk.Segments[col].Code(values[i])
		if !there {
			return nil, true, nil
		}
		codes = append(codes, code)
		if chunk.Segments[col].Max > chunk.Segments[k.Columns[lead]].Max {
			lead = i
		}
	}
	same := func(at int) bool {
		for i, col := range k.Columns {
			if seg := chunk.Segments[col]; seg.Codes.At(at) != codes[i] || seg.IsNull(at) {
				return false
			}
		}
		return chunk.IsLive(at)
	}
	seg := chunk.Segments[k.Columns[lead]]
	if chunk.Rows >= ScannedRows {
		of, err := x.ofKey(ctx, k.Name, seg, room)
		if err != nil {
			return nil, false, err
		}
		if of != nil {
			list := of.RowsOf(codes[lead])
			if len(list) > mostAlike {
				return nil, false, nil
			}
			for _, at := range list {
				if same(int(at)) {
					rows = append(rows, at)
				}
			}
			return rows, true, nil
		}
	}
	for at := seg.Codes.Next(0, codes[lead]); at >= 0; at = seg.Codes.Next(at+1, codes[lead]) {
		if same(at) {
			rows = append(rows, uint32(at))
		}
	}
	return rows, true, nil
}
