package hsu

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

var (
	//go:embed select.comp
	selectText string
	//go:embed group.comp
	groupText string
)

// The steps of an operation that a [Clock] takes.
const (
	selecting = "selection"
	grouping  = "grouping"
	doubling  = "doubling"
)

// ordered is what integers are ordered by as unsigned words.
var ordered = primitives.Expr("x ^ 0x80000000u")

// SetSelectFlag gives a flag for each record, 1 where it meets the condition (figures 3-4 to 3-6): one dispatch a token of its postfix.
func (db *DB) SetSelectFlag(t *Table, infix []Token) (flags primitives.Vector, err error) {
	postfix, err := Postfix(infix)
	if err != nil {
		return flags, err
	}
	size := levels(postfix) * t.N
	if most := db.most(); size > most {
		return flags, fmt.Errorf("hsu: the stacks of %d records take %d bytes, a storage block of the device holds %d", t.N, 4*size, 4*most)
	}
	stack, top := primitives.New(max(1, size)), primitives.Zeros(max(1, t.N))
	for _, token := range postfix {
		u := []shaders.Uniform{shaders.Uint("column", uint32(token.Column)), shaders.Uint("capacity", uint32(t.Capacity)), shaders.Int("value", token.Value)}
		if err := db.launch(selects(token), "SetSelectFlag", t.N, u, stack, top, t.data); err != nil {
			return flags, err
		}
	}
	return stack.First(t.N), nil
}

// selects is the kernel of a token.
func selects(t Token) kernel {
	return kernel{"select.comp", selectText, map[Kind][]string{Operand: {"OPERAND", "COMPARE " + comparisons[t.Compare].glsl}, And: {"AND"}, Or: {"OR"}}[t.Kind]}
}

// reverse is the kernel that makes flags of those that are not selected.
func reverse() kernel { return kernel{"select.comp", selectText, []string{"REVERSE"}} }

// addresses are the places of flagged elements, from 1: the prefix sum of the flags, whose last value is their number.
func (db *DB) addresses(flags primitives.Vector) (places primitives.Vector, total int, err error) {
	places = primitives.New(max(1, flags.N))
	if flags.N == 0 {
		return places, 0, db.Store.Reside(places.Block)
	}
	if err := db.Store.Copy(places.Block, flags.Block); err != nil {
		return places, 0, err
	}
	last, err := db.scanner().Inclusive(scan.Uint(primitives.Add), scan.Array{Block: places, N: flags.N})
	if err != nil {
		return places, 0, err
	}
	total, err = db.word(last)
	return places, total, err
}

// move moves the flagged records of a table behind the last record of another one, a dispatch a column (figure 3-7).
func (db *DB) move(from, to *Table, flags, places primitives.Vector, n int) error {
	if n == 0 {
		return nil
	}
	for c := range from.Columns {
		if err := db.launch(move("SELECTED"), "MoveSelected", from.N, []shaders.Uniform{shaders.Uint("column", uint32(c)), shaders.Uint("capacity", uint32(from.Capacity)),
			shaders.Uint("target_capacity", uint32(to.Capacity)), shaders.Uint("after", uint32(to.N))}, from.data, to.data, flags, places); err != nil {
			return err
		}
	}
	to.N += n
	return nil
}

// MoveSelected gives a new table of the flagged records, which has room for no more (figure 3-7).
func (db *DB) MoveSelected(ctx context.Context, t *Table, flags primitives.Vector) (*Table, error) {
	places, n, err := db.addresses(flags)
	if err != nil {
		return nil, err
	}
	return db.made(ctx, t.Columns, n, func(result *Table) error { return db.move(t, result, flags, places, n) })
}

