package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// maxColumns bounds the columns of a CSV file; more are taken for the wrong
// delimiter or for no line breaks.
const maxColumns = 16384

// csvReader reads the records of CSV files, or the objects of JSON files, one after the other: in a first pass, after a look
// at the first record, what their columns are, and in later ones columns. A pass goes over
// blocks of the text on all cores; what it finds is put together in order.
type csvReader struct {
	*loader // of the first file
	files   []*loader
	size    int64          // of all
	fields  []table.Field  // a type: declared, and when all has been seen
	infer   []inference    // one a column
	words   []bool         // columns in which some words are NULL
	empties []bool         // columns in which an empty string is
	first   []heading      // of the first record
	blanks  blanks         // lines that have been left out
	members map[string]int // columns of JSON by the names of members
	rows    int            // when all has been seen
	parts   []int          // and those of each block that has some
	sampled lengths        // of some of the records
	taken   []string       // what has been sniffed, in words

	delimSure  bool // it is said, or all records looked at have as many fields by it
	headerSaid bool // whether there is a header
}

// openCSV opens files of the path that they were named by.
func openCSV(files []*loader, path string) (f *File, err error) {
	r, l := &csvReader{loader: files[0], files: files}, *files[0]
	l.src.Path = path
	var inputs []*input
	for _, l := range files {
		r.size += l.file.Size()
		inputs = append(inputs, l.file)
	}
	defer r.file.explain(path, &err)
	r.delimSure, r.headerSaid = r.src.Delim != 0 || r.src.Columns != nil, r.src.Header != HeaderSniffed
	switch d := r.src.Delim; {
	case r.json:
		r.src.Header = HeaderNone
	case d == 0 && r.src.Columns != nil:
		r.src.Delim = ','
	case d == 0:
		r.sniffDelim()
	case !validDelim(d):
		return nil, fmt.Errorf("delimiter %q is not one ASCII character other than a quote or a line break", d)
	}
	columns := r.columns
	if r.json {
		columns = r.jsonColumns
	}
	if err := columns(); err != nil {
		if errors.Is(err, errEmpty) && r.src.Columns != nil && r.src.Header == HeaderNone {
			return l.newFile(r.without(), 0), nil
		}
		return nil, err
	}
	r.opts.whole()
	if err := r.learn(); err != nil {
		return nil, err
	}
	f = l.newFile(r.fields, r.rows)
	f.csv, f.inputs = r, inputs
	f.once = slices.ContainsFunc(inputs, (*input).once)
	return f, nil
}

// columns takes the columns from the first record: their names, unless it has none. Blank lines before it do not count where it has
// several fields.
func (r *csvReader) columns() error {
	first := r.firstBlock(r.src.Columns == nil)
	if r.files[0].skipBlank && first.err == nil && first.line > 1 {
		if s, f := newScanner(first, r.src.Delim), (field{}); !s.next(&f) || f.last {
			first = r.firstBlock(false)
		}
	}
	if first.err != nil {
		return first.err
	}
	s, bytes := newScanner(first, r.src.Delim), 0
	for f := (field{}); !f.last; {
		if !s.next(&f) {
			return cmp.Or(s.err, errEmpty)
		}
		col := len(r.first)
		if bytes += f.to - f.from; col == maxColumns || bytes > maxField {
			return sqlstate.Errorf(sqlstate.TooManyColumns, "line %d: more than %d columns: is the delimiter right, and are there line breaks?", f.line, maxColumns)
		}
		if r.src.Header != HeaderNone {
			switch {
			case f.blank(col):
				return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d is blank where the header should be: write %s %s if there is none", f.line, r.option("header", "false"), r.where())
			case !utf8.Valid(f.in(first.text).text):
				return fmt.Errorf("line %d, column %d: %w", f.line, col+1, r.notUTF8())
			}
		}
		r.first = append(r.first, heading{f.in(first.text), f.line})
	}
	r.ofColumns()
	if r.src.Columns != nil {
		return r.given()
	}
	if r.src.Header == HeaderSniffed && len(r.src.Types) > 0 {
		r.sniffNames()
	}
	if err := r.nameColumns(r.src.Header == HeaderSniffed); err != nil {
		return err
	}
	return r.declare()
}

