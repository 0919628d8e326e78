package parquet

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/thrift/lib/go/thrift"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
)

// pageReader reads the pages of a column chunk that is not nested. Unlike arrow-go's it verifies checksums, and that a page has as
// many values as it must have: arrow-go's decoders give what is missing as 0. Pages that it does not know are passed over.
type pageReader struct {
	in                  *bufio.Reader
	header              compact
	column              *schema.Column
	full                bool // the footer states that no row is NULL: pages come without definition levels, which need not be unpacked then
	codec               compress.Codec
	plain               bool  // there is none
	left                int64 // rows
	size                int64 // bytes of the chunk
	most                int64 // of a page, unpacked
	packed, data, words *memory.Buffer
	page                file.Page
	err                 error
}

// newPageReader reads the pages of a chunk of so many rows.
func newPageReader(in *io.SectionReader, column *schema.Column, full bool, codec compress.Compression, rows int64, alloc source.PageAllocator) (*pageReader, error) {
	p := &pageReader{in: bufio.NewReaderSize(in, 1<<14), column: column, full: full, plain: codec == compress.Codecs.Uncompressed, left: rows,
		size: in.Size(), most: int64(alloc.Largest())}
	p.packed, p.data, p.words = memory.NewResizableBuffer(alloc), memory.NewResizableBuffer(alloc), memory.NewResizableBuffer(alloc)
	p.header = newCompact(thrift.NewStreamTransportR(p.in)) // which reads no more than the header, since p.in has a buffer
	var err error
	p.codec, err = compress.GetCodec(codec)
	return p, err
}

// The kinds of pages, and numbers of fields of PageHeader and of what it has of each kind, in parquet.thrift.
const (
	dataPage, dictionaryPage, dataPageV2 = 0, 2, 3

	pageKind, pageUnpacked, pagePacked, pageChecksum = 1, 2, 3, 4
	pageData, pageDictionary, pageDataV2             = 5, 7, 8
)

// pageHeader is what precedes a page.
type pageHeader struct {
	kind, unpacked, packed int32
	checksum               int32
	summed                 bool // there is a checksum
	values, encoding       int32
	levels                 int32    // encoding of the definition levels
	bytes                  [2]int32 // of repetition and definition levels
	stored                 bool     // values of a compressed column are not
}

// readHeader reads the header of the next page.
func (p *pageReader) readHeader() (h pageHeader, err error) {
	ctx := context.Background()
	number := func(to *int32, kind thrift.TType) (bool, error) {
		if kind != thrift.I32 {
			return false, nil
		}
		n, err := p.header.ReadI32(ctx)
		*to = n
		return true, err
	}
	within := func(numbers ...*int32) (bool, error) {
		return true, p.header.fields(func(id int16, kind thrift.TType) (bool, error) {
			switch {
			case kind == thrift.BOOL && id == 7 && len(numbers) == 6: // is_compressed
				is, err := p.header.ReadBool(ctx)
				h.stored = !is
				return true, err
			case id < 1 || int(id) > len(numbers):
				return false, nil
			}
			return number(numbers[id-1], kind)
		})
	}
	var unused int32
	err = p.header.fields(func(id int16, kind thrift.TType) (bool, error) {
		switch {
		case id == pageKind:
			return number(&h.kind, kind)
		case id == pageUnpacked:
			return number(&h.unpacked, kind)
		case id == pagePacked:
			return number(&h.packed, kind)
		case id == pageChecksum:
			h.summed = true
			return number(&h.checksum, kind)
		case kind != thrift.STRUCT:
		case id == pageData && h.kind == dataPage:
			return within(&h.values, &h.encoding, &h.levels)
		case id == pageDictionary && h.kind == dictionaryPage:
			return within(&h.values, &h.encoding)
		case id == pageDataV2 && h.kind == dataPageV2:
			return within(&h.values, &unused, &unused, &h.encoding, &h.bytes[1], &h.bytes[0])
		}
		return false, nil
	})
	return h, err
}

// Next implements [file.PageReader].
func (p *pageReader) Next() bool {
	p.page = nil
	for p.left > 0 && p.err == nil {
		h, err := p.readHeader()
		if err != nil {
			p.err = source.Damaged(err, "the header of a page")
			break
		}
		if p.page, p.err = p.read(h); p.page != nil && p.err == nil {
			return true
		}
	}
	p.page = nil
	return false
}

