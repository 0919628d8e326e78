package slt

import (
	"cmp"
	"crypto/md5"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is one value of an answer as the database prints it.
type Value struct {
	Text string
	Null bool
}

// Database answers one statement of a connection with its rows. Each name is a connection of its own; "" is the default.
// Its error wraps [ErrDeclined] where it has no answer to compare.
type Database func(connection, sql string) ([][]Value, error)

// ErrDeclined says that a database leaves a statement to others: its record is passed over.
var ErrDeclined = errors.New("declined")

// record is a statement or a query with what the file wants of it.
type record struct {
	line          int
	skip, only    []string
	connection    string
	query         bool
	fails         bool
	pattern       string // part of the error's message
	types         string // of a query: T, I or R per column
	sort          string // nosort, rowsort or valuesort
	label         string
	sql           string
	want          []string // the values, or one line that says their number and hash
	threshold     int      // the number of values above which Update writes a hash; 0 for none
	answer, after int      // of a query: the lines of the file from answer to after are the answer
}

// File is a parsed file.
type File struct {
	// ChunkRows is how many rows a chunk of its tables has: control chunkrows; 0 where the file does not say it.
	ChunkRows int

	name    string
	lines   []string
	records []record
}

// Parse reads a file. Errors name file and line.
func Parse(name, text string) (*File, error) {
	f := &File{name: name, lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	var next record
	threshold, connection := 0, ""
	for i := 0; i < len(f.lines); i++ {
		line := f.lines[i]
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, fmt.Sprintf(format, args...))
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		switch words[0] {
		case "halt":
			if len(next.skip)+len(next.only) == 0 {
				return f, nil
			}
			return nil, fail("halt takes no condition")
		case "control":
			n, err := strconv.Atoi(words[len(words)-1])
			if err != nil || n < 1 || len(words) != 3 || words[1] != "chunkrows" || len(f.records) > 0 {
				return nil, fail("control chunkrows takes a number, before the first record")
			}
			f.ChunkRows = n
			continue
		case "connection":
			if len(words) != 2 || len(next.skip)+len(next.only) > 0 {
				return nil, fail("connection takes a name, and no condition")
			}
			if connection = words[1]; connection == "default" {
				connection = ""
			}
			continue
		case "hash-threshold":
			n, err := strconv.Atoi(strings.Join(words[1:], " "))
			if err != nil {
				return nil, fail("hash-threshold takes a number")
			}
			threshold = n
			continue
		case "skipif", "onlyif":
			if len(words) < 2 {
				return nil, fail("%s takes the name of a backend", words[0])
			}
			if words[0] == "skipif" {
				next.skip = append(next.skip, words[1])
			} else {
				next.only = append(next.only, words[1])
			}
			continue
		case "statement":
			if len(words) < 2 || words[1] != "ok" && words[1] != "error" || words[1] == "ok" && len(words) > 2 {
				return nil, fail("statement takes ok, or error and a part of the message")
			}
			next.fails = words[1] == "error"
			if next.fails {
				_, rest, _ := strings.Cut(line, "error")
				next.pattern = strings.TrimSpace(rest)
			}
		case "query":
			next.query, next.sort = true, "nosort"
			if len(words) < 2 || strings.Trim(words[1], "TIR") != "" || len(words) > 4 {
				return nil, fail("query takes types (T, I or R per column), then nosort, rowsort or valuesort, then a label")
			}
			next.types = words[1]
			if len(words) > 2 {
				if next.sort = words[2]; !slices.Contains([]string{"nosort", "rowsort", "valuesort"}, next.sort) {
					return nil, fail("a query is sorted by nosort, rowsort or valuesort, not %s", next.sort)
				}
			}
			if len(words) > 3 {
				next.label = words[3]
			}
		default:
			return nil, fail("%q is no record of sqllogictest", words[0])
		}
		next.line, next.threshold, next.connection = i+1, threshold, connection
		var sql []string
		for i++; i < len(f.lines) && strings.TrimSpace(f.lines[i]) != "" && f.lines[i] != "----"; i++ {
			sql = append(sql, f.lines[i])
		}
		if next.sql = strings.Join(sql, "\n"); len(sql) == 0 {
			return nil, fail("a record without SQL")
		}
		next.answer, next.after = i, i
		if i < len(f.lines) && f.lines[i] == "----" {
			if !next.query {
				return nil, fail("a statement has no answer: write query")
			}
			for i++; i < len(f.lines) && f.lines[i] != ""; i++ {
				next.want = append(next.want, strings.Split(f.lines[i], "\t")...)
			}
			next.after = i
		}
		f.records = append(f.records, next)
		next = record{}
	}
	if len(next.skip)+len(next.only) > 0 {
		return nil, fmt.Errorf("%s:%d: a condition without a record", name, len(f.lines))
	}
	return f, nil
}

// Run asks a database, whose backend has that name, for every record, and returns the differences.
func (f *File) Run(backend string, db Database) error {
	_, err := f.run(backend, db, false)
	return err
}

// RunPeer is [File.Run] on another database. Rows of a query without ORDER BY may come in any order, numbers
// agree to 13 digits, and midnight may be the date.
func (f *File) RunPeer(peer string, db Database) error {
	_, err := f.run(peer, db, true)
	return err
}

// Update is the file with the database's answers in the place of those that it has. Statements
// that do not do what the file says are errors.
func (f *File) Update(backend string, db Database) (string, error) {
	answers, err := f.run(backend, db, false)
	var update []error
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range list.Unwrap() {
			if !errors.As(e, new(*difference)) {
				update = append(update, e)
			}
		}
	}
	var b strings.Builder
	from := 0
	for i, r := range f.records {
		if answers[i] == nil {
			continue
		}
		write(&b, f.lines[from:r.answer])
		b.WriteString("----\n")
		write(&b, answers[i])
		from = r.after
	}
	write(&b, f.lines[from:])
	return b.String(), errors.Join(update...)
}

