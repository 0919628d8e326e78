package generate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

// Parameters of TPC-H are those that its rules allow, and all of them come.
func TestParametersOfTPCH(t *testing.T) {
	date := func(pattern string) string { return `^(` + pattern + `)-01$` }
	year := `^199[3-7]-01-01$`
	rules := map[string]map[string]struct {
		pattern string
		values  int // how many there are
	}{
		"q01": {"delta": {`^(60|[6-9]\d|1[01]\d|120)$`, 61}},
		"q02": {"size": {`^([1-9]|[1-4]\d|50)$`, 50}, "type": {`^(TIN|NICKEL|BRASS|STEEL|COPPER)$`, 5}, "region": {`^[A-Z ]+$`, 5}},
		"q03": {"segment": {`^[A-Z]+$`, 5}, "date": {`^1995-03-(0[1-9]|[12]\d|3[01])$`, 31}},
		"q04": {"date": {date(`199[3-6]-\d\d|1997-(0[1-9]|10)`), 58}},
		"q05": {"region": {`^[A-Z ]+$`, 5}, "date": {year, 5}},
		"q06": {"date": {year, 5}, "discount": {`^0\.0[2-9]$`, 8}, "quantity": {`^2[45]$`, 2}},
		"q07": {"nation1": {`^[A-Z ]+$`, 25}, "nation2": {`^[A-Z ]+$`, 25}},
		"q08": {"nation": {`^[A-Z ]+$`, 25}, "region": {`^[A-Z ]+$`, 5}, "type": {`^[A-Z]+ [A-Z]+ [A-Z]+$`, 150}},
		"q09": {"color": {`^[a-z]+$`, 92}},
		"q10": {"date": {date(`1993-(0[2-9]|1[0-2])|1994-\d\d|1995-01`), 24}},
		"q11": {"nation": {`^[A-Z ]+$`, 25}},
		"q12": {"shipmode1": {`^[A-Z ]+$`, 7}, "shipmode2": {`^[A-Z ]+$`, 7}, "date": {year, 5}},
		"q13": {"word1": {`^(special|pending|unusual|express)$`, 4}, "word2": {`^(packages|requests|accounts|deposits)$`, 4}},
		"q14": {"date": {date(`199[3-7]-\d\d`), 60}},
		"q15": {"date": {date(`199[3-6]-\d\d|1997-(0[1-9]|10)`), 58}},
		"q16": {"brand": {`^Brand#[1-5][1-5]$`, 25}, "type": {`^[A-Z]+ [A-Z]+$`, 30}, "size1": {`^\d+$`, 50}, "size2": {`^\d+$`, 50}, "size3": {`^\d+$`, 50}, "size4": {`^\d+$`, 50},
			"size5": {`^\d+$`, 50}, "size6": {`^\d+$`, 50}, "size7": {`^\d+$`, 50}, "size8": {`^\d+$`, 50}},
		"q17": {"brand": {`^Brand#[1-5][1-5]$`, 25}, "container": {`^[A-Z]+ [A-Z]+$`, 40}},
		"q18": {"quantity": {`^31[2-5]$`, 4}},
		"q19": {"brand1": {`^Brand#[1-5][1-5]$`, 25}, "brand2": {`^Brand#[1-5][1-5]$`, 25}, "brand3": {`^Brand#[1-5][1-5]$`, 25},
			"quantity1": {`^([1-9]|10)$`, 10}, "quantity2": {`^(1\d|20)$`, 11}, "quantity3": {`^(2\d|30)$`, 11}},
		"q20": {"color": {`^[a-z]+$`, 92}, "date": {year, 5}, "nation": {`^[A-Z ]+$`, 25}},
		"q21": {"nation": {`^[A-Z ]+$`, 25}},
		"q22": {"code1": {`^(1\d|2\d|3[0-4])$`, 25}, "code2": {`^(1\d|2\d|3[0-4])$`, 25}, "code3": {`^(1\d|2\d|3[0-4])$`, 25}, "code4": {`^(1\d|2\d|3[0-4])$`, 25},
			"code5": {`^(1\d|2\d|3[0-4])$`, 25}, "code6": {`^(1\d|2\d|3[0-4])$`, 25}, "code7": {`^(1\d|2\d|3[0-4])$`, 25}},
	}
	if len(rules) != 22 {
		t.Fatalf("%d queries", len(rules))
	}
	for query, rule := range rules {
		r, seen, patterns := rand.New(rand.NewPCG(1, 1)), map[string]map[string]bool{}, map[string]*regexp.Regexp{}
		for name, of := range rule {
			patterns[name] = regexp.MustCompile(of.pattern)
		}
		for range 3000 {
			p := DrawTPCH(query, r)
			if !slices.Equal(slices.Sorted(maps.Keys(p)), slices.Sorted(maps.Keys(rule))) {
				t.Fatalf("%s has %v", query, p)
			}
			different := map[string]bool{}
			for name, value := range p {
				if seen[name] == nil {
					seen[name] = map[string]bool{}
				}
				seen[name][value] = true
				different[value] = true
				if !patterns[name].MatchString(value) {
					t.Fatalf("%s: %s is %q", query, name, value)
				}
			}
			if slices.Contains([]string{"q07", "q12", "q16", "q22"}, query) && len(different) != len(p) {
				t.Fatalf("%s has the same twice: %v", query, p)
			}
			if query == "q08" {
				i := slices.IndexFunc(nations, func(n struct {
					name   string
					region int
				}) bool {
					return n.name == p["nation"]
				})
				if regions[nations[i].region] != p["region"] {
					t.Fatalf("%s lies in %s", p["nation"], p["region"])
				}
			}
		}
		for name, values := range rule {
			if len(seen[name]) != values.values {
				t.Errorf("%s: %s had %d values, want %d", query, name, len(seen[name]), values.values)
			}
		}
	}
}

// The eight brands of q2.2 are eight neighbours.
func TestBrandsOfSSB(t *testing.T) {
	var brands []string
	for m := range 25 {
		for b := range 40 {
			brands = append(brands, fmt.Sprintf("MFGR#%d%d%d", 1+m/5, 1+m%5, 1+b))
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		p, n := DrawSSB("q2.2", r), 0
		for _, b := range brands {
			if b >= p["from"] && b <= p["to"] {
				n++
			}
		}
		if n != 8 {
			t.Fatalf("%d brands from %s to %s", n, p["from"], p["to"])
		}
		if b := DrawSSB("q2.3", r)["brand"]; !slices.Contains(brands, b) {
			t.Fatalf("there is no brand %s", b)
		}
	}
}