// read reads the page behind a header; nil where it has no values, or none that are looked at.
func (p *pageReader) read(h pageHeader) (file.Page, error) {
	levels := int64(h.bytes[0]) + int64(h.bytes[1])
	switch {
	case h.packed < 0 || h.unpacked < 0 || int64(h.packed) > p.size || int64(h.unpacked) > p.most:
		return nil, source.Damagef("a page of %d bytes, which are %d when they are unpacked", h.packed, h.unpacked)
	case h.kind != dataPage && h.kind != dataPageV2 && h.kind != dictionaryPage:
		_, err := p.in.Discard(int(h.packed))
		return nil, tooShort(err)
	case h.values < 0 || h.kind != dictionaryPage && int64(h.values) > p.left:
		return nil, source.Damagef("a page of %d values where %s are left of its row group", h.values, numbers.Count(p.left, "row", "rows"))
	case h.bytes[0] < 0 || h.bytes[1] < 0 || levels > int64(min(h.packed, h.unpacked)):
		return nil, source.Damagef("a page whose levels would have %d and %d bytes", h.bytes[0], h.bytes[1])
	}
	to := p.data
	if h.kind == dictionaryPage {
		to = p.words
	}
	if err := p.unpack(h, to, int(levels)); err != nil {
		return nil, err
	}
	data := to.Bytes()
	encoding := parquet.Encoding(h.encoding)
	if h.kind == dictionaryPage {
		if err := p.enoughWords(data, int(h.values)); err != nil {
			return nil, err
		}
		return file.NewDictionaryPage(memory.NewBufferBytes(data), h.values, encoding), nil
	}
	if p.left -= int64(h.values); h.values == 0 {
		return nil, nil
	}
	values, some := data[levels:], int(h.values)
	if p.column.MaxDefinitionLevel() > 0 {
		there, rest, err := p.present(h, data)
		if err != nil {
			return nil, err
		}
		values, some = rest, there
		if p.full && some < int(h.values) {
			return nil, source.Damagef("the footer states 0 NULLs, and there are %d so far", int(h.values)-some)
		}
	}
	if err := p.enough(encoding, values, some); err != nil {
		return nil, err
	}
	if some == 0 { // there need be no bytes, which is an error to most decoders
		encoding = parquet.Encodings.Plain
	}
	switch {
	case p.full:
		return file.NewDataPageV1(memory.NewBufferBytes(values), h.values, encoding, parquet.Encodings.RLE, parquet.Encodings.RLE, int32(len(values))), nil
	case h.kind == dataPage:
		return file.NewDataPageV1(memory.NewBufferBytes(data), h.values, encoding, parquet.Encoding(h.levels), parquet.Encodings.RLE, h.unpacked), nil
	}
	return file.NewDataPageV2(memory.NewBufferBytes(data), h.values, h.values-int32(some), h.values, encoding, h.bytes[1], h.bytes[0], h.unpacked, false), nil
}

// unpack reads a page, of which so many bytes are not compressed.
func (p *pageReader) unpack(h pageHeader, to *memory.Buffer, levels int) error {
	to.ResizeNoShrink(int(h.unpacked))
	packed := to
	if !p.plain && !h.stored {
		packed = p.packed
		packed.ResizeNoShrink(int(h.packed))
	} else if h.packed != h.unpacked {
		return source.Damagef("a page of %d bytes, which is not compressed, would have %d", h.packed, h.unpacked)
	}
	if _, err := io.ReadFull(p.in, packed.Bytes()); err != nil {
		return tooShort(err)
	}
	if sum := crc32.ChecksumIEEE(packed.Bytes()); h.summed && sum != uint32(h.checksum) {
		return source.Damagef("the checksum of a page is %08x, and its header states %08x", sum, uint32(h.checksum))
	}
	if packed == to || int(h.unpacked) == levels && int(h.packed) == levels {
		copy(to.Bytes(), packed.Bytes())
		return nil
	}
	copy(to.Bytes(), packed.Bytes()[:levels])
	out, err := compress.Decode(p.codec, to.Bytes()[levels:], packed.Bytes()[levels:])
	switch {
	case err != nil:
		return source.Damaged(err, "a compressed page")
	case len(out) != int(h.unpacked)-levels:
		return source.Damagef("a page unpacks to %s, and its header states %d", numbers.Count(len(out)+levels, "byte", "bytes"), h.unpacked)
	}
	if len(out) > 0 && &out[0] != &to.Bytes()[levels] {
		copy(to.Bytes()[levels:], out)
	}
	return nil
}

// tooShort is the error of reading bytes that a page should have.
func tooShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return source.Damagef("a page ends too early")
	}
	return err
}

// present counts the rows of a page of a column that may be NULL which are not, and gives the values behind the levels.
func (p *pageReader) present(h pageHeader, data []byte) (n int, values []byte, err error) {
	levels, rows, packed := data, int(h.values), false
	switch levelEncoding := parquet.Encoding(h.levels); {
	case h.kind == dataPageV2:
		levels, values = data[h.bytes[0]:][:h.bytes[1]], data[int(h.bytes[0])+int(h.bytes[1]):]
	case levelEncoding == parquet.Encodings.RLE && len(data) >= 4 && int64(binary.LittleEndian.Uint32(data)) <= int64(len(data)-4):
		size := int(binary.LittleEndian.Uint32(data))
		levels, values = data[4:][:size], data[4+size:]
	case levelEncoding == parquet.Encodings.BitPacked && len(data) >= (rows+7)/8:
		levels, values, packed = data[:(rows+7)/8], data[(rows+7)/8:], true
	default:
		return 0, nil, source.Damagef("a page whose definition levels have no room")
	}
	ok := true
	if packed { // the first level in the highest bit; arrow-go takes it from the lowest
		for i, b := range levels {
			levels[i] = bits.Reverse8(b)
		}
		n = onesOf(levels, rows)
	} else if n, ok = levelsOfOne(levels, rows); !ok {
		return 0, nil, source.Damagef("a page has fewer definition levels than its %s", numbers.Count(rows, "value", "values"))
	}
	return n, values, nil
}

