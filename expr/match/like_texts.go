package match

import (
	"strings"

	"github.com/stencildb/stencildb/table/dictionary"
)

// Each calls found for the texts of a list that match, in their order. Of texts that lie one behind the other in memory
// it looks for a byte through all of them at once. That is the rarest of those that a match has.
func (m *Like) Each(list []string, found func(i int)) {
	const few = 64
	all, run, at, packed := "", "", 0, false
	if len(list) > few {
		run, at = m.rarest(list)
		all, packed = dictionary.Packed(list)
	}
	if !packed || run == "" {
		for i, s := range list {
			if m.Match(s) {
				found(i)
			}
		}
		return
	}
	for i, start, from := 0, 0, 0; ; { // text i begins at start
		k := strings.IndexByte(all[from:], run[at])
		if k < 0 {
			return
		}
		k += from
		for start+len(list[i]) <= k {
			start, i = start+len(list[i]), i+1
		}
		if from = k + 1; k-at < start || !strings.HasPrefix(list[i][k-at-start:], run) {
			continue
		}
		if m.Match(list[i]) {
			found(i)
		}
		from = start + len(list[i])
	}
}

// rarest is some bytes that all matches have, and which of them is the rarest in texts; none for ILIKE.
func (m *Like) rarest(list []string) (run string, at int) {
	const sample = 256
	if m.fold {
		return "", 0
	}
	var often [256]int
	for i := 0; i < len(list); i += max(1, len(list)/sample) {
		for k := range len(list[i]) {
			often[list[i][k]]++
		}
	}
	for _, r := range m.Runs() {
		for k := range len(r) {
			if run == "" || often[r[k]] < often[run[at]] {
				run, at = r, k
			}
		}
	}
	return run, at
}
