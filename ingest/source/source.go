package source

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Format is a file format.
type Format string

// The formats. Arrow covers the file format (Feather version 2) and the stream.
const (
	CSV     Format = "csv"
	TSV     Format = "tsv"
	JSON    Format = "json" // an object a line, or an array of objects
	Parquet Format = "parquet"
	Arrow   Format = "arrow"
)

// Source says where the data of a table come from and how to read them.
type Source struct {
	// Path is that of the file, or, with Data, what errors call them. A pattern stands for
	// several files, one behind the other: see [ingest.Files].
	Path string
	// Data, unless nil, is the content of the file, which is not opened then.
	Data []byte
	// Kept, unless nil, is the content of the file, which is not opened then. It is not closed.
	Kept *Kept
	// File, unless nil, is the file of Path, which is read without being opened, and not closed.
	File *os.File
	// Format is found from the path's extension, else from the first bytes, when
	// empty.
	Format Format

	// Call says that the options are arguments of a function of SQL, for what errors and notes advise.
	Call bool

	// The rest is for CSV and TSV, and for JSON but the first three; it is an error for other formats.

	Header Header
	Delim  byte     // 0: sniffed, mostly a comma; for TSV a tab
	Nulls  []string // unquoted fields that are NULL besides the empty one, and "" for the quoted empty one; nil: sniffed
	Types  []ColumnType
	// Strict makes numbers among text, and numbers that no type holds exactly, an error.
	Strict bool
	// Encoding is what the text is in: utf8 (also ""), latin1, windows1252 or utf16.
	Encoding Encoding
	// Columns, unless nil, are all columns of the file, in their order, whatever its header calls them. Then nothing is sniffed. The header
	// is there if [HeaderThere] says so, and the delimiter is a comma if none is given. NULL is an unquoted field that is in Nulls, and no other
	// one.
	Columns []ColumnType
}

// Header says whether the first line of a CSV holds the names of its columns.
type Header uint8

// The kinds of first lines.
const (
	HeaderSniffed Header = iota // none where its cells are values as those below, and not all text
	HeaderThere
	HeaderNone // columns are column1, column2, ...
)

// ColumnType declares the type of a column; columns not declared are inferred.
type ColumnType struct {
	Name string
	Type table.Type
}

// Temporary is a file without a name, which goes when it is closed.
type Temporary interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Options bound a load.
type Options struct {
	// ChunkRows is the number of rows of a full chunk; 0 means
	// [table.MaxChunkRows].
	ChunkRows int
	// MemoryLimit is how many bytes of host memory the table and what is needed
	// to build it may take; 0 means no limit. A load that would pass it ends with
	// an error before it does.
	MemoryLimit int64
	// Trusted says that the bytes of the file are known to be those that we wrote: what sizes they tell is not doubted.
	Trusted bool
	// Temporary, when set, makes an empty file, without a name, for what comes through a pipe and is more than a sixteenth of MemoryLimit.
	// [ingest.File.Close] closes it.
	Temporary func() (Temporary, error)
	// Progress, when set, is called now and then from the loading goroutine.
	Progress func(Progress)
	// Strict is [Source.Strict] of all sources.
	Strict bool
	// Whole, when set, is called before the opening of a source reads all of it. That is so for CSV, for what comes through
	// a pipe, and for compressed Arrow. It may be called more than once.
	Whole func()
	// Coming, when set, is called once while columns are read, with the table that it becomes. A segment that is not there
	// yet is a zone map. Its numbers bound those of the segment, if the file does not lie. Nobody may read its codes. What
	// it returns is told of each segment that is there, from the loading goroutine. One of a column that is read again, or
	// of a reading that fails, does not come into the table. Of CSV that is after the last row has been decoded, and
	// before codes are made.
	Coming table.Coming
	// Note, when set, gets a line, which names the file, for what was found out and may not be what was
	// meant. That is the format of a file whose extension names none, or what was sniffed in a CSV. It is
	// also a column that is text for a few values among dates.
	Note func(text string)
}

// TellWhole tells that all of a source is about to be read.
func (o Options) TellWhole() {
	if o.Whole != nil {
		o.Whole()
	}
}

// Progress is how far a load is.
type Progress struct {
	// Done and Total are bytes of the work. A CSV is read twice: they begin anew.
	Done, Total int64
	// Rows is about how many rows have been read; 0 while that is not known.
	Rows int64
}