// ofColumns makes room for what is known of the columns.
func (r *csvReader) ofColumns() {
	n := len(r.first)
	emptyIsNull := slices.Contains(r.src.Nulls, emptyQuoted)
	r.fields, r.infer, r.words, r.empties = make([]table.Field, n), make([]inference, n), make([]bool, n), slices.Repeat([]bool{emptyIsNull}, n)
}

// firstBlock is that of the first file, with blank lines before the first record of each file or without.
func (r *csvReader) firstBlock(skipBlank bool) block {
	for _, l := range r.files {
		l.skipBlank = skipBlank
	}
	for b := range r.blocks() {
		return b
	}
	return block{err: errEmpty}
}

var errEmpty = sqlstate.Errorf(sqlstate.BadCopyFileFormat, "empty: not even a header")

// fault is an error at a place of the text.
type fault struct {
	line, col int
	err       error
}

// before reports whether f, unless nil, comes before g in the text.
func (f *fault) before(g *fault) bool {
	return f != nil && (g == nil || f.line < g.line || f.line == g.line && f.col < g.col)
}

// each calls do with the fields of a block's records, but a header's: the first columns of some
// records, one after the other. A fault ends it, and the first one is returned. Another first line than that of the first
// file is a fault where it is known to be a header; else other is what it would be. Blank lines that do not count are told in left.
func (r *csvReader) each(b block, columns int, left *blanks, do func(fields []field, columns int) *fault) (first, other *fault) {
	first = r.records(b, columns, left, &other, do)
	for _, f := range []*fault{first, other} {
		if of := r.named(b); f != nil && of != "" {
			f.err = fmt.Errorf("%s: %w", of, f.err)
		}
	}
	return first, other
}

// named is the file of a block, where there are several.
func (r *csvReader) named(b block) string {
	if len(r.files) > 1 {
		return b.of.src.Path
	}
	return ""
}

