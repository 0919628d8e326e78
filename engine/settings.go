package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// configuration is what SET changes for the statements that begin from then on.
type configuration struct {
	backend, join string
	assigned      []cost.Mode // nil: as is predicted to be the fastest
	rulesOff      rules.Off
	hostMemory    int64
	timeout       time.Duration
}

// asked is the configuration that [Open] was given.
func (c *core) asked() *configuration {
	return &configuration{backend: cmp.Or(c.opts.Backend, "auto"), join: join.Algorithms[0], hostMemory: c.opts.HostMemory, timeout: c.opts.StatementTimeout}
}

// now is the configuration of statements that begin now.
func (db *DB) now() *configuration { return db.config.Load() }

// unset is the configuration that RESET goes back to: of a session and a transaction that of the DB.
func (db *DB) unset() *configuration {
	if db.config == &db.shared {
		return db.asked()
	}
	return db.shared.Load()
}

// change changes the configuration; local does until the transaction's end alone.
func (db *DB) change(local bool, set func(*configuration)) {
	with := func(c *configuration) *configuration {
		changed := *c
		set(&changed)
		return &changed
	}
	if tx := db.tx; tx != nil {
		tx.mu.Lock()
		defer tx.mu.Unlock()
		if db.config.Store(with(db.now())); !local {
			tx.stays = with(tx.stays)
		}
		return
	}
	for old := db.now(); !db.config.CompareAndSwap(old, with(old)); old = db.now() {
	}
}

// apart is a DB with the same tables and a configuration of its own, until [DB.together].
func (db *DB) apart() *DB {
	own := &DB{core: db.core, tables: db.tables, plans: db.plans, statements: keptStatements(), config: &atomic.Pointer[configuration]{}}
	own.config.Store(db.now())
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	db.kept[own.statements] = true
	return own
}

// endPrivate ends the use of a DB that [DB.Private] gave.
func (db *DB) endPrivate() {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	delete(db.kept, db.statements)
}

// setting is a part of the configuration that SET changes.
type setting struct {
	name, help string
	get        func(c *configuration) string
	set        func(c *configuration, value string) error
	take       func(c, from *configuration) // the value of another one
}

// settings are those that there are, by name.
var settings = []setting{
	{"assignment", "who runs the operators of a statement on backend both: auto, as is predicted to be the fastest, or cpu, device or both; of a list the first word is for the first join, and the last one for all that are left",
		func(c *configuration) string { return assignmentText(c.assigned) },
		func(c *configuration, value string) (err error) {
			c.assigned, err = parseAssignment(value)
			return err
		},
		func(c, from *configuration) { c.assigned = from.assigned }},
	{"backend", "what computes the answer: auto, classic, fused, compute, cpu or both",
		func(c *configuration) string { return c.backend },
		func(c *configuration, value string) error { return oneOf(&c.backend, "backend", value, Backends()) },
		func(c, from *configuration) { c.backend = from.backend }},
	{"disable_rule", "rules that plans do without, as 'push filter, unnest'; SHOW RULES lists them",
		func(c *configuration) string { return c.rulesOff.String() },
		func(c *configuration, value string) (err error) {
			c.rulesOff, err = rules.ParseOff(value)
			return err
		},
		func(c, from *configuration) { c.rulesOff = from.rulesOff }},
	{"host_memory", "bytes for tables in host memory, and for sorting; 0 for half of what is free, once a statement has no room in that",
		func(c *configuration) string { return strconv.FormatInt(c.hostMemory, 10) },
		func(c *configuration, value string) (err error) {
			if c.hostMemory = 0; value != "0" {
				c.hostMemory, err = glctx.ParseSize(value)
			}
			return err
		},
		func(c, from *configuration) { c.hostMemory = from.hostMemory }},
	{"join", "the algorithm of joins: auto, perfect, hash, merge, loops or index; perfect is hash where keys are not dense, index on cpu is auto where there is none",
		func(c *configuration) string { return c.join },
		func(c *configuration, value string) error { return oneOf(&c.join, "join", value, join.Algorithms) },
		func(c, from *configuration) { c.join = from.join }},
	{"statement_timeout", "ends a statement that takes longer: milliseconds, or as '1.5s', '2min'; 0 for no limit",
		func(c *configuration) string { return durationText(c.timeout) },
		func(c *configuration, value string) (err error) {
			c.timeout, err = parseDuration(value)
			return err
		},
		func(c, from *configuration) { c.timeout = from.timeout }},
}