func write(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
}

// difference is an answer that is not the one in the file.
type difference struct{ text string }

func (d *difference) Error() string { return d.text }

// run returns the lines of the answer of every query that was asked without an error.
func (f *File) run(backend string, db Database, peer bool) (answers [][]string, err error) {
	var faults []error
	labels := map[string]string{}
	answers = make([][]string, len(f.records))
	for i, r := range f.records {
		if slices.Contains(r.skip, backend) || slices.ContainsFunc(r.only, func(b string) bool { return b != backend }) {
			continue
		}
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s:%d: %s\n%s", f.name, r.line, fmt.Sprintf(format, args...), r.sql))
		}
		rows, err := db(r.connection, r.sql)
		switch {
		case errors.Is(err, ErrDeclined):
			continue
		case r.fails && err == nil:
			fault("no error, want %q", r.pattern)
			continue
		case r.fails && !strings.Contains(told(err), r.pattern):
			fault("error %q, want %q", told(err), r.pattern)
			continue
		case !r.fails && err != nil:
			fault("error: %v", err)
			continue
		case !r.query:
			continue
		}
		lines, err := r.values(rows)
		if err != nil {
			fault("%v", err)
			continue
		}
		values := strings.Split(strings.Join(lines, "\t"), "\t")
		if len(lines) == 0 {
			values = nil
		}
		hash := fmt.Sprintf("%d values hashing to %x", len(values), md5.Sum([]byte(strings.Join(append(slices.Clone(values), ""), "\n"))))
		if r.label != "" && cmp.Or(labels[r.label], hash) != hash {
			fault("the answer is not that of the other queries labelled %s", r.label)
		}
		labels[r.label] = hash
		if !slices.Equal(values, r.want) && !slices.Equal([]string{hash}, r.want) && !(peer && r.near(values)) {
			faults = append(faults, &difference{fmt.Sprintf("%s:%d: %s\n got %q\nwant %q", f.name, r.line, r.sql, values, r.want)})
		}
		if answers[i] = lines; r.threshold > 0 && len(values) > r.threshold {
			answers[i] = []string{hash}
		}
		if answers[i] == nil {
			answers[i] = []string{}
		}
	}
	return answers, errors.Join(faults...)
}

// told is an error's message, behind its SQLSTATE where it has one.
func told(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState() + " " + err.Error()
	}
	return err.Error()
}

// near compares the values of a peer with those wanted.
func (r *record) near(values []string) bool {
	rows := func(values []string) [][]string {
		list := slices.Collect(slices.Chunk(slices.Clone(values), len(r.types)))
		if !strings.Contains(r.sql, "ORDER BY") {
			slices.SortFunc(list, slices.Compare)
		}
		return list
	}
	return slices.EqualFunc(rows(values), rows(r.want), func(a, b []string) bool {
		return slices.EqualFunc(a, b, func(a, b string) bool {
			b = strings.TrimSuffix(b, " 00:00:00")
			x, err := strconv.ParseFloat(a, 64)
			y, err2 := strconv.ParseFloat(b, 64)
			return a == b || err == nil && err2 == nil && math.Abs(x-y) <= 1e-13*max(math.Abs(x), math.Abs(y))
		})
	})
}

// values are the lines of an answer, sorted as the record says: a row or, by valuesort, a value each.
func (r *record) values(rows [][]Value) (lines []string, err error) {
	for _, row := range rows {
		if len(row) != len(r.types) {
			return nil, fmt.Errorf("%d columns, want %d", len(row), len(r.types))
		}
		var line []string
		for i, v := range row {
			text, err := v.print(r.types[i])
			if err != nil {
				return nil, fmt.Errorf("column %d: %w", i+1, err)
			}
			line = append(line, text)
		}
		if r.sort == "valuesort" {
			lines = append(lines, line...)
		} else {
			lines = append(lines, strings.Join(line, "\t"))
		}
	}
	if r.sort != "nosort" {
		slices.Sort(lines)
	}
	return lines, nil
}

// print is a value as SQLite's runner prints one of that type.
func (v Value) print(kind byte) (string, error) {
	switch {
	case v.Null:
		return "NULL", nil
	case v.Text == "":
		return "(empty)", nil
	case kind == 'I':
		if _, err := strconv.ParseInt(v.Text, 10, 64); err != nil {
			return "", fmt.Errorf("%s is no integer: write T", v.Text)
		}
	case kind == 'R':
		x, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return "", fmt.Errorf("%s is no number: write T", v.Text)
		}
		return strconv.FormatFloat(x, 'f', 3, 64), nil
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' {
			return '@'
		}
		return c
	}, v.Text), nil
}
