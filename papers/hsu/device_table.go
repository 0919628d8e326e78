package hsu

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

var (
	//go:embed common.glsl
	commonText string
	//go:embed move.comp
	moveText string
)

// localSize is the number of threads of a work group; the text does not say it.
const localSize = 256

// DB is the database of the text on a device. Its methods run on the GL thread.
type DB struct {
	*lab.Device
	// Clock, when set, takes the times of the steps.
	Clock *Clock

	tables map[string]*Table
	widest int // words of the largest block; 0: what a storage block of the device holds
}

// Open opens an empty database on a device.
func Open(d *lab.Device) *DB { return &DB{Device: d, tables: map[string]*Table{}} }

// Close drops all tables.
func (db *DB) Close() {
	for name := range db.tables {
		_ = db.Drop(name) // it is there
	}
}

// Clock takes the times of steps, each from an idle device to an idle device: by the device's timer where that is real.
type Clock struct{ Sections []lab.Section }

// onDevice is the time by the device's timer, where that is real, and else by the clock.
func onDevice(t lab.Took) time.Duration { return cmp.Or(t.Device, t.Wall) }

// step runs a step of an operation.
func (db *DB) step(name string, f func() error) error {
	if db.Clock == nil {
		return f()
	}
	took, err := lab.Time(db.Context, f)
	db.Clock.Sections = append(db.Clock.Sections, lab.Section{What: name, Name: name, Took: onDevice(took)})
	return err
}

// Table is one of integers in device memory, column-major (section 3.3.1): column c of record i is word c * Capacity + i.
type Table struct {
	Name     string
	Columns  []string
	N        int // records
	Capacity int // records that it has room for; of a stored table a power of two

	db     *DB
	data   primitives.Vector
	memory *pass.Scope
}

// Create is CREATE TABLE. The capacity is a power of two.
func (db *DB) Create(ctx context.Context, name string, columns []string, capacity int) (*Table, error) {
	switch {
	case db.tables[name] != nil:
		return nil, fmt.Errorf("hsu: table %s exists: drop it first", name)
	case capacity < 1 || capacity&(capacity-1) != 0:
		return nil, fmt.Errorf("hsu: table %s: its capacity %d is no power of two", name, capacity)
	case len(columns) == 0:
		return nil, fmt.Errorf("hsu: table %s has no columns", name)
	}
	t, err := db.newTable(ctx, columns, capacity)
	if err != nil {
		return nil, err
	}
	t.Name, db.tables[name] = name, t
	return t, nil
}

// Drop is DROP TABLE.
func (db *DB) Drop(name string) error {
	t := db.tables[name]
	if t == nil {
		return fmt.Errorf("hsu: no table %s", name)
	}
	t.free()
	delete(db.tables, name)
	return nil
}