// oneOf sets a setting to one of some words.
func oneOf(to *string, name, value string, words []string) error {
	if !slices.Contains(words, value) {
		return sqlstate.Errorf(sqlstate.InvalidParameterValue, "engine: no %s %q: take one of %s", name, value, strings.Join(words, ", "))
	}
	*to = value
	return nil
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
	case "assignment":
		return []string{"auto", "cpu", "device", "both"}
	case "backend":
		return append([]string{"auto"}, Backends()...)
	case "join":
		return join.Algorithms
	case "disable_rule":
		for _, r := range rules.Rules {
			words = append(words, r.Name)
		}
	}
	return words
}

// off are the rules that statements are planned without.
func (db *DB) off() rules.Off { return db.now().rulesOff }

// setting executes SET, RESET or SHOW. What SET and RESET change is the DB's; of one that a transaction or a session has, theirs.
func (s *Statement) setting(ctx context.Context) (*Rows, error) {
	of, list := s.parsed.Setting, settings
	if of.Verb == "DISCARD" {
		return nil, s.described(sqlstate.Errorf(sqlstate.FeatureNotSupported, "DISCARD ALL is for a session: see DB.Session; RESET ALL takes the settings back"))
	}
	if all := of.Name == "all" && of.Verb != "SET"; !all {
		i := slices.IndexFunc(settings, func(x setting) bool { return x.name == of.Name })
		if i < 0 {
			return nil, s.described(expr.Coded(sqlstate.UndefinedObject, of.Pos, "unrecognized configuration parameter %q; there are %s", of.Name, strings.Join(Settings(), ", ")))
		}
		list = settings[i : i+1]
	}
	r := s.empty(ctx)
	if of.Verb != "SHOW" {
		if err := s.set(of, list); err != nil {
			return nil, s.described(err)
		}
		return r, nil
	}
	var rows valueRows
	for _, x := range list {
		if value := table.Str(x.get(s.db.now())); of.Name == "all" {
			rows = append(rows, []table.Value{table.Str(x.name), value, table.Str(x.help)})
			r.columns = textColumns("name", "setting", "description")
		} else {
			rows = append(rows, []table.Value{value})
			r.columns = textColumns(x.name)
		}
	}
	r.now = rows
	return r, nil
}

// set executes SET or RESET of some settings.
func (s *Statement) set(of *sql.Setting, list []setting) error {
	to := s.db.unset()
	if of.Verb == "SET" {
		to = &configuration{}
		if err := list[0].set(to, of.Value); err != nil {
			return expr.Coded(sqlstate.InvalidParameterValue, of.Pos, "invalid value for %s: %s", list[0].name, strings.TrimPrefix(err.Error(), "engine: "))
		}
	}
	if of.Local && s.db.tx == nil {
		s.db.note("SET LOCAL can only be used in transaction blocks: BEGIN comes first")
		return nil
	}
	s.db.change(of.Local, func(c *configuration) {
		for _, x := range list {
			x.take(c, to)
		}
	})
	return nil
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
		return 0, sqlstate.Errorf(sqlstate.InvalidParameterValue, `%q is no time: write milliseconds, or a number with the unit "us", "ms", "s", "min", "h" or "d", as in '2s'`, text)
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

// parseAssignment reads the modes of a statement's operators, one after the other; nil for auto.
func parseAssignment(text string) (list []cost.Mode, err error) {
	words := SettingValues("assignment")
	for _, word := range strings.Split(text, ",") {
		mode := ""
		if err := oneOf(&mode, "assignment", strings.TrimSpace(word), words); err != nil {
			return nil, err
		}
		if mode == words[0] && text != mode {
			return nil, fmt.Errorf("engine: the assignment %s stands alone", words[0])
		}
		if mode != words[0] {
			list = append(list, cost.Mode(slices.Index(words, mode)-1))
		}
	}
	return list, nil
}

func assignmentText(list []cost.Mode) string {
	if list == nil {
		return "auto"
	}
	var words []string
	for _, m := range list {
		words = append(words, m.String())
	}
	return strings.Join(words, ", ")
}

// told is the mode of an operator where SET says that; the last one counts for all that come after.
func (c *configuration) told(operator int) (mode cost.Mode, ok bool) {
	if len(c.assigned) == 0 {
		return mode, false
	}
	return c.assigned[min(operator, len(c.assigned)-1)], true
}
