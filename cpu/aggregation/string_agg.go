package aggregation

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// texts are the places of the rows whose texts string_agg puts together, for each group.
type texts struct{ places [][]uint64 }

func (s *texts) Resize(groups int) { s.places = resized(s.places, groups) }

func (s *texts) Add(groups []uint32, _, places *expr.Vector) {
	for i, g := range groups {
		s.places[g] = append(s.places[g], uint64(places.Ints[i]))
	}
}

func (s *texts) Merge(o State, to []uint32) {
	for i, list := range o.(*texts).places {
		s.places[to[i]] = append(s.places[to[i]], list...)
	}
}

func (s *texts) Arrange() {}

// placedText is the text of a row, with what stands before it and what it is ordered by.
type placedText struct {
	text, before string
	keys         []table.Value
}

func (s *texts) Value(a expr.Aggregate, group uint32, t *table.Table) (table.Value, error) {
	if len(s.places[group]) == 0 {
		return table.Null(a.Type()), nil
	}
	slices.Sort(s.places[group])
	list, err := xslices.TryMap(s.places[group], func(place uint64) (placedText, error) { return placedAt(a, t, place) })
	if err != nil {
		return table.Null(a.Type()), err
	}
	slices.SortStableFunc(list, func(x, y placedText) int {
		for i, k := range a.Order {
			if c := k.Compare(x.keys[i], y.keys[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	if a.Distinct {
		list = slices.CompactFunc(list, func(x, y placedText) bool { return x.text == y.text })
	}
	var out strings.Builder
	for i, one := range list {
		if i > 0 {
			out.WriteString(one.before)
		}
		if out.WriteString(one.text); out.Len() > expr.MaxText {
			return table.Null(a.Type()), longText(a)
		}
	}
	return table.Str(out.String()), nil
}

// placedAt evaluates what an aggregate needs of a row. A separator that is NULL is none.
func placedAt(a expr.Aggregate, t *table.Table, place uint64) (one placedText, err error) {
	list := []expr.Expr{a.Argument(), a.Separator}
	for _, k := range a.Order {
		list = append(list, k.E)
	}
	values := make([]table.Value, len(list))
	for i, e := range list {
		if values[i], err = evaluate(e, t, place); err != nil {
			return one, err
		}
	}
	return placedText{values[0].S, values[1].S, values[2:]}, nil
}
