package workload

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// Parameters of a script are drawn within their rules, the same name with the same value, in quotes as they are.
func TestParametersOfAScript(t *testing.T) {
	const script = `SELECT {n:-3..-1}, '{n}', {x:0.5..1.25}, {d:2024-02-28..2024-03-01}, '{d}', "{c:a|b c}", {c} -- {n:9..10}
		/* {k:1..2} */, '{"j": 1}', {z}, $q$ {n:-3..-1} ' $q$, {big:0..9223372036854775807}`
	tab, err := ParseTemplate(script)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^SELECT \((-[123])\), '(-[123])', ((?:0\.[5-9]|1\.[012])\d), DATE '(2024-0[23]-\d\d)', '(2024-0[23]-\d\d)', "(a|b c)", (a|b c) -- \{n:9\.\.10\}
		/\* \{k:1\.\.2\} \*/, '\{"j": 1\}', \{z\}, \$q\$ (-[123]) ' \$q\$, \d+$`)
	r, seen := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	for range 300 {
		text := tab.Substitute(r).Text
		m := want.FindStringSubmatch(text)
		if m == nil || m[1] != m[2] || m[1] != m[8] || m[4] != m[5] || m[6] != m[7] {
			t.Fatalf("%q: %q", text, m)
		}
		seen[m[1]], seen[m[4]], seen[m[6]], seen[m[3]] = true, true, true, true
	}
	for _, v := range []string{"-3", "-1", "2024-02-28", "2024-02-29", "2024-03-01", "a", "b c", "0.50", "1.25"} {
		if !seen[v] {
			t.Errorf("%s was never drawn", v)
		}
	}
}
