package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// setting is an option that SET changes for the statements that begin from then on.
type setting struct {
	name, help string
	get        func(db *DB) string
	set        func(db *DB, value string) error
	reset      func(db *DB) // to what [Open] was given
}

// settings are those that there are, by name.
var settings = []setting{
	{"backend", "what computes the answer: auto, classic, fused, compute, cpu or both", (*DB).Backend, (*DB).SetBackend,
		func(db *DB) { db.backend.Store(db.asked) }},
	{"disable_rule", "rules that plans do without, as 'push filter, unnest'; SHOW RULES lists them",
		func(db *DB) string { return db.off().String() },
		func(db *DB, value string) error {
			off, err := plan.ParseOff(value)
			if err == nil {
				db.rulesOff.Store(uint32(off))
			}
			return err
		},
		func(db *DB) { db.rulesOff.Store(0) }},
	{"host_memory", "bytes for tables in host memory, and for sorting; 0 for no limit",
		func(db *DB) string { return strconv.FormatInt(db.hostMemory.Load(), 10) },
		func(db *DB, value string) error {
			n, err := int64(0), error(nil)
			if value != "0" {
				n, err = glctx.ParseSize(value)
			}
			if err == nil {
				db.hostMemory.Store(n)
			}
			return err
		},
		func(db *DB) { db.hostMemory.Store(db.opts.HostMemory) }},
	{"join", "the algorithm of joins: auto, perfect, hash, merge, loops or index; perfect is hash where keys are not dense, index on cpu is auto where there is none",
		func(db *DB) string { return db.joinWay.get() },
		func(db *DB, value string) error {
			if !slices.Contains(cpu.JoinWays, value) {
				return fmt.Errorf("engine: no join %q: take one of %s", value, strings.Join(cpu.JoinWays, ", "))
			}
			db.joinWay.Store(value)
			return nil
		},
		func(db *DB) { db.joinWay.Store(cpu.JoinWays[0]) }},
	{"statement_timeout", "ends a statement that takes longer: milliseconds, or as '1.5s', '2min'; 0 for no limit",
		func(db *DB) string { return durationText(time.Duration(db.timeout.Load())) },
		func(db *DB, value string) error {
			d, err := parseDuration(value)
			if err == nil {
				db.timeout.Store(int64(d))
			}
			return err
		},
		func(db *DB) { db.timeout.Store(int64(db.opts.StatementTimeout)) }},
}

// Settings lists the names of the settings of SET.
func Settings() (names []string) {
	for _, x := range settings {
		names = append(names, x.name)
	}
	return names
}

// SettingValues lists the words that may stand in the value of a setting; nil for a number, or where there is no such setting.
func SettingValues(name string) (words []string) {
	switch name {
	case "backend":
		return append([]string{"auto"}, Backends()...)
	case "join":
		return cpu.JoinWays
	case "disable_rule":
		for _, r := range plan.Rules {
			words = append(words, r.Name)
		}
	}
	return words
}

// off are the rules that statements are planned without.
func (db *DB) off() plan.Off { return plan.Off(db.rulesOff.Load()) }

// setting executes SET, RESET or SHOW.
func (s *Statement) setting(ctx context.Context) (*Rows, error) {
	of, list := s.parsed.Setting, settings
	if all := of.Name == "all" && of.Verb != "SET"; !all {
		i := slices.IndexFunc(settings, func(x setting) bool { return x.name == of.Name })
		if i < 0 {
			return nil, s.described(expr.Errorf(of.Pos, "unrecognized configuration parameter %q; there are %s", of.Name, strings.Join(Settings(), ", ")))
		}
		list = settings[i : i+1]
	}
	r := s.empty(ctx)
	var rows valueRows
	for _, x := range list {
		switch {
		case of.Verb == "RESET":
			x.reset(s.db)
		case of.Verb == "SET":
			if err := x.set(s.db, of.Value); err != nil {
				return nil, s.described(expr.Errorf(of.Pos, "invalid value for %s: %s", x.name, strings.TrimPrefix(err.Error(), "engine: ")))
			}
		case of.Name == "all":
			rows = append(rows, []table.Value{table.Str(x.name), table.Str(x.get(s.db)), table.Str(x.help)})
			r.columns = textColumns("name", "setting", "description")
		default:
			rows = append(rows, []table.Value{table.Str(x.get(s.db))})
			r.columns = textColumns(x.name)
		}
	}
	if rows != nil {
		r.now = rows
	}
	return r, nil
}

func textColumns(names ...string) (list []Column) {
	for _, n := range names {
		list = append(list, Column{Name: n, Type: table.Type{Kind: table.Varchar}})
	}
	return list
}

// timeUnits are PostgreSQL's, the longest first.
var timeUnits = []struct {
	name string
	of   time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}}

// parseDuration reads a time as PostgreSQL's settings have it: a number of milliseconds, or
// one with a unit.
func parseDuration(text string) (time.Duration, error) {
	digits, unit := strings.TrimSpace(text), time.Millisecond
	for _, u := range slices.Backward(timeUnits) { // "us" before "s"
		if number, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(number), u.of
			break
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if n *= float64(unit); err != nil || !(n >= 0 && n < 1<<62) {
		return 0, fmt.Errorf(`%q is no time: write milliseconds, or a number with the unit "us", "ms", "s", "min", "h" or "d", as in '2s'`, text)
	}
	return time.Duration(n), nil
}

// durationText writes a time in the longest unit of which it is a whole number.
func durationText(d time.Duration) string {
	for _, u := range timeUnits {
		if d != 0 && d%u.of == 0 {
			return fmt.Sprintf("%d%s", d/u.of, u.name)
		}
	}
	if d != 0 {
		return d.String()
	}
	return "0"
}
