package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/stencildb/stencildb/internal/xslices"
	"hash/crc32"
	"io"
	"sync"
	"time"
)

// A log is a header and records, one a commit, one behind the other (docs/format.md):
//
//	header  magic, version, number, checksum; two marks; 64 bytes in all
//	mark    the length that has been synced (8 bytes), checksum (4), 0 (4)
//	record  length of the commit (8 bytes), checksum (4), the commit
//
// The checksum of a record is over the number of the log and the record's place, too, so that no record of another
// place passes. Of what lies before a mark nothing may be wrong; behind it, what is no whole record was not acknowledged.
const (
	logMagic   = "stencdb\n"
	headerSize = 64
	markSize   = 16
	markAt     = headerSize - 2*markSize
	recordHead = 12
)

// log is a log that is written to. A record that fits into the zeros behind the others is kept in memory until a sync. The sync writes the
// changed blocks past the page cache. Writing the page cache and the file's metadata takes a third of a commit's sync on ext4. Other
// records are written at once.
type log struct {
	name   string
	number uint64
	file   file

	mu      sync.Mutex
	end     int64         // where the next record begins
	zeros   int64         // where the zeros behind it end, at a block, if there are some
	tail    []byte        // what lies from a block's beginning to end
	written int64         // what lies before has been written
	whole   bool          // only a sync of the whole file covers all that has been written
	synced  int64         // what lies before is on the disk
	marks   int           // how many marks have been written
	lasts   int64         // the length that the last of them says
	at      time.Time     // of the last mark
	syncing chan struct{} // closed when the sync under way ends; nil where none is
	broken  error         // of a sync or of a write that could not be undone
	blocks  []byte        // for writeBlocks
}

// newLog makes a log; it is synced, its name is not.
func newLog(d disk, number uint64) (*log, error) {
	f, err := d.create(logName(number))
	if err != nil {
		return nil, err
	}
	l := &log{name: logName(number), number: number, file: f, end: headerSize, synced: headerSize, lasts: headerSize}
	head := make([]byte, headerSize)
	copy(head, logMagic)
	binary.LittleEndian.PutUint32(head[8:], formatVersion)
	binary.LittleEndian.PutUint64(head[12:], number)
	binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(head[:20], castagnoli))
	for i := range 2 {
		copy(head[markAt+i*markSize:], l.mark(headerSize))
	}
	if _, err = f.WriteAt(head, 0); err == nil {
		err = f.sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.began(head)
	return l, nil
}

// began has records follow what the file has, which ends with some bytes.
func (l *log) began(last []byte) {
	l.tail, l.written = append([]byte(nil), last[len(last)-int(l.end%logBlock):]...), l.end
}

// mark is one of a length.
func (l *log) mark(length int64) []byte {
	m := make([]byte, markSize)
	binary.LittleEndian.PutUint64(m, uint64(length))
	binary.LittleEndian.PutUint32(m[8:], l.sum(0, m[:8]))
	return m
}

// sum is the checksum of bytes at a place of the log.
func (l *log) sum(at int64, data ...[]byte) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], l.number)
	binary.LittleEndian.PutUint64(place[8:], uint64(at))
	sum := crc32.Checksum(place[:], castagnoli)
	for _, d := range data {
		sum = crc32.Update(sum, castagnoli, d)
	}
	return sum
}

