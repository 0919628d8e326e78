package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// answer is what one of the two says of a statement: its columns' types, and its rows as text, NULL as a nil.
type answer struct {
	types []string
	rows  [][]*string
	code  string // SQLSTATE of the error
	err   error
}

// pair is the engine and PostgreSQL with the same tables.
type pair struct {
	db    *engine.DB
	peer  *pgconn.PgConn
	tally tally
}

// tally counts statements.
type tally struct {
	compared, refused, bothRefused, unclear int
}

func (n *tally) String() string {
	return fmt.Sprintf("%d statements with the same answer, %d that the engine refuses by name, %d that both refuse, %d that raise an error at run time",
		n.compared, n.refused, n.bothRefused, n.unclear)
}

// fataler is what fails a test.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// openPair opens a DB without tables and a connection.
func openPair(t fataler) *pair {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	peer, err := postgresql.connect()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &pair{db: db, peer: peer}
}

func (p *pair) close() error {
	return errors.Join(p.db.Close(), p.peer.Close(context.Background()))
}

// both runs statements on both, which must succeed.
func (p *pair) both(t fataler, script string) {
	t.Helper()
	for rows, err := range p.db.Session().Each(context.Background(), script) {
		if err != nil {
			t.Fatalf("%s\n%v", script, err)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s\n%v", script, err)
		}
	}
	if _, err := p.peer.Exec(context.Background(), script).ReadAll(); err != nil {
		t.Fatalf("PostgreSQL: %s\n%v", script, err)
	}
}

// typeNames are PostgreSQL's type OIDs.
var typeNames = map[uint32]string{
	16: "boolean", 20: "bigint", 21: "smallint", 23: "integer", 25: "text", 1042: "text", 1043: "text", 705: "text", 1700: "numeric",
	700: "real", 701: "double precision", 1082: "date", 1083: "time", 1114: "timestamp", 1184: "timestamptz", 1186: "interval",
}

// ofPostgreSQL runs a statement there.
func (p *pair) ofPostgreSQL(text string) (a answer) {
	rows := p.peer.ExecParams(context.Background(), text, nil, nil, nil, nil)
	for rows.NextRow() {
		var texts []*string
		for _, v := range rows.Values() {
			if v == nil {
				texts = append(texts, nil)
				continue
			}
			s := string(v)
			texts = append(texts, &s)
		}
		a.rows = append(a.rows, texts)
	}
	for _, f := range rows.FieldDescriptions() {
		name, ok := typeNames[f.DataTypeOID]
		if !ok {
			name = fmt.Sprintf("type %d", f.DataTypeOID)
		}
		a.types = append(a.types, name)
	}
	_, a.err = rows.Close()
	a.code = codeOf(a.err)
	return a
}

// codeOf is the SQLSTATE of an error of PostgreSQL or of the engine; "" where there is none.
func codeOf(err error) string {
	var e interface{ SQLState() string }
	if !errors.As(err, &e) {
		return ""
	}
	return e.SQLState()
}

