package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// A sample says between which codes order statistics are, and few rows are between them. It says one code or nothing of small tables,
// and of columns of which many rows have the same value.
func TestASampleSaysWhereOrderStatisticsAre(t *testing.T) {
	big, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	b := table.NewBuilder("t", []table.Field{{Name: "random", Type: big}, {Name: "sorted", Type: big}, {Name: "periodic", Type: big},
		{Name: "skewed", Type: big}, {Name: "s", Type: text}, {Name: "one", Type: big}}, 150_000)
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 600_000
	for i := range rows {
		r := rng.Int64()
		b.Column(0).Value(table.Value{Type: big, I: r, Null: i%5 == 2})
		b.Column(1).Value(table.Value{Type: big, I: int64(i)})
		b.Column(2).Value(table.Value{Type: big, I: int64(i%64)<<20 + int64(i)/64})
		b.Column(3).Value(table.Value{Type: big, I: max(0, r%1000-900)})
		b.Column(4).Value(table.Str(fmt.Sprint(r % 50_000)))
		b.Column(5).Value(table.Value{Type: big, I: 7})
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(b.Table()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"CREATE TABLE c AS TABLE t", "DELETE FROM c WHERE sorted % 7 = 3"} {
		if _, err := Collect(db.Query(context.Background(), text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []string{"random", "sorted", "periodic", "skewed", "s", "one"} {
		for _, where := range []string{"", " WHERE sorted > 400000", " WHERE random > 0 AND sorted < 500000", " WHERE sorted = 17", " WHERE sorted < 0"} {
			for _, of := range []string{"MEDIAN(%s)", "percentile_disc(0.001) WITHIN GROUP (ORDER BY %s)", "percentile_disc(0.9) WITHIN GROUP (ORDER BY %s DESC)",
				"percentile_disc(0.099) WITHIN GROUP (ORDER BY %s DESC)", // of skewed just above the value of nine rows in ten
				"kth_largest(%s, 1)", "kth_largest(%s, 20000)", "kth_smallest(%s, 3000)", "kth_smallest(%s, 100000)"} {
				query := "SELECT " + fmt.Sprintf(of, column) + " FROM c" + where
				s, err := db.plan(context.Background(), query)
				if err != nil {
					t.Fatal(err)
				}
				near := backends.SampledSpans(s.plan)
				r, err := Collect(db.Query(context.Background(), query))
				if err != nil || len(r.Rows) != 1 || r.Rows[0][0].Null { // there are not so many values
					continue
				}
				span, ok := near[0]
				col := s.plan.Aggs[0].Col
				if !ok {
					if (column == "random" || column == "sorted" || column == "periodic") && where == "" {
						t.Errorf("%s: the sample says nothing", query)
					}
					continue
				}
				space := physical.NewCodeSpace(s.plan.Table, col)
				lo, hi := space.Value(span.Lo), space.Value(span.Hi)
				if v := r.Rows[0][0]; table.Compare(v, lo) < 0 || table.Compare(v, hi) > 0 {
					t.Errorf("%s: %v, the sample says %v to %v", query, v, lo, hi)
				}
				if lo, hi := fmt.Sprint(lo), fmt.Sprint(hi); span.Lo < span.Hi {
					if column == "s" {
						lo, hi = "'"+lo+"'", "'"+hi+"'"
					}
					n := answerText(db, fmt.Sprintf("SELECT COUNT(*) <= %d FROM c WHERE %s BETWEEN %s AND %s%s", rows/backends.SampledShare*3/2, column, lo, hi, andOf(where)))
					if n != "true" {
						t.Errorf("%s: too many rows are between %s and %s", query, lo, hi)
					}
				}
			}
		}
	}
}

func andOf(where string) string {
	if where == "" {
		return ""
	}
	return " AND" + where[len(" WHERE"):]
}

// Where a device declines to list the values between two codes, the digits of an order statistic are decided.
func TestOrderStatisticThatADeviceDoesNotList(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(chunked(t, 900)); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT MEDIAN(i) FROM t WHERE x < 70"
	s, err := db.plan(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	values, err := partial.Finish(partial.Stream(s.plan, partial.Visiting{
		Visits: []partial.Visit{partial.NewVisit(s.plan)},
		Visit:  func(_ *physical.Query, do func() error) error { return do() },
		Select: func(q *physical.Query, do func(partial.Selection) error) error {
			selected, err := cpu.New(1).Select(context.Background(), q)
			if err != nil {
				return err
			}
			return do(selected)
		},
		Brackets: backends.AssumedSpans(s.plan),
		Find: func(in, above *physical.Query, chunk int) (partial.BracketRows, error) {
			return partial.BracketRows{}, &plan.Declined{Why: "the conditions have too many constants"}
		},
	}), s.plan)
	if want := answerText(db, text); err != nil || len(values) != 1 || values[0].String() != want {
		t.Errorf("%v, %v, want %s", values, err, want)
	}
}
