package harness

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/table"
)

// rows runs a statement and prints its rows, numbers by their value: 2.0 is 2.
func (p *Peer) rows(text string) (out [][]string, err error) {
	rows, err := p.Values(text)
	for _, values := range rows {
		var row []string
		for _, v := range values {
			switch v := v.(type) {
			case nil:
				row = append(row, "NULL")
			case float64:
				row = append(row, table.Float(v).String())
			case []byte:
				row = append(row, string(v))
			case bool:
				row = append(row, strconv.Itoa(draw.Int(v)))
			case time.Time:
				row = append(row, v.Format(time.DateOnly))
			case fmt.Stringer: // a DECIMAL
				f, _ := strconv.ParseFloat(v.String(), 64)
				row = append(row, table.Float(f).String())
			default:
				row = append(row, fmt.Sprint(v))
			}
		}
		out = append(out, row)
	}
	return out, err
}

// printed writes a value as [Peer.rows] does.
func printed(v table.Value) string {
	switch {
	case v.Null:
	case v.Type.Kind == table.Boolean:
		return strconv.FormatInt(v.I, 10)
	case v.Type.Kind == table.Real:
		return table.Float(v.F).String()
	case v.Type.Kind == table.Decimal && v.Type.Scale > 0:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return table.Float(f).String()
	}
	return v.String()
}

// CheckText runs a statement word for word on every backend and on the peer; the
// scalar oracle runs what it binds to.
func (h *Harness) CheckText(t fataler, tab *table.Table, text string, p *Peer) {
	want, err := h.CheckCount(t, tab, text)
	if err != nil {
		h.Failed++
		return
	}
	h.Selected(want[0].I, tab)
	h.Compared++
	h.peerHas(t, tab, text, p, [][]table.Value{want})
}

// CheckGroups is CheckText of a statement with groups, which come in any order.
func (h *Harness) CheckGroups(t fataler, tab *table.Table, text string, p *Peer) {
	h.Queries++
	tree, err := Bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := reference.Groups(tab, tree)
	if !h.RowsAgree(t, tab, text, want, err) {
		return
	}
	h.Compared++
	h.peerHas(t, tab, text, p, want)
}

// peerHas checks that the peer has these rows, in any order.
func (h *Harness) peerHas(t fataler, tab *table.Table, text string, p *Peer, rows [][]table.Value) {
	var want [][]string
	for _, r := range rows {
		var row []string
		for _, v := range r {
			row = append(row, printed(v))
		}
		want = append(want, row)
	}
	got, err := p.rows(text)
	slices.SortFunc(got, slices.Compare)
	slices.SortFunc(want, slices.Compare)
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("%s\nthe peer has %v (%v), the engine %v\n%s", text, got, err, want, Dump(tab))
	}
}