// ofEngine runs a statement here, on a backend.
func (p *pair) ofEngine(backend, text string) (a answer) {
	if err := p.db.SetBackend(backend); err != nil {
		return answer{err: err, code: codeOf(err)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return read(p.db.Query(ctx, text))
}

// read takes the rows of a statement.
func read(rows *engine.Rows, err error) (a answer) {
	if err != nil {
		return answer{err: err, code: codeOf(err)}
	}
	defer rows.Close()
	for _, c := range rows.Columns() {
		a.types = append(a.types, shortName(c.Type))
	}
	for rows.Next() {
		var texts []*string
		for _, v := range rows.Values() {
			if v.Null {
				texts = append(texts, nil)
				continue
			}
			s := v.String()
			if v.Type.Kind == table.Boolean {
				s = s[:1]
			}
			texts = append(texts, &s)
		}
		a.rows = append(a.rows, texts)
	}
	a.err = rows.Err()
	a.code = codeOf(a.err)
	return a
}

// shortName is the name of a type without its modifiers, as [typeNames] has them.
func shortName(t table.Type) string {
	switch t.Kind {
	case table.Decimal:
		return "numeric"
	case table.Varchar:
		return "text"
	case table.Timestamp:
		return "timestamp"
	}
	return t.String()
}

// atRunTime says whether an error depends on which rows are looked at.
func atRunTime(a answer) bool {
	return strings.HasPrefix(a.code, "21") || strings.HasPrefix(a.code, "22")
}

// difference says how the answers differ, or "".
func (p *pair) difference(text, backend string, want, got answer, ordered bool) string {
	switch {
	case want.err != nil && got.err != nil:
		p.tally.bothRefused++
		// A drawn statement has at times several faults, of which either finds another one first: its class is the same. See runCases.
		if strings.HasPrefix(got.code, want.code[:2]) || atRunTime(want) && atRunTime(got) || knownCode(want, got) {
			return ""
		}
		return fmt.Sprintf("PostgreSQL refuses with %v, %s with %s: %v", want.err, backend, got.code, got.err)
	case want.err != nil && atRunTime(want), got.err != nil && atRunTime(got):
		p.tally.unclear++
		return ""
	case want.err != nil:
		if knownAccepted(text, want.err) {
			p.tally.bothRefused++
			return ""
		}
		return fmt.Sprintf("PostgreSQL refuses (%v), %s gives %s", want.err, backend, got.print())
	case got.err != nil:
		if backend != "cpu" && strings.Contains(got.err.Error(), "--backend") || knownRefused(got.err) {
			p.tally.refused++
			return ""
		}
		return fmt.Sprintf("%s: %v\nPostgreSQL gives %s", backend, got.err, want.print())
	}
	if len(want.types) != len(got.types) {
		return fmt.Sprintf("columns: PostgreSQL %v, %s %v", want.types, backend, got.types)
	}
	for i, name := range want.types {
		if name != got.types[i] && !(name == "numeric" && got.types[i] == "double precision") {
			return fmt.Sprintf("types: PostgreSQL %v, %s %v", want.types, backend, got.types)
		}
	}
	a, b := want.comparable(want.types, got.types), got.comparable(want.types, got.types)
	if !ordered {
		slices.SortFunc(a, slices.Compare)
		slices.SortFunc(b, slices.Compare)
	}
	if !slices.EqualFunc(a, b, slices.Equal) && !near(a, b) {
		return fmt.Sprintf("PostgreSQL gives %s\n%s gives %s", want.print(), backend, got.print())
	}
	p.tally.compared++
	return ""
}

// print shows types and rows, at most thirty.
func (a answer) print() string {
	var b strings.Builder
	fmt.Fprint(&b, strings.Join(a.types, ", "), "; ", len(a.rows), " rows")
	for _, row := range a.rows[:min(len(a.rows), 30)] {
		b.WriteString("\n   ")
		for _, v := range row {
			if v == nil {
				b.WriteString(" NULL")
			} else {
				b.WriteString(" " + strconv.Quote(*v))
			}
		}
	}
	return b.String()
}

// comparable are the rows with floating-point numbers as fifteen digits, so that they sort alike.
func (a answer) comparable(want, got []string) (out [][]string) {
	for _, row := range a.rows {
		var texts []string
		for i, v := range row {
			switch {
			case v == nil:
				texts = append(texts, "NULL")
			case want[i] == "double precision" || want[i] == "real" || want[i] != got[i]:
				f, err := strconv.ParseFloat(*v, 64)
				if err != nil && !errors.Is(err, strconv.ErrRange) {
					panic(err)
				}
				texts = append(texts, "~"+strconv.FormatFloat(f+0, 'g', 13, 64))
			case want[i] == "numeric" && strings.Contains(*v, "."): // a column's scale is its type's here, its value's there
				texts = append(texts, "="+strings.TrimRight(strings.TrimRight(*v, "0"), "."))
			default:
				texts = append(texts, "="+*v)
			}
		}
		out = append(out, texts)
	}
	return out
}

// near says whether rows are alike but for the last digits of floating-point numbers that were rounded apart.
func near(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool {
		return slices.EqualFunc(x, y, func(s, t string) bool {
			if s == t {
				return true
			}
			if s[0] != '~' || t[0] != '~' {
				return false
			}
			f, _ := strconv.ParseFloat(s[1:], 64)
			g, _ := strconv.ParseFloat(t[1:], 64)
			return math.Abs(f-g) <= 1e-11*max(math.Abs(f), math.Abs(g))
		})
	})
}

// tableRows are the rows of a table on both sides, which a change must leave alike.
func (p *pair) tableRows(name string) (want, got answer) {
	text := "SELECT * FROM " + name
	return p.ofPostgreSQL(text), p.ofEngine("cpu", text)
}

// alike says whether a table has the same rows on both sides.
func (p *pair) alike(name string) bool {
	want, got := p.tableRows(name)
	before := p.tally
	defer func() { p.tally = before }()
	return p.difference("", "", want, got, false) == ""
}
