package querystats

import (
	"fmt"
	"strings"
	"time"
)

// Loading is what a statement waited for before its columns were resident and its programs compiled, by kind. What runs
// beside something else, as an upload while the next column is read, counts as that.
type Loading struct {
	Reading   time.Duration // files, to columns in memory
	Opening   time.Duration // the device
	Uploading time.Duration // columns to it
	Compiling time.Duration // programs, as far as the driver does that when it is asked to
}

// Total is the sum of the parts.
func (l Loading) Total() time.Duration { return l.Reading + l.Opening + l.Uploading + l.Compiling }

func (l Loading) Plus(m Loading) Loading {
	return Loading{l.Reading + m.Reading, l.Opening + m.Opening, l.Uploading + m.Uploading, l.Compiling + m.Compiling}
}

func (l Loading) Less(m Loading) Loading {
	return l.Plus(Loading{-m.Reading, -m.Opening, -m.Uploading, -m.Compiling})
}

// Parts are the parts in words; those that took nothing are left out.
func (l Loading) Parts() string {
	var list []string
	for _, p := range []struct {
		what string
		took time.Duration
	}{{"reading", l.Reading}, {"opening the device", l.Opening}, {"uploading", l.Uploading}, {"compiling", l.Compiling}} {
		if p.took > 0 {
			list = append(list, fmt.Sprintf("%s %.3f ms", p.what, 1e3*p.took.Seconds()))
		}
	}
	return strings.Join(list, ", ")
}
