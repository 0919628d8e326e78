package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Sets of keys give what a statement for each of them gives, on every backend.
func TestGroupingSets(t *testing.T) {
	const aggregates = "COUNT(*), SUM(units), MEDIAN(price), COUNT(DISTINCT region), string_agg(region, ',')"
	for _, backend := range []string{"cpu", "compute", "classic"} {
		db := openSales(t, backend)
		for _, c := range []struct {
			by   string
			sets [][]string
		}{
			{"ROLLUP (region, day, paid)", [][]string{{"region", "day", "paid"}, {"region", "day"}, {"region"}, {}}},
			{"ROLLUP (region, (day, paid))", [][]string{{"region", "day", "paid"}, {"region"}, {}}},
			{"CUBE (region, paid)", [][]string{{"region", "paid"}, {"region"}, {"paid"}, {}}},
			{"GROUPING SETS ((region, day), paid, (), ())", [][]string{{"region", "day"}, {"paid"}, {}, {}}},
			{"GROUPING SETS (ROLLUP (region), CUBE (paid), day)", [][]string{{"region"}, {}, {"paid"}, {}, {"day"}}},
			{"region, ROLLUP (day, region)", [][]string{{"region", "day"}, {"region", "day"}, {"region"}}},
			{"ROLLUP (region), GROUPING SETS (paid, day)", [][]string{{"region", "paid"}, {"region", "day"}, {"paid"}, {"day"}}},
		} {
			keys := []string{"region", "day", "paid"}
			present := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !strings.Contains(c.by, k) })
			for _, where := range []string{"", " WHERE units > 3", " WHERE units > 1000"} {
				got := answerText(db, fmt.Sprintf("SELECT %s, GROUPING(%[1]s), %s FROM sales%s GROUP BY %s", strings.Join(present, ", "), aggregates, where, c.by))
				var want []string
				for _, set := range c.sets {
					items, mask := []string{}, 0
					for _, k := range present {
						mask *= 2
						if !slices.Contains(set, k) {
							k = "NULL"
							mask++
						}
						items = append(items, k)
					}
					text := fmt.Sprintf("SELECT %s, %d, %s FROM sales%s", strings.Join(items, ", "), mask, aggregates, where)
					if len(set) > 0 {
						text += " GROUP BY " + strings.Join(set, ", ")
					}
					if rows := answerText(db, text); rows != "" {
						want = append(want, strings.Split(rows, "; ")...)
					}
				}
				var have []string
				if got != "" {
					have = strings.Split(got, "; ")
				}
				slices.Sort(have)
				slices.Sort(want)
				if !slices.Equal(have, want) {
					t.Errorf("%s, GROUP BY %s%s:\n got %q\nwant %q", backend, c.by, where, have, want)
				}
			}
		}
	}
	db := openSales(t, "cpu")
	for text, want := range map[string]string{
		"SELECT region, SUM(units) FROM sales GROUP BY ROLLUP (region) HAVING GROUPING(region) = 1":                                  answerText(db, "SELECT NULL, SUM(units) FROM sales"),
		"SELECT coalesce(region, 'all'), COUNT(*) FROM sales WHERE region = 'east' GROUP BY CUBE (region) ORDER BY GROUPING(region)": strings.Join([]string{answerText(db, "SELECT 'east', COUNT(*) FROM sales WHERE region = 'east'"), answerText(db, "SELECT 'all', COUNT(*) FROM sales WHERE region = 'east'")}, "; "),
		"SELECT region, GROUPING(region) FROM sales WHERE region = 'east' GROUP BY region":                                           "east 0",
		"SELECT units % 2, COUNT(*) FROM sales WHERE units = 2 GROUP BY ROLLUP (units % 2) ORDER BY 2, 1":                            "", // below
	} {
		if want == "" {
			n := answerText(db, "SELECT COUNT(*) FROM sales WHERE units = 2")
			want = "0 " + n + "; NULL " + n
		}
		if got := answerText(db, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