// newTable is an array for a table, whose memory is its own.
func (db *DB) newTable(ctx context.Context, columns []string, capacity int) (*Table, error) {
	words := max(1, len(columns)*capacity)
	if most := db.most(); words > most {
		return nil, fmt.Errorf("hsu: %d records of %d columns take %d bytes, a storage block of the device holds %d", capacity, len(columns), 4*words, 4*most)
	}
	t := &Table{Columns: columns, Capacity: capacity, db: db, data: primitives.New(words), memory: db.GL.Open()}
	if err := t.memory.Do(ctx, func() error { return db.Store.Reside(t.data.Block) }); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

func (db *DB) most() int {
	if db.widest > 0 {
		return db.widest
	}
	return db.Shapes.MaxWords
}

// free gives the memory back.
func (t *Table) free() { t.memory.Close() }

// take makes the table that of another one's array, and frees its own.
func (t *Table) take(other *Table) {
	t.free()
	t.data, t.memory, t.Capacity, t.N = other.data, other.memory, other.Capacity, other.N
}

// Insert is INSERT of a record: it goes behind the last one, a column at a time, and doubles a table that is full.
func (t *Table) Insert(ctx context.Context, record []int32) error {
	if len(record) != len(t.Columns) {
		return fmt.Errorf("hsu: table %s has %d columns, the record has %d", t.Name, len(t.Columns), len(record))
	}
	if t.N == t.Capacity {
		if err := t.double(ctx); err != nil {
			return err
		}
	}
	var word [1]uint32
	for c, v := range record {
		word[0] = uint32(v)
		if err := t.db.Store.Write(t.data.Block, c*t.Capacity+t.N, word[:]); err != nil {
			return err
		}
	}
	t.N++
	return nil
}

// Load puts records behind the last one, a column at a time (section 3.1: the initial stage); the table doubles as often as it must.
func (t *Table) Load(ctx context.Context, r Records) error {
	if len(r) != len(t.Columns) {
		return fmt.Errorf("hsu: table %s has %d columns, the records have %d", t.Name, len(t.Columns), len(r))
	}
	if err := t.reserve(ctx, r.N()); err != nil {
		return err
	}
	for c, column := range r {
		if err := t.db.Store.Write(t.data.Block, c*t.Capacity+t.N, words(column)); err != nil {
			return err
		}
	}
	t.N += r.N()
	return nil
}

// reserve doubles the table until so many more records fit.
func (t *Table) reserve(ctx context.Context, more int) error {
	for t.N+more > t.Capacity {
		if err := t.double(ctx); err != nil {
			return err
		}
	}
	return nil
}

// double moves all records to a table of twice the capacity, which takes the place of the old one (section 3.3.7).
func (t *Table) double(ctx context.Context) error {
	return t.db.step(doubling, func() error {
		larger, err := t.db.newTable(ctx, t.Columns, 2*t.Capacity)
		if err != nil {
			return err
		}
		for c := range t.Columns {
			if err := t.db.launch(move("ALL"), "expansion", t.N, []shaders.Uniform{shaders.Uint("column", uint32(c)), shaders.Uint("capacity", uint32(t.Capacity)),
				shaders.Uint("target_capacity", uint32(larger.Capacity))}, t.data, larger.data); err != nil {
				larger.free()
				return err
			}
		}
		larger.N = t.N
		t.take(larger)
		return nil
	})
}

// Truncate makes a table's number of records n, for another run of an experiment; its capacity stays.
func (t *Table) Truncate(n int) { t.N = min(n, t.N) }

// Read copies the records to host memory.
func (t *Table) Read() (Records, error) {
	r := make(Records, len(t.Columns))
	if t.N == 0 {
		return r, nil
	}
	all := make([]uint32, (len(r)-1)*t.Capacity+t.N)
	if err := t.db.GL.Read(t.data.Block, all); err != nil {
		return nil, err
	}
	for c := range r {
		r[c] = integers(all[c*t.Capacity:][:t.N])
	}
	return r, nil
}

// kernel is a program of an operation.
type kernel struct {
	name, text string
	defines    []string
}

func move(defines ...string) kernel { return kernel{"move.comp", moveText, defines} }

func (k kernel) program() shaders.Source {
	return shaders.ComposeCompute(k.name, nil, append([]string{fmt.Sprintf("LOCAL %du", localSize)}, k.defines...), commonText+k.text)
}

// launch runs a kernel with n threads.
func (db *DB) launch(k kernel, routine string, n int, u []shaders.Uniform, blocks ...primitives.Vector) error {
	if n == 0 {
		return nil
	}
	groups := (n + localSize - 1) / localSize
	size := [2]int{groups, 1}
	if most := db.Shapes.MaxGroups; groups > most {
		size = [2]int{most, (groups + most - 1) / most}
	}
	var list []textures.Block
	for _, v := range blocks {
		list = append(list, v.Block)
	}
	_, err := db.GL.Run(&pass.Pass{Op: lab.Op{Paper: "hsu", Name: routine, Over: fmt.Sprintf("%d records", n)}, Program: k.program(),
		Uniforms: append(u, shaders.Uint("n", uint32(n))), Dispatch: &pass.Dispatch{Groups: size, Blocks: list}})
	return err
}

func (db *DB) scanner() scan.Scanner { return scan.New(db.Device, "hsu") }

// word reads the first word of a vector.
func (db *DB) word(v primitives.Vector) (int, error) {
	list, err := v.First(1).Read(db.GL)
	if err != nil {
		return 0, err
	}
	return int(list[0]), nil
}
