package ingest_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// meant is a column as somebody means it: the model that what is read is compared with.
type meant struct {
	name  string
	kind  table.Kind
	mixed bool     // numbers and text: it is read as text, and a note says so
	cells []string // as values print
	null  []bool
}

// kinds are what columns are drawn of: the text of their values, which prints as it is written.
var kinds = []struct {
	kind  table.Kind
	mixed bool
	cell  *rapid.Generator[string]
}{
	{table.BigInt, false, rapid.StringMatching(`-?[1-9][0-9]{0,15}`)},
	{table.Decimal, false, rapid.StringMatching(`-?[1-9][0-9]{0,6}[.][0-9]{2}`)},
	{table.Date, false, rapid.StringMatching(`20[0-9]{2}-0[1-9]-(1[0-9]|2[0-8])`)},
	{table.Boolean, false, rapid.SampledFrom([]string{"true", "false"})},
	{table.Varchar, false, rapid.StringMatching("[a-hé][a-hé ,;|\t\"\n]{0,6}")},
	{table.Varchar, false, rapid.StringMatching(`0[0-9]{1,5}`)},
	{table.Varchar, false, rapid.StringMatching(`[0-9]{2}E[0-9]{2}`)},
	{table.Varchar, true, rapid.SampledFrom([]string{"x", "17", "true", "2020-01-01", "-1.5"})},
}

// drawMeant draws a column.
func drawMeant(t *rapid.T, name string, rows int, quoted bool) meant {
	k := rapid.SampledFrom(kinds).Draw(t, "kind")
	m := meant{name: name, kind: k.kind}
	numbers, others := false, false
	for range rows {
		// Between quotes no text is NULL.
		null := (k.kind != table.Varchar || !quoted) && rapid.IntRange(0, 4).Draw(t, "null") == 0
		cell := ""
		if !null {
			cell = k.cell.Draw(t, "cell")
			isNumber := k.mixed && strings.ContainsAny(cell[:1], "1-")
			numbers, others = numbers || isNumber, others || !isNumber
		}
		m.cells, m.null = append(m.cells, cell), append(m.null, null)
	}
	m.mixed = k.mixed && numbers && others
	switch values := slices.DeleteFunc(slices.Clone(m.cells), func(s string) bool { return s == "" }); {
	case len(values) == 0:
		m.kind = table.Unknown
		if quoted && rows > 0 { // "" is an empty string where nothing is known to be else
			m.kind = table.Varchar
			clear(m.null)
		}
	case k.mixed && !m.mixed && numbers:
		m.kind = table.Decimal
		if !slices.Contains(values, "-1.5") {
			m.kind = table.BigInt
		} else {
			for i, c := range m.cells {
				m.cells[i] = strings.Replace(c, "17", "17.0", 1)
			}
		}
	case k.mixed && !m.mixed:
		same := func(s string) bool { return !slices.ContainsFunc(values, func(v string) bool { return v != s }) }
		if same("true") {
			m.kind = table.Boolean
		} else if same("2020-01-01") {
			m.kind = table.Date
		}
	}
	return m
}