func (r *csvReader) records(b block, columns int, left *blanks, other **fault, do func(fields []field, columns int) *fault) *fault {
	if b.err != nil {
		return &fault{line: b.line, err: b.err}
	}
	if r.json {
		return r.jsonRecords(b, columns, do)
	}
	s, f := newScanner(b, r.src.Delim), field{}
	for col, header := 0, r.src.Header != HeaderNone && b.first; header && s.next(&f); col++ {
		header = !f.last
		same := col < len(r.first) && bytes.Equal(f.in(b.text).text, r.first[col].text) && f.last == (col == len(r.first)-1)
		if !same && b.of != r.loader {
			f := &fault{f.line, col, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d, column %d: the header is another one than that of %s; load it under a name of its own", f.line, col+1, r.src.Path)}
			if r.src.Header == HeaderThere {
				return f
			}
			*other = cmp.Or(*other, f)
		}
	}
	fields, at := make([]field, max(1, batchFields/columns)*columns), 0
	// flush is do with the records that are there, and then with n fields of one more.
	flush := func(n int) (fault *fault) {
		if at > 0 {
			fault = do(fields[:at], columns)
		}
		if n > 0 && fault == nil {
			fault = do(fields[at:at+n], n)
		}
		at = 0
		return fault
	}
	for {
		if at == len(fields) {
			if fault := flush(0); fault != nil {
				return fault
			}
		}
		record := fields[at : at+columns]
		n := s.record(record)
		if n == 0 {
			break
		}
		f := record[n-1]
		switch line := record[0].line; {
		case s.err != nil:
			if fault := flush(n); fault != nil {
				return fault
			}
		case f.last && n < len(r.fields) && f.blank(n-1) && r.files[0].skipBlank:
			left.skip(line)
		case f.last && n < len(r.fields):
			return cmp.Or(flush(n-1), &fault{line, n - 1, r.ragged(s, &f, n-1, line)})
		case n < len(r.fields):
			s.skip(f)
			left.row()
			at += columns
		case !f.last && s.next(&f):
			return cmp.Or(flush(n), &fault{line, n, r.ragged(s, &f, n, line)})
		default:
			left.row()
			at += columns
		}
	}
	if fault := flush(0); fault != nil {
		return fault
	}
	if s.err != nil {
		if s.behindQuote {
			s.err = r.delimited(s.err)
		}
		return &fault{s.line, maxColumns, s.err}
	}
	return nil
}

// batchFields is about how many fields are read before what is in them is: few enough to stay in
// the core's own cache.
const batchFields = 512

// pass does something with the blocks, by so many workers, and then with what it gives, which keeps none
// of their text, in order.
func pass[T any](r *csvReader, workers int, of func(b block) T, then func(T) error) error {
	call := func(_ int, b block) T {
		defer b.done()
		return of(b)
	}
	for t := range ordered.Map(workers, r.blocks(), call) {
		if err := then(t); err != nil {
			return err
		}
	}
	return nil
}

// ragged counts the fields of a record of the wrong length and says so.
func (r *csvReader) ragged(s *scanner, f *field, col, line int) error {
	if f.blank(col) {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d is blank: only a file of one column may have blank lines (NULLs)", line)
	}
	n := col + 1
	for ; !f.last && s.next(f); n++ {
	}
	remedy := "complete the line, or take it out"
	if n > len(r.fields) {
		remedy = fmt.Sprintf("write a field that has %q in it in double quotes", string(r.src.Delim))
	}
	return r.delimited(sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d: %s where line %d has %d; %s", line, numbers.Count(n, "field", "fields"), r.first[0].line, len(r.fields), remedy))
}

// delimited is an error of the text that another delimiter may end, where it is not sure which one it is.
func (r *csvReader) delimited(err error) error {
	if r.delimSure {
		return err
	}
	return fmt.Errorf("%w; or, if %q is not what parts the fields, write %s %s", err, string(r.src.Delim), r.option("delim", "C"), r.where())
}

// declare takes the declared types over.
func (r *csvReader) declare() error {
	for _, d := range r.src.Types {
		i := r.find(d.Name)
		if i < 0 {
			var some []string
			for _, f := range r.fields[:min(len(r.fields), 20)] {
				some = append(some, show(f.Name))
			}
			return &OptionError{fmt.Errorf("types: there is no column %q; the columns are %s", d.Name, strings.Join(some, ", "))}
		}
		r.fields[i].Type = d.Type
	}
	return nil
}

// without are the columns of a file without a record.
func (r *csvReader) without() (fields []table.Field) {
	for _, c := range r.src.Columns {
		fields = append(fields, table.Field{Name: c.Name, Type: c.Type})
	}
	return fields
}

// given takes the columns that the source has by their places.
func (r *csvReader) given() error {
	if have, want := len(r.fields), len(r.src.Columns); have != want {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line 1: %s where %d are expected", numbers.Count(have, "field", "fields"), want)
	}
	r.fields = r.without()
	return nil
}

// find returns the column of that name: as it is, else without regard to case when
// that is unique; -1 where there is none.
func (r *csvReader) find(name string) int {
	if i := slices.IndexFunc(r.fields, func(f table.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	like := func(f table.Field) bool { return strings.EqualFold(f.Name, name) }
	if i := slices.IndexFunc(r.fields, like); i >= 0 && !slices.ContainsFunc(r.fields[i+1:], like) {
		return i
	}
	return -1
}

// emptyQuoted is the empty string as one of [Source.Nulls].
const emptyQuoted = `""`

// strict reports that numbers among text are an error.
func (r *csvReader) strict() bool { return r.src.Strict || r.opts.Strict }

// isNull reports a field that stands for NULL.
func (r *csvReader) isNull(col int, c content) bool {
	if r.src.Columns != nil {
		return !c.quoted && slices.Contains(r.src.Nulls, view(c.text))
	}
	if c.quoted {
		return len(c.text) == 0 && r.empties[col]
	}
	return len(c.text) == 0 || slices.Contains(r.src.Nulls, view(c.text)) || r.words[col] && isNullWord(c)
}

// show is a name as it stands in an error: quoted where it would not be one
// word on one line.
func show(name string) string {
	for _, c := range name {
		if !strconv.IsGraphic(c) {
			return strconv.Quote(name)
		}
	}
	return name
}

// place puts an error at a line of a column, and says which other types would do.
func (r *csvReader) place(line, col int, err error, types ...string) error {
	name := r.fields[col].Name
	switch {
	case err == errUTF8:
		err = r.notUTF8()
	case r.src.Columns == nil:
		for i, kind := range types {
			types[i] = r.typed(name, kind)
		}
		err = fmt.Errorf("%w; write %s %s", err, strings.Join(types, " or "), r.where())
	}
	return fmt.Errorf("line %d, column %d (%s): %w", line, col+1, show(name), err)
}

// learned is what the first pass finds in a block.
type learned struct {
	of      string // see named
	columns []inference
	rows    int
	sampled lengths
	headers int // records that were taken for one
	blanks  blanks
	header  *fault // where these are headers
	fault   *fault
	read    int64
}

// see takes in the values of a column: those of fields 0, step, 2*step and on. It returns the
// first that is not UTF-8, or nil.
func (r *csvReader) see(in *inference, col int, text []byte, fields []field, step int) *field {
	declared, words := r.fields[col].Type.Kind != table.Unknown, r.src.Nulls == nil
	for i := 0; i < len(fields); i += step {
		if words && !declared {
			if i = in.alike(text, fields, i, step); i >= len(fields) {
				break
			}
		}
		f := &fields[i]
		switch c := f.in(text); {
		case r.isNull(col, c):
		case declared && r.src.Columns == nil && c.quoted && len(c.text) == 0:
			in.take(classEmpty, c, f.line)
		case declared && words && isNullWord(c):
			in.take(classNull, c, f.line)
		case !declared && !in.see(c, f.line, words):
			return f
		}
	}
	return nil
}

// learn is the first pass: the structure is sound, and the types are known.
func (r *csvReader) learn() error {
	of := func(b block) learned {
		l := learned{of: r.named(b), columns: make([]inference, len(r.fields)), read: b.read}
		if r.src.Header != HeaderNone && b.first {
			l.headers = 1
		}
		l.fault, l.header = r.each(b, len(r.fields), &l.blanks, func(fields []field, columns int) (first *fault) {
			for col := range columns {
				if f := r.see(&l.columns[col], col, b.text, fields[col:], columns); f != nil {
					if bad := (&fault{f.line, col, r.place(f.line, col, errUTF8)}); bad.before(first) {
						first = bad
					}
				}
			}
			if l.rows += len(fields) / max(1, columns); l.sampled.records == 0 && columns == len(r.fields) {
				l.sampled.see(fields, columns)
			}
			return first
		})
		if b.first && b.line > 1 {
			l.blanks.lead(b.line)
		}
		return l
	}
	headers, part, other := 0, 0, (*fault)(nil)
	var headed []int // blocks
	then := func(l learned) error {
		r.rows += l.rows
		r.sampled.add(l.sampled)
		r.blanks.add(l.blanks)
		if l.headers > 0 {
			headed = append(headed, len(r.parts))
		}
		r.parts = append(r.parts, l.rows)
		other = cmp.Or(other, l.header)
		headers += l.headers
		for col := range r.infer {
			r.infer[col].add(&l.columns[col], part, l.of)
		}
		part++
		if l.fault != nil {
			return l.fault.err
		}
		return r.step(nil, l.read, r.size)
	}
	if err := pass(r, runtime.GOMAXPROCS(0), of, then); err != nil {
		return err
	}
	if r.src.Header == HeaderSniffed {
		if err := r.sniffHeader(); err != nil {
			return err
		}
		if r.src.Header == HeaderNone {
			r.rows += headers
			for _, block := range headed {
				r.parts[block]++
			}
		} else if other != nil {
			return other.err
		}
	}
	r.parts = slices.DeleteFunc(r.parts, func(rows int) bool { return rows == 0 })
	r.quotes()
	if err := r.types(); err != nil {
		return err
	}
	r.sniffNulls()
	r.blanks.tell(r.loader)
	return nil
}

// converted is the values of a block.
type converted struct {
	columns []cells
	fault   *fault
	read    int64
}

// cells is some values of a column.
type cells struct {
	decoded
	words table.Words
}

// convert is a later pass: the text of some columns becomes a table of these, of which o.Coming is told.
func (r *csvReader) convert(ctx context.Context, columns []int, o Options) (*table.Table, error) {
	l := *r.loader
	l.ctx, l.opts = ctx, o
	t := table.NewBuilder(r.name, r.some(columns), r.opts.ChunkRows)
	of := func(b block) converted { return r.converted(b, columns) }
	then := func(c converted) error {
		if err := c.appendTo(t); err != nil {
			return err
		}
		return l.step(t, c.read, r.size)
	}
	if err := pass(r, runtime.GOMAXPROCS(0), of, then); err != nil {
		return nil, err
	}
	if err := l.step(t, r.size, r.size); err != nil {
		return nil, err
	}
	if t.Rows() != r.rows {
		return nil, ErrChanged
	}
	return t.TableAhead(o.Coming), nil
}

// some are the fields of some columns.
func (r *csvReader) some(columns []int) []table.Field {
	fields := make([]table.Field, len(columns))
	for k, col := range columns {
		fields[k] = r.fields[col]
	}
	return fields
}

// converted is the values of some columns, at least one, of a block.
func (r *csvReader) converted(b block, columns []int) converted {
	c := converted{columns: make([]cells, len(columns)), read: b.read}
	records := bytes.Count(b.text, []byte{'\n'}) + 1 // about
	for col := range c.columns {
		c.columns[col].ordinals = make([]uint64, 0, records)
	}
	c.fault, _ = r.each(b, slices.Max(columns)+1, &blanks{}, func(there []field, step int) (first *fault) {
		for k, col := range columns {
			if col >= step {
				break
			}
			to, t := &c.columns[k], r.fields[col].Type
			for i := col; i < len(there); i += step {
				f := there[i].in(b.text)
				if r.isNull(col, f) {
					to.push(0, false)
					continue
				}
				o, err := parseValue(&to.words, t, f.text)
				if err != nil {
					line := there[i].line
					if bad := (&fault{line, col, r.place(line, col, err, wider(t, f.text)...)}); bad.before(first) {
						first = bad
					}
					break
				}
				to.push(o, true)
			}
		}
		return first
	})
	return c
}

// appendTo appends the rows to a table of these columns.
func (c *converted) appendTo(t *table.Builder) error {
	if c.fault != nil {
		return c.fault.err
	}
	for at, rows := 0, len(c.columns[0].ordinals); at < rows; {
		n := min(t.Room(), rows-at)
		for col := range c.columns {
			c.columns[col].append(t.Column(col), at, n)
		}
		if err := t.EndRows(n); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// push appends an ordinal, or NULL.
func (c *cells) push(o uint64, valid bool) {
	n := len(c.ordinals)
	c.ordinals = append(c.ordinals, o)
	if !valid && c.valid == nil {
		c.valid = make([]byte, (n+7)/8, n/8+1<<10)
		bitutil.SetBitsTo(c.valid, 0, int64(n), true)
	}
	if c.valid != nil {
		if n%8 == 0 {
			c.valid = append(c.valid, 0)
		}
		bitutil.SetBitTo(c.valid, n, valid)
	}
}

// AppendArray appends the values of an array, which is of [ArrowType] of a type, to a column of that type. It appends none where there is an error.
func AppendArray(to *table.ColumnBuilder, t table.Type, a arrow.Array) error {
	var c cells
	if err := c.decode(t, a, &c.words); err != nil {
		return err
	}
	c.widen()
	c.append(to, 0, a.Len())
	return nil
}

// append appends n values, from value at on, to a builder, which has numbers of its own for
// words.
func (c *cells) append(b *table.ColumnBuilder, at, n int) {
	list := c.ordinals[at : at+n]
	if len(c.words.List) > 0 {
		numbers := make([]uint64, len(c.words.List)) // 0: none yet
		list = slices.Clone(list)
		for i, k := range list {
			if c.null(at + i) {
				continue
			}
			if numbers[k] == 0 {
				numbers[k] = 1 + b.Number(c.words.List[k])
			}
			list[i] = numbers[k] - 1
		}
	}
	b.Ordinals(list, c.valid, c.offset+at)
}