// append adds a record of a commit, of which the first recordHead bytes are room for its head; it may come in parts. Where that fails nothing has
// happened. It returns the end of the record.
func (l *log) append(record ...[]byte) (int64, error) {
	size := xslices.Sum(record, func(p []byte) int64 { return int64(len(p)) })
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.reserve(l.end+size) && l.syncing != nil { // what is written at once may be in the block that the sync writes
		done := l.syncing
		l.mu.Unlock()
		<-done
		l.mu.Lock()
	}
	if l.broken != nil {
		return 0, l.broken
	}
	head := record[0]
	binary.LittleEndian.PutUint64(head, uint64(size-recordHead))
	sum := l.sum(l.end, head[:8], head[recordHead:])
	for _, p := range record[1:] {
		sum = crc32.Update(sum, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(head[8:], sum)
	end := l.end + size
	if end <= l.zeros {
		for _, p := range record {
			l.tail = append(l.tail, p...)
		}
	} else if err := l.write(record); err != nil {
		return 0, err
	}
	l.end = end
	return end, nil
}

// logBlock is the least that a disk writes. logAhead is how many zeros are written at a time behind the records. Later records
// overwrite them, and a sync of such a block need not sync the length of the file. (Variables for the tests.)
var logBlock, logAhead int64 = 4096, 1 << 20

// reserve reports that there are zeros up to a record's end, or writes some; not for a record as long as these.
func (l *log) reserve(end int64) bool {
	if end <= l.zeros {
		return true
	}
	if end-l.end >= logAhead {
		return false
	}
	from := max(l.zeros, roundUp(l.end)) // a sync under way writes blocks before
	if _, err := l.file.WriteAt(make([]byte, logAhead), from); err != nil {
		return false
	}
	l.zeros, l.whole = from+logAhead, true
	return true
}

func roundUp(n int64) int64 { return (n + logBlock - 1) / logBlock * logBlock }

// write writes a record at once, behind those that have not been written, while there is no sync under way.
func (l *log) write(record [][]byte) error {
	l.zeros, l.whole = 0, true
	err := l.flush(l.unwritten(), l.end)
	at, tail := l.end, l.tail
	for _, p := range record {
		if err == nil {
			_, err = l.file.WriteAt(p, at)
		}
		at += int64(len(p))
		if int64(len(p)) < logBlock {
			tail = append(tail, p...)
		} else {
			tail = append([]byte(nil), p[int64(len(p))-logBlock:]...)
		}
	}
	if err != nil {
		err = fmt.Errorf("storage: %s: the commit cannot be written: %w", l.name, err)
		if cut := l.file.Truncate(l.end); cut != nil {
			l.broken = fmt.Errorf("%w; the log cannot be cut to what it was: %w", err, cut)
			return l.broken
		}
		return err
	}
	l.written = at
	l.tail = tail[int64(len(tail))-at%logBlock:]
	return nil
}

// unwritten is what of the records is in memory alone.
func (l *log) unwritten() []byte { return l.tail[int64(len(l.tail))-(l.end-l.written):] }

// flush writes what lies before an end.
func (l *log) flush(p []byte, end int64) error {
	if len(p) == 0 {
		return nil
	}
	_, err := l.file.WriteAt(p, end-int64(len(p)))
	return err
}

// wait returns when a sync covers the log up to a place. Commits that wait at the same time share a sync. The first of
// them syncs itself: a goroutine for it would cost two changes of thread.
func (l *log) wait(end int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.synced < end {
		if l.broken != nil {
			return l.broken
		}
		if l.syncing == nil {
			l.sync()
			continue
		}
		done := l.syncing
		l.mu.Unlock()
		<-done
		l.mu.Lock()
	}
	return nil
}

// sync syncs the records that there are, and may mark it; with l.mu, which it gives away meanwhile.
func (l *log) sync() {
	const mostBlocks = 1 << 20 // bytes that are copied
	end, done, tail, unwritten := l.end, make(chan struct{}), l.tail, l.unwritten()
	from := end - int64(len(tail))
	whole := l.whole || from < logBlock || len(tail) > mostBlocks // the first block has the marks, too
	l.syncing, l.whole = done, false
	l.mu.Unlock()
	var err error
	if whole {
		if err = l.flush(unwritten, end); err == nil {
			err = l.file.sync()
		}
	} else {
		n := int(roundUp(int64(len(tail))))
		if cap(l.blocks) < n {
			l.blocks = aligned(2 * n)
		}
		l.blocks = l.blocks[:n]
		clear(l.blocks[copy(l.blocks, tail):])
		err = l.file.writeBlocks(l.blocks, from)
	}
	if now := time.Now(); err == nil && now.Sub(l.at) > markEvery {
		err = l.noteMark(end)
		l.at = now
	}
	l.mu.Lock()
	if err != nil {
		l.broken = fmt.Errorf("storage: %s: the log cannot be synced, and nothing more is written: %w", l.name, err)
	} else {
		l.synced, l.written = end, max(l.written, end)
		if done := (end - from) / logBlock * logBlock; done > 0 {
			l.tail = append(make([]byte, 0, logBlock), l.tail[done:]...)
		}
	}
	close(done)
	l.syncing = nil
}

// markEvery is how much time lies at least between two marks: of commits that follow one another closely, those before the last may have none. (A variable
// for the tests.)
var markEvery = 50 * time.Millisecond

// noteMark writes a mark, which need not be on the disk.
func (l *log) noteMark(end int64) error {
	_, err := l.file.WriteAt(l.mark(end), int64(markAt+l.marks%2*markSize))
	l.marks, l.lasts = l.marks+1, end
	return err
}

// close ends the log, with all of it synced, and marked on the disk.
func (l *log) close() error {
	l.mu.Lock()
	end := l.end
	l.mu.Unlock()
	err := l.wait(end)
	if err == nil && l.lasts < end {
		err = l.noteMark(end)
	}
	if err == nil {
		err = l.file.Truncate(end)
	}
	if err == nil {
		err = l.file.sync()
	}
	return errors.Join(err, l.file.Close())
}

// damage is what is wrong with a file, at an offset where that is known, else at -1.
type damage struct {
	name   string
	offset int64
	what   string
}

func (d *damage) Error() string {
	if d.offset < 0 {
		return fmt.Sprintf("%s: %s", d.name, d.what)
	}
	return fmt.Sprintf("%s: at byte %d: %s", d.name, d.offset, d.what)
}

// openLog reads a log and calls each with the records that are whole, in their order. What follows them is cut off by
// [log.cut]; it was not acknowledged. Damage before is a *damage.
func openLog(d disk, number uint64, each func(offset int64, commit []byte) error) (*log, error) {
	f, err := d.open(logName(number))
	if err != nil {
		return nil, err
	}
	l := &log{name: logName(number), number: number, file: f}
	if err := l.read(each); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *log) read(each func(offset int64, commit []byte) error) error {
	marked, err := l.header()
	if err != nil {
		return err
	}
	size, err := l.file.size()
	if err != nil {
		return err
	}
	l.end = headerSize
	ahead := &readAhead{of: l.file, size: size}
	for l.end < size {
		record, err := l.record(ahead)
		if err != nil {
			return err
		}
		if record == nil {
			break
		}
		if err := each(l.end, record[recordHead:]); err != nil {
			return err
		}
		l.end += int64(len(record))
	}
	if l.end < marked {
		return &damage{l.name, l.end, fmt.Sprintf("the record there is damaged: %d bytes of the log were synced", marked)}
	}
	return nil
}

// record is that at the end of those that were read; nil where it is not whole.
func (l *log) record(ahead *readAhead) ([]byte, error) {
	var head [recordHead]byte
	if ahead.size-l.end < recordHead {
		return nil, nil
	}
	if err := ahead.read(head[:], l.end); err != nil {
		return nil, fmt.Errorf("%s: at byte %d: %w", l.name, l.end, err)
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n == 0 || n > uint64(ahead.size-l.end-recordHead) { // zeros, or torn
		return nil, nil
	}
	record := make([]byte, recordHead+n)
	if err := ahead.read(record, l.end); err != nil {
		return nil, fmt.Errorf("%s: at byte %d: %w", l.name, l.end, err)
	}
	if l.sum(l.end, record[:8], record[recordHead:]) != binary.LittleEndian.Uint32(record[8:]) {
		return nil, nil
	}
	return record, nil
}

// since are the records from a place on, which have been written.
func (l *log) since(from int64) (records [][]byte, err error) {
	at := &log{name: l.name, number: l.number, file: l.file, end: from}
	ahead := &readAhead{of: l.file, size: l.end}
	for at.end < l.end {
		r, err := at.record(ahead)
		if err == nil && r == nil {
			err = &damage{l.name, at.end, "a record that was written is not there"}
		}
		if err != nil {
			return nil, err
		}
		records, at.end = append(records, r), at.end+int64(len(r))
	}
	return records, nil
}

// readAhead reads a file of a size from its beginning to its end, much at a time: records are small.
type readAhead struct {
	of   file
	size int64
	at   int64 // of data
	data []byte
}

// read reads the bytes from a place on, all of which the file has.
func (r *readAhead) read(to []byte, from int64) error {
	end := from + int64(len(to))
	if from < r.at || end > r.at+int64(len(r.data)) {
		if int64(len(to)) > readAtOnce/2 {
			_, err := r.of.ReadAt(to, from)
			return atEnd(err)
		}
		if r.data == nil {
			r.data = make([]byte, readAtOnce)
		}
		r.at, r.data = from, r.data[:min(readAtOnce, r.size-from)]
		if _, err := r.of.ReadAt(r.data, from); atEnd(err) != nil {
			r.data = r.data[:0]
			return err
		}
	}
	copy(to, r.data[from-r.at:])
	return nil
}

const readAtOnce = 1 << 18

// atEnd is the error of a read of bytes that were there, the last of the file perhaps.
func atEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// header checks the header and returns how much of the log was synced, as far as a mark says.
func (l *log) header() (marked int64, err error) {
	var head [headerSize]byte
	if _, err := l.file.ReadAt(head[:], 0); err != nil {
		return 0, &damage{l.name, 0, "the log ends in its header"}
	}
	if crc32.Checksum(head[:20], castagnoli) != binary.LittleEndian.Uint32(head[20:]) || string(head[:8]) != logMagic {
		return 0, &damage{l.name, 0, "its header is damaged"}
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v < 1 || v > formatVersion {
		return 0, &damage{l.name, 8, fmt.Sprintf("it has format %d, and this program reads formats 1 to %d", v, formatVersion)}
	}
	if n := binary.LittleEndian.Uint64(head[12:]); n != l.number {
		return 0, &damage{l.name, 12, fmt.Sprintf("it is log %d", n)}
	}
	for i := range 2 {
		if length, ok := l.marked(head[markAt+i*markSize:]); ok {
			marked = max(marked, length)
		}
	}
	if marked == 0 {
		return 0, &damage{l.name, markAt, "both marks are damaged"}
	}
	return marked, nil
}

// marked reads a mark.
func (l *log) marked(m []byte) (length int64, ok bool) {
	length = int64(binary.LittleEndian.Uint64(m))
	return length, l.sum(0, m[:8]) == binary.LittleEndian.Uint32(m[8:]) && length >= headerSize
}

// cut takes off what follows the last whole record, so that commits can be appended.
func (l *log) cut() error {
	err := l.file.Truncate(l.end)
	if err == nil {
		err = l.file.sync()
	}
	for i := 0; err == nil && i < 2; i++ {
		_, err = l.file.WriteAt(l.mark(l.end), int64(markAt+i*markSize))
		if err == nil {
			err = l.file.sync()
		}
	}
	last := make([]byte, l.end%logBlock)
	if err == nil {
		_, err = l.file.ReadAt(last, l.end-int64(len(last)))
		err = atEnd(err)
	}
	l.synced, l.lasts = l.end, l.end
	l.began(last)
	return err
}