// made is a new table of so many records that fill fills.
func (db *DB) made(ctx context.Context, columns []string, capacity int, fill func(*Table) error) (*Table, error) {
	t, err := db.newTable(ctx, columns, capacity)
	if err != nil {
		return nil, err
	}
	if err := fill(t); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// column copies a column to an array.
func (db *DB) column(t *Table, c int) (primitives.Vector, error) {
	v := primitives.New(max(1, t.N))
	v.N = t.N
	return v, db.launch(move("COPY"), "copy of the key", t.N, []shaders.Uniform{shaders.Uint("column", uint32(c)), shaders.Uint("capacity", uint32(t.Capacity))}, t.data, v)
}

// SortData gives a new table of the records in the order of a column (figures 3-9 and 3-10). Key and index are sorted, the columns follow.
func (db *DB) SortData(ctx context.Context, t *Table, key int) (*Table, error) {
	return db.made(ctx, t.Columns, t.N, func(result *Table) error {
		result.N = t.N
		if t.N == 0 {
			return nil
		}
		keys, err := db.column(t, key)
		if err != nil {
			return err
		}
		index := primitives.New(t.N)
		if err := primitives.Sort(db.GL, db.Shapes, primitives.Keys{Words: keys, Of: ordered}, primitives.Vector{}, index); err != nil {
			return err
		}
		return db.launch(move("INDEXED"), "mvSort", t.N, []shaders.Uniform{shaders.Uint("columns", uint32(len(t.Columns))), shaders.Uint("capacity", uint32(t.Capacity)),
			shaders.Uint("target_capacity", uint32(result.Capacity))}, t.data, result.data, primitives.Vector{}, index)
	})
}

// Aggregate is an aggregate function.
type Aggregate string

// The functions of table 3-1.
const (
	Sum   Aggregate = "SUM"
	Max   Aggregate = "MAX"
	Min   Aggregate = "MIN"
	Count Aggregate = "COUNT"
	Avg   Aggregate = "AVG"
)

// operators are those of the segmented scans; a sum wraps at 2^32.
var operators = map[Aggregate]scan.Operator{
	Sum: integerOperator("sum", "a + b", "0"), Avg: integerOperator("sum", "a + b", "0"),
	Max: integerOperator("max", "max(a, b)", "int(0x80000000u)"), Min: integerOperator("min", "min(a, b)", "0x7fffffff"),
}

func integerOperator(name, expr, identity string) scan.Operator {
	return scan.Operator{Type: "int", Operator: primitives.Operator{Name: name, Expr: expr, Identity: identity}}
}

// groupKernels set the flags and bring values to the order of the groups, and move the last element of each group to the result.
func groupKernels(f Aggregate) (begin, finish kernel) {
	begin, finish = kernel{"group.comp", groupText, []string{"BEGIN"}}, kernel{"group.comp", groupText, []string{"FINISH"}}
	if f != Count {
		begin.defines = append(begin.defines, "VALUES")
	}
	if f == Count || f == Avg {
		begin.defines = append(begin.defines, "COUNTS")
	}
	if f == Avg {
		finish.defines = append(finish.defines, "AVERAGE")
	}
	return begin, finish
}

// GroupData gives a new table of the groups of a column in its order, each with an aggregate of another one (figures 3-11 to 3-14).
func (db *DB) GroupData(ctx context.Context, t *Table, group, value int, f Aggregate) (*Table, error) {
	names := []string{t.Columns[group], string(f)}
	if t.N == 0 {
		return db.newTable(ctx, names, 0)
	}
	n := t.N
	keys, err := db.column(t, group)
	if err != nil {
		return nil, err
	}
	sorted, index := primitives.New(n), primitives.New(n)
	if err := primitives.Sort(db.GL, db.Shapes, primitives.Keys{Words: keys, Of: ordered}, sorted, index); err != nil {
		return nil, err
	}
	begin, finish := groupKernels(f)
	flags, values, counts := primitives.New(n+1), primitives.New(n), primitives.New(n)
	if err := db.launch(begin, "setGrpInput", n+1, []shaders.Uniform{shaders.Uint("column", uint32(value)), shaders.Uint("capacity", uint32(t.Capacity))}, flags, sorted, index, t.data, values, counts); err != nil {
		return nil, err
	}
	segmented := func(o scan.Operator, v primitives.Vector) error {
		_, err := db.scanner().Inclusive(o, scan.Array{Block: v, N: n, Heads: flags.First(n)})
		return err
	}
	if f != Count {
		if err := segmented(operators[f], values); err != nil {
			return nil, err
		}
	}
	if f == Count || f == Avg {
		if err := segmented(operators[Sum], counts); err != nil {
			return nil, err
		}
	}
	places, groups, err := db.addresses(flags.First(n))
	if err != nil {
		return nil, err
	}
	if f == Count {
		values = counts
	}
	return db.made(ctx, names, groups, func(result *Table) error {
		result.N = groups
		return db.launch(finish, "mvGrp", n+1, []shaders.Uniform{shaders.Uint("target_capacity", uint32(result.Capacity))}, flags, sorted, places, values, counts, result.data)
	})
}

// selected is the selection of an operation: flags, and the table of the records that have one.
func (db *DB) selected(ctx context.Context, t *Table, where []Token) (result *Table, err error) {
	err = db.step(selecting, func() error {
		flags, err := db.SetSelectFlag(t, where)
		if err == nil {
			result, err = db.MoveSelected(ctx, t, flags)
		}
		return err
	})
	return result, err
}

// then makes a further table of what a query has selected; nil leaves it as it is.
type then func(ctx context.Context, selected *Table) (*Table, error)

func (db *DB) sorting(key int) then {
	return func(ctx context.Context, selected *Table) (*Table, error) { return db.SortData(ctx, selected, key) }
}

func (db *DB) grouping(group, value int, f Aggregate) then {
	return func(ctx context.Context, selected *Table) (result *Table, err error) {
		err = db.step(grouping, func() error {
			result, err = db.GroupData(ctx, selected, group, value, f)
			return err
		})
		return result, err
	}
}

// Select is SELECT * FROM t WHERE: the result goes to host memory.
func (db *DB) Select(ctx context.Context, t *Table, where []Token) (Records, error) {
	return db.answer(ctx, t, where, nil)
}

// SelectSorted is SELECT * FROM t WHERE ORDER BY key.
func (db *DB) SelectSorted(ctx context.Context, t *Table, where []Token, key int) (Records, error) {
	return db.answer(ctx, t, where, db.sorting(key))
}

// SelectGrouped is SELECT group, f(value) FROM t WHERE GROUP BY group.
func (db *DB) SelectGrouped(ctx context.Context, t *Table, where []Token, group, value int, f Aggregate) (Records, error) {
	return db.answer(ctx, t, where, db.grouping(group, value, f))
}

// result is the result of a query as a table of its own.
func (db *DB) result(ctx context.Context, t *Table, where []Token, f then) (result *Table, err error) {
	err = db.GL.Query(ctx, func() error {
		if result, err = db.selected(ctx, t, where); err != nil || f == nil {
			return err
		}
		before := result
		defer before.free()
		result, err = f(ctx, before)
		return err
	})
	return result, err
}

// answer is the result of a query in host memory.
func (db *DB) answer(ctx context.Context, t *Table, where []Token, f then) (Records, error) {
	result, err := db.result(ctx, t, where, f)
	if err != nil {
		return nil, err
	}
	defer result.free()
	return result.Read()
}

// InsertSelected is INSERT INTO to SELECT * FROM t WHERE. A table that is too small doubles first.
func (db *DB) InsertSelected(ctx context.Context, to, t *Table, where []Token) error {
	if len(to.Columns) != len(t.Columns) {
		return fmt.Errorf("hsu: table %s has %d columns, %s has %d", to.Name, len(to.Columns), t.Name, len(t.Columns))
	}
	return db.GL.Query(ctx, func() error {
		flags, err := db.SetSelectFlag(t, where)
		if err != nil {
			return err
		}
		places, n, err := db.addresses(flags)
		if err != nil {
			return err
		}
		if err := to.reserve(ctx, n); err != nil {
			return err
		}
		return db.move(t, to, flags, places, n)
	})
}

// Update is UPDATE t SET column = value WHERE: a thread a record (section 3.3.5).
func (db *DB) Update(ctx context.Context, t *Table, where []Token, column int, value int32) error {
	return db.GL.Query(ctx, func() error {
		flags, err := db.SetSelectFlag(t, where)
		if err != nil {
			return err
		}
		return db.launch(move("SET"), "update", t.N, []shaders.Uniform{shaders.Uint("column", uint32(column)), shaders.Uint("target_capacity", uint32(t.Capacity)), shaders.Int("value", value)},
			primitives.Vector{}, t.data, flags)
	})
}

// Delete is DELETE FROM t WHERE: the flags are reversed, and what stays moves to a new table (section 3.3.6).
func (db *DB) Delete(ctx context.Context, t *Table, where []Token) error {
	return db.GL.Query(ctx, func() error {
		flags, err := db.SetSelectFlag(t, where)
		if err != nil {
			return err
		}
		if err := db.launch(reverse(), "reverse", t.N, nil, flags); err != nil {
			return err
		}
		places, n, err := db.addresses(flags)
		if err != nil {
			return err
		}
		kept, err := db.made(ctx, t.Columns, t.Capacity, func(kept *Table) error { return db.move(t, kept, flags, places, n) })
		if err != nil {
			return err
		}
		t.take(kept)
		return nil
	})
}