// onesOf counts those of the first n bits, the lowest of a byte first.
func onesOf(b []byte, n int) (count int) {
	for _, c := range b[:n/8] {
		count += bits.OnesCount8(c)
	}
	if n%8 > 0 {
		count += bits.OnesCount8(b[n/8] << (8 - n%8))
	}
	return count
}

// levelsOfOne counts those of n levels of one bit that are 1. They are in runs, as Parquet's RLE/bit-packed hybrid has them; ok is false
// where they end too early or one is not of one bit.
func levelsOfOne(levels []byte, n int) (count int, ok bool) {
	for n > 0 {
		header, size := binary.Uvarint(levels)
		run := header >> 1
		if size <= 0 || run == 0 {
			return 0, false
		}
		levels = levels[size:]
		if header&1 == 0 { // one value, run times
			some := int(min(run, uint64(n)))
			if len(levels) == 0 || levels[0] > 1 {
				return 0, false
			}
			count += some * int(levels[0])
			levels, n = levels[1:], n-some
			continue
		}
		some := int(min(run, uint64(n+7)/8)) // of 8 values each, the last of which may be beyond n
		if some > len(levels) {
			return 0, false
		}
		count += onesOf(levels, min(8*some, n))
		levels, n = levels[some:], n-min(8*some, n)
	}
	return count, true
}

// enough reports, as an error, that a page has fewer than n values, where arrow-go's decoders do not.
func (p *pageReader) enough(encoding parquet.Encoding, values []byte, n int) error {
	width := map[parquet.Type]int{parquet.Types.Int32: 4, parquet.Types.Float: 4, parquet.Types.Int64: 8, parquet.Types.Double: 8,
		parquet.Types.Int96: parquet.Int96SizeBytes, parquet.Types.FixedLenByteArray: p.column.TypeLength()}[p.column.PhysicalType()]
	has := int64(n)
	switch encoding {
	case parquet.Encodings.Plain, parquet.Encodings.ByteStreamSplit:
		switch {
		case p.column.PhysicalType() == parquet.Types.Boolean:
			has = 8 * int64(len(values))
		case width > 0:
			has = int64(len(values) / width)
		}
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray:
		if n == 0 {
			return nil
		}
		header := values
		for range 3 { // the sizes of a block and of its parts, and how many values there are
			count, size := binary.Uvarint(header)
			if size <= 0 {
				return source.Damagef("a page ends within the header of its values")
			}
			header, has = header[size:], int64(min(count, 1<<32))
		}
	}
	return fewer(has, n)
}

// enoughWords is enough for a dictionary.
func (p *pageReader) enoughWords(values []byte, n int) error {
	if p.column.PhysicalType() != parquet.Types.ByteArray {
		return p.enough(parquet.Encodings.Plain, values, n)
	}
	has := int64(0)
	for ; has < int64(n) && len(values) >= 4; has++ {
		size := int64(binary.LittleEndian.Uint32(values))
		if size > int64(len(values)-4) {
			break
		}
		values = values[4+size:]
	}
	return fewer(has, n)
}

func fewer(has int64, n int) error {
	if has < int64(n) {
		return source.Damagef("a page has %s, and must have %d", numbers.Count(has, "value", "values"), n)
	}
	return nil
}

// Page implements [file.PageReader].
func (p *pageReader) Page() file.Page { return p.page }

// Err implements [file.PageReader].
func (p *pageReader) Err() error { return p.err }

// Close implements [file.PageReader].
func (p *pageReader) Close() error {
	for _, b := range []**memory.Buffer{&p.packed, &p.data, &p.words} {
		if *b != nil {
			(*b).Release()
		}
		*b = nil
	}
	p.left = 0
	return nil
}

// GetDictionaryPage implements [file.PageReader]: the dictionary is a page that comes before those with values.
func (p *pageReader) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

// SetMaxPageHeaderSize implements [file.PageReader].
func (p *pageReader) SetMaxPageHeaderSize(int) {}

// SeekToPageWithRow implements [file.PageReader].
func (p *pageReader) SeekToPageWithRow(int64) error { return errors.ErrUnsupported }

// Reset implements [file.PageReader].
func (p *pageReader) Reset(parquet.BufferedReader, int64, compress.Compression, *file.CryptoContext) {
	p.err = errors.ErrUnsupported
}