// ParsePath reads PATH[?option&option...], as [ingest.ParseLoad] does.
func ParsePath(text string) (s Source, err error) {
	defer optionError(&err)
	path, options, _ := strings.Cut(text, "?")
	s.Path = path
	if len(path) == len(text) {
		return s, nil
	}
	for _, o := range strings.Split(options, "&") {
		if err := s.option(o); err != nil {
			return Source{}, err
		}
	}
	return s, nil
}

func (s *Source) option(opt string) error {
	key, raw, ok := strings.Cut(opt, "=")
	if !ok {
		remedy := ""
		if strings.ContainsAny(opt, "./") {
			remedy = "; a ? begins options, and in a pattern of files there are * and [...] alone"
		}
		return fmt.Errorf("option %q: want header=, delim=, null=, types=, strict= or encoding=%s", opt, remedy)
	}
	val, err := raw, error(nil)
	if key != "types" { // whose parts are escaped
		if val, err = url.PathUnescape(raw); err != nil {
			return fmt.Errorf("option %s: %q is not %%XX escaped (write %%25 for a percent sign)", key, raw)
		}
	}
	return s.Set(key, val)
}

// Optioned reports options.
func (s *Source) Optioned() bool {
	return s.Header != HeaderSniffed || s.Delim != 0 || s.Nulls != nil || s.Types != nil || s.Columns != nil || s.Strict || s.Encoding != ""
}

// OptionError says that what was said of a file is not what it takes: an option, or a column of one, or the format.
type OptionError struct{ error }

func (e *OptionError) Unwrap() error { return e.error }

// SQLState is the code of a value that an option does not take.
func (e *OptionError) SQLState() string { return string(sqlstate.InvalidParameterValue) }

// OptionErrorf is an [OptionError] in words.
func OptionErrorf(format string, args ...any) error { return &OptionError{fmt.Errorf(format, args...)} }

// optionError makes an error, if there is one, an [OptionError].
func optionError(err *error) {
	if *err != nil {
		*err = &OptionError{*err}
	}
}

// Set sets one of the options of [ingest.ParseLoad], whose value is not escaped but in types.
func (s *Source) Set(option, val string) (err error) {
	defer optionError(&err)
	switch option {
	case "types":
		return s.parseTypes(val)
	case "header":
		b, err := strconv.ParseBool(val)
		if err != nil {
			return fmt.Errorf("option header: %q is neither true nor false", val)
		}
		if s.Header = HeaderNone; b {
			s.Header = HeaderThere
		}
	case "delim":
		if val == `\t` || val == "tab" {
			val = "\t"
		}
		if len(val) != 1 || !ValidDelim(val[0]) {
			return fmt.Errorf("option delim: %q is not one ASCII character other than a quote or a line break", val)
		}
		s.Delim = val[0]
	case "null":
		s.Nulls = append(s.Nulls, val)
	case "strict":
		if s.Strict, err = strconv.ParseBool(val); err != nil {
			return fmt.Errorf("option strict: %q is neither true nor false", val)
		}
	case "encoding":
		s.Encoding, err = parseEncoding(val)
		return err
	default:
		return fmt.Errorf("unknown option %q: there are header, delim, null, types, strict and encoding", option)
	}
	return nil
}

func ValidDelim(c byte) bool { return c < 0x80 && c != 0 && c != '"' && c != '\n' && c != '\r' }

// parentheses are those of a type, with a comma inside or not.
var parentheses = regexp.MustCompile(`\([^)]*`)

// parseTypes reads a:bigint,b:numeric(10,2).
func (s *Source) parseTypes(list string) error {
	list = parentheses.ReplaceAllStringFunc(list, func(p string) string { return strings.ReplaceAll(p, ",", "%2C") })
	for list != "" {
		item, rest, _ := strings.Cut(list, ",")
		list = rest
		i := strings.LastIndexByte(item, ':')
		if i < 0 {
			return fmt.Errorf("option types: %q: want COLUMN:TYPE", item)
		}
		name, err1 := url.PathUnescape(item[:i])
		typ, err2 := url.PathUnescape(item[i+1:])
		if err1 != nil || err2 != nil {
			return fmt.Errorf("option types: %q is not %%XX escaped (write %%25 for a percent sign)", item)
		}
		t, err := ParseType(typ)
		if err != nil {
			return fmt.Errorf("option types: column %s: %w", name, err)
		}
		for _, before := range s.Types {
			if before.Name == name {
				return fmt.Errorf("option types: column %s has two types: give one", name)
			}
		}
		s.Types = append(s.Types, ColumnType{name, t})
	}
	return nil
}