// CSV of all kinds of columns, as one program or another writes it, is read as it was meant. Where numbers are mixed with text, a note
// names the column; with --strict it is an error.
func TestCSVAsPeopleWriteIt(t *testing.T) {
	defer ingest.BlockBytes(1 << 20)
	rapid.Check(t, func(t *rapid.T) {
		quoted := rapid.Bool().Draw(t, "quotes around everything")
		rows := rapid.IntRange(0, 12).Draw(t, "rows")
		var columns []meant
		for i := range rapid.IntRange(2, 4).Draw(t, "columns") {
			columns = append(columns, drawMeant(t, string(rune('p'+i)), rows, quoted))
		}
		delim := rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(t, "delimiter")
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")
		cell := func(s string, null bool) string {
			if quoted || strings.ContainsAny(s, ",;\t|\"\n") {
				return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
			}
			return s
		}
		blanks, inner := 0, 0
		var b strings.Builder
		blank := func() {
			if rapid.IntRange(0, 9).Draw(t, "blank") == 0 {
				b.WriteString(eol)
				blanks++
			}
		}
		line := func(of func(m meant) string) {
			blank()
			inner = blanks
			for i, m := range columns {
				if i > 0 {
					b.WriteString(delim)
				}
				b.WriteString(of(m))
			}
			b.WriteString(eol)
		}
		line(func(m meant) string { return cell(m.name, false) })
		for row := range rows {
			line(func(m meant) string { return cell(m.cells[row], m.null[row]) })
		}
		blank()
		text, s := b.String(), ingest.Source{}
		switch rapid.SampledFrom([]string{"", "mark", "latin1", "utf16"}).Draw(t, "encoding") {
		case "mark":
			text = "\ufeff" + text
		case "latin1":
			text, s.Encoding = strings.ReplaceAll(text, "é", "\xe9"), ingest.Latin1
		case "utf16":
			var wide []byte
			for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
				wide = append(wide, byte(c>>8), byte(c))
			}
			text, s.Encoding = string(wide), ingest.UTF16
		}
		ingest.BlockBytes(rapid.SampledFrom([]int{16, 64, 1 << 20}).Draw(t, "block"))
		var notes []string
		tab, err := loadText(text, s, ingest.Options{Note: func(n string) { notes = append(notes, n) }})
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		check(t, tab)
		if tab.Rows() != rows || len(tab.Fields) != len(columns) {
			t.Fatalf("%d rows of %s in %q", tab.Rows(), typesOf(tab), text)
		}
		said, mixed := strings.Join(notes, "\n"), false
		for i, m := range columns {
			if tab.Fields[i].Name != m.name || tab.Fields[i].Type.Kind != m.kind {
				t.Fatalf("column %s is %s %s, want %v, in %q", m.name, tab.Fields[i].Name, tab.Fields[i].Type, m.kind, text)
			}
			for row, v := range valuesOf(tab, i) {
				if v.Null != m.null[row] || !v.Null && v.String() != m.cells[row] {
					t.Fatalf("row %d of %s is %v, want %q, in %q", row, m.name, v, m.cells[row], text)
				}
			}
			mixed = mixed || m.mixed
			noted := func(n string) bool {
				return strings.Contains(n, fmt.Sprintf("(%s):", m.name)) && strings.Contains(n, "is no number")
			}
			if m.mixed != slices.ContainsFunc(notes, noted) {
				t.Fatalf("column %s is mixed: %v, said %q of %q", m.name, m.mixed, said, text)
			}
		}
		if (inner > 0) != strings.Contains(said, "left out") {
			t.Fatalf("%d blank lines, said %q of %q", inner, said, text)
		}
		if _, err := loadText(text, s, ingest.Options{Strict: true}); (err != nil) != mixed {
			t.Fatalf("mixed is %v: %v", mixed, err)
		}
	})
}

// What is written of text is read as text, whatever it looks like. So are the other types, but for what they have no sign of in the
// text.
func TestCSVWrittenIsReadBack(t *testing.T) {
	texts := rapid.OneOf(values, rapid.SampledFrom([]string{"NULL", "NA", "N/A", `\N`, "null", "007", "1e3", "1E5", "12", " 12 ", "2020-01-01", "true", "", "x", "a,b", "é\n", "\ufeff"}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "columns")
		s := ingest.Source{Header: ingest.HeaderThere, Delim: ','}
		quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
		var b strings.Builder
		for i := range n {
			name := fmt.Sprintf("%c%d", 'a'+i, i) + rapid.SampledFrom([]string{"", ",b", `"`, "\n", " c", ";"}).Draw(t, "name")
			s.Types = append(s.Types, ingest.ColumnType{Name: name, Type: table.Type{Kind: table.Varchar}})
			b.WriteString(strings.Repeat(",", min(i, 1)) + quote(name))
		}
		for range rapid.IntRange(1, 8).Draw(t, "rows") {
			b.WriteByte('\n')
			for i := range n {
				b.WriteString(strings.Repeat(",", min(i, 1)))
				if null := rapid.IntRange(0, 5).Draw(t, "null") == 0; !null || n == 1 {
					b.WriteString(quote(strings.ToValidUTF8(texts.Draw(t, "text"), "")))
				}
			}
		}
		want := mustLoad(t, b.String(), s)
		var out bytes.Buffer
		if err := ingest.WriteCSV(&out, want); err != nil {
			t.Fatal(err)
		}
		got := mustLoad(t, out.String(), ingest.Source{})
		for i := range want.Fields { // a column of NULLs alone has no type
			if !slices.ContainsFunc(valuesOf(want, i), func(v table.Value) bool { return !v.Null }) {
				want.Fields[i].Type = got.Fields[i].Type
			}
		}
		if typesOf(got) != typesOf(want) || rowsOf(got) != rowsOf(want) {
			t.Fatalf("%q: got %s\n%s\nwant %s\n%s", out.String(), typesOf(got), rowsOf(got), typesOf(want), rowsOf(want))
		}
	})
}
