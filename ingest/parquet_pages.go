package ingest

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// withoutLevels gives the pages of a column that may have NULLs, but has none, as those of a
// column that cannot have them: without definition levels, which need not be unpacked then.
type withoutLevels struct {
	file.PageReader
	page  file.Page
	nulls bool // the next page has levels that are not 1, or an encoding not taken here: the pages end before it
}

// Next implements [file.PageReader].
func (p *withoutLevels) Next() bool {
	if p.page = nil; p.nulls || !p.PageReader.Next() {
		return false
	}
	p.page = p.PageReader.Page()
	data, ok := p.page.(file.DataPage)
	if !ok { // a dictionary
		return true
	}
	levels, values, ok := split(data)
	if p.nulls = !ok || !allOnes(levels, int(data.NumValues())); p.nulls {
		return false
	}
	p.page = file.NewDataPageV1(memory.NewBufferBytes(values), data.NumValues(), parquet.Encoding(data.Encoding()),
		parquet.Encodings.RLE, parquet.Encodings.RLE, int32(len(values)))
	return true
}

// Page implements [file.PageReader].
func (p *withoutLevels) Page() file.Page { return p.page }

// split parts the definition levels, in runs, of a page of a column that is not repeated from its
// values. It takes the encodings whose decoders report values that are missing.
func split(p file.DataPage) (levels, values []byte, ok bool) {
	switch parquet.Encoding(p.Encoding()) {
	case parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
	default:
		return nil, nil, false
	}
	data := p.Data()
	switch p := p.(type) {
	case *file.DataPageV1:
		if p.DefinitionLevelEncoding() != parquet.Encodings.RLE || len(data) < 4 {
			return nil, nil, false
		}
		n := int64(binary.LittleEndian.Uint32(data))
		if data = data[4:]; n > int64(len(data)) {
			return nil, nil, false
		}
		return data[:n], data[n:], true
	case *file.DataPageV2:
		skip, n := int64(p.RepetitionLevelByteLen()), int64(p.DefinitionLevelByteLen())
		if skip < 0 || n < 0 || skip+n > int64(len(data)) {
			return nil, nil, false
		}
		return data[skip : skip+n], data[skip+n:], true
	}
	return nil, nil, false
}

// allOnes reports whether n levels of one bit are all 1. They are in runs, as Parquet's
// RLE/bit-packed hybrid has them.
func allOnes(levels []byte, n int) bool {
	for n > 0 {
		header, size := binary.Uvarint(levels)
		run := header >> 1
		if levels = levels[max(size, 0):]; size <= 0 || run == 0 {
			return false
		}
		if header&1 == 0 { // one value, run times
			if len(levels) == 0 || levels[0] != 1 {
				return false
			}
			levels, n = levels[1:], n-int(min(run, uint64(n)))
			continue
		}
		for ; run > 0 && n > 0; run, n = run-1, n-8 { // 8 values a byte, the last of which may be beyond n
			if mask := byte(1<<min(n, 8) - 1); len(levels) == 0 || levels[0]&mask != mask {
				return false
			}
			levels = levels[1:]
		}
	}
	return true
}
