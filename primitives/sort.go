package primitives

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// digits is how many values a digit has: what one pass of a sort tells apart, and the
// most parts of a split.
const digits = 256

// Parts are what Split is given and where it writes.
type Parts struct {
	// Of gives the part of an element x: 0..N-1. Larger ones count as N-1.
	Of Func
	N  int // 1..256
	// Keys is the input; KeysOut, when set, is where it goes.
	Keys, KeysOut Vector
	// Values, when set, move with the keys to ValuesOut. Without Values the row ids
	// do, if ValuesOut is set.
	Values, ValuesOut Vector
	// beside, when set, moves to besideOut beside them or the row ids.
	beside, besideOut Vector
	// Offsets has N+1 words: part p is elements Offsets[p]..Offsets[p+1]-1.
	Offsets Vector
}

// Split orders elements by part and keeps their order within a part (GDB section
// 3.1.1, split).
func Split(r pass.Runner, d Shapes, p Parts) error {
	if p.N < 1 || p.N > digits {
		return fmt.Errorf("primitives: split: %d parts, possible are 1 to %d", p.N, digits)
	}
	if err := d.check("split", p); err != nil {
		return err
	}
	if err := atLeast("split", "the offsets", p.Offsets, p.N+1); err != nil {
		return err
	}
	name := fmt.Sprintf("Split(%s)", p.Of.Expr)
	p.Of.Expr = fmt.Sprintf("min(uint(%s), parts - 1u)", p.Of.Expr)
	counts, err := d.countAll(r, name, p, 1)
	if err != nil {
		return err
	}
	return d.partition(r, name, p, 0, counts)
}

// Keys are what Sort orders.
type Keys struct {
	Words Vector
	// High, when set, are the upper words of keys of 64 bits.
	High Vector
	// Of, when set, gives what a word x is ordered by, so many Bits of it.
	Of Func
	// Values, when set, move with keys of one word instead of the row ids.
	Values Vector
	// Beside, when set, move with keys of one word and the row ids or Values, to BesideOut.
	Beside, BesideOut Vector
	// Bits is the width of the keys: bits from Bits on must be 0. 0 is all.
	Bits int
}

// Sort writes the row ids of keys to ids in ascending order of the keys, equal keys in
// the order of their rows. (GDB section 3.1.1, sort; a radix sort from the lowest digit
// instead of their quick sort). sorted, when set, takes the keys in order, and is
// possible for keys of one word; ids may be none then.
func Sort(r pass.Runner, d Shapes, keys Keys, sorted, ids Vector) error {
	if keys.High.None() {
		return d.sort(r, keys, sorted, ids)
	}
	if !sorted.None() || ids.None() || keys.Of.Expr != "" || !keys.Values.None() || !keys.Beside.None() {
		return fmt.Errorf("primitives: sort: keys of two words give row ids only")
	}
	bits := width(keys.Bits, 64)
	if err := atLeast("sort", "the upper words", keys.High, keys.Words.N); err != nil {
		return err
	}
	if bits <= 32 {
		return d.sort(r, Keys{Words: keys.Words, Bits: bits}, Vector{}, ids)
	}
	return SortBy(r, d, []Word{{keys.Words, 32}, {keys.High, bits - 32}}, ids)
}

// Word is a part of keys: bits from Bits on must be 0; 0 is all.
type Word struct {
	Words Vector
	Bits  int
}

// SortBy is Sort of keys of one word or more, the lowest first.
func SortBy(r pass.Runner, d Shapes, words []Word, ids Vector) error {
	order, n := Vector{}, words[0].Words.N
	for i, w := range words {
		keys, to := w.Words, ids
		if i > 0 {
			keys = New(n)
			if err := Gather(r, d, w.Words, order, keys); err != nil {
				return err
			}
		}
		if i < len(words)-1 {
			to = New(n)
		}
		if err := d.sort(r, Keys{Words: keys, Bits: w.Bits, Values: order}, Vector{}, to); err != nil {
			return err
		}
		order = to
	}
	return nil
}

func width(bits, all int) int {
	if bits <= 0 || bits > all {
		return all
	}
	return bits
}

// sort orders keys of one word.
func (d Shapes) sort(r pass.Runner, keys Keys, sorted, ids Vector) error {
	n, bits := keys.Words.N, width(keys.Bits, 32)
	passes := (bits + 7) / 8
	each := (bits + passes - 1) / passes
	of, c := cmp.Or(keys.Of.Expr, "x"), len(keys.Of.Constants)
	digit := Func{fmt.Sprintf("(%s) >> number * c%d & c%d", of, c, c+1), append(slices.Clip(keys.Of.Constants), uint32(each), 1<<each-1)}
	p := Parts{Of: digit, Keys: keys.Words, Values: keys.Values, KeysOut: sorted, ValuesOut: ids, beside: keys.Beside, besideOut: keys.BesideOut}
	if err := d.check("sort", p); err != nil {
		return err
	}
	name := fmt.Sprintf("Sort(%d bits)", bits)
	counts, err := d.countAll(r, name, p, passes)
	if err != nil {
		return err
	}
	var keyBuffers, valueBuffers, besideBuffers [2]Vector // made as they are needed
	buffer := func(of *[2]Vector, i int) Vector {
		if of[i&1].None() {
			of[i&1] = New(n)
		}
		return of[i&1]
	}
	for i := range passes {
		p.KeysOut, p.ValuesOut, p.besideOut = sorted, ids, keys.BesideOut
		if i < passes-1 {
			if !keys.Beside.None() {
				p.besideOut = buffer(&besideBuffers, i)
			}
			p.KeysOut = buffer(&keyBuffers, i)
			if !ids.None() {
				p.ValuesOut = buffer(&valueBuffers, i)
			}
		}
		if err := d.partition(r, fmt.Sprintf("%s: bits %d to %d", name, i*each, min(bits, (i+1)*each)-1), p, i, counts); err != nil {
			return err
		}
		p.Keys, p.Values, p.beside = p.KeysOut, p.ValuesOut, p.besideOut
	}
	return nil
}

// check checks the sizes of the vectors.
func (d Shapes) check(verb string, p Parts) error {
	given := []Vector{p.Keys}
	for _, v := range []Vector{p.KeysOut, p.Values, p.ValuesOut, p.beside, p.besideOut} {
		if v.None() {
			continue
		}
		if err := atLeast(verb, "a vector", v, p.Keys.N); err != nil {
			return err
		}
		given = append(given, v)
	}
	if !p.Values.None() && p.ValuesOut.None() || p.beside.None() != p.besideOut.None() {
		return fmt.Errorf("primitives: %s: values have no output", verb)
	}
	if !p.beside.None() && p.ValuesOut.None() {
		return fmt.Errorf("primitives: %s: nothing moves that values could move beside", verb)
	}
	if p.KeysOut.None() && p.ValuesOut.None() {
		return fmt.Errorf("primitives: %s: there is no output", verb)
	}
	return d.fits(verb, given...)
}

// countAll counts the keys by each of several digits, in one pass, where partitions look back.
func (d Shapes) countAll(r pass.Runner, name string, p Parts, passes int) (counts Vector, err error) {
	if d.LookBack {
		counts = Zeros(passes * digits)
		err = d.counting(name+": count the digits", p, 0, counts, fmt.Sprintf("PASSES %d", passes)).run(r)
	}
	return counts, err
}

// counting is the pass that counts keys by a digit.
func (d Shapes) counting(name string, p Parts, number int, counts Vector, defines ...string) step {
	strips, uniforms := d.keyStrips(p, number)
	return step{
		name:     name,
		counts:   fmt.Sprintf("%d keys in %d strips", p.Keys.N, strips),
		program:  shaders.Join([]string{"prim_team.glsl", "prim_count.comp"}, append(d.keyDefines(p), defines...)...),
		uniforms: uniforms,
		groups:   d.groups(strips, d.Sort),
		blocks:   []textures.Block{p.Keys.Block, {}, counts.Block},
	}
}

// partition is one stable pass that orders keys by a digit. With look-back, counts has the number of keys of
// every digit. Otherwise each strip's keys are counted and scanned first. These are GDB's five steps of a
// split, where a thread is a strip's team.
func (d Shapes) partition(r pass.Runner, name string, p Parts, number int, counts Vector) error {
	if !p.beside.None() {
		d.Sort.Items = min(d.Sort.Items, 10) // more of three values each are not kept in registers
	}
	teams, uniforms := d.keyStrips(p, number)
	var states Vector
	if d.LookBack {
		teams = d.Sort.count(p.Keys.N)
		states = Zeros(digits * (teams + 1))
	} else { // where each strip's keys of each digit go
		counts = Zeros(digits * teams)
		if err := d.counting(name+": count by strip", p, number, counts).run(r); err != nil {
			return err
		}
		if err := Scan(r, d, Add, ScanShape{}, counts, counts); err != nil {
			return err
		}
	}
	moved := 0 // with the keys
	switch {
	case !p.Values.None():
		moved = 2
	case !p.ValuesOut.None():
		moved = 1
	}
	defines := append(d.keyDefines(p), fmt.Sprintf("ITEMS %d", d.Sort.Items), fmt.Sprintf("VALUES %d", moved))
	defines = slices.Concat(defines, when(d.LookBack, "LOOKBACK"), when(d.Subgroups, "SUBGROUPS"),
		when(!p.KeysOut.None(), "KEYS_OUT"), when(!p.beside.None(), "BESIDE"), when(!p.Offsets.None(), "OFFSETS"))
	return step{
		name:     name,
		counts:   fmt.Sprintf("%d keys in %d parts at most", p.Keys.N, digits),
		program:  shaders.Join([]string{"prim_team.glsl", "prim_split.comp"}, defines...),
		uniforms: uniforms,
		groups:   d.groups(teams, d.Sort),
		blocks:   []textures.Block{p.Keys.Block, p.Values.Block, counts.Block, p.KeysOut.Block, p.ValuesOut.Block, p.Offsets.Block, states.Block, p.beside.Block, p.besideOut.Block},
	}.run(r)
}

// keyDefines are those that counting and moving share.
func (d Shapes) keyDefines(p Parts) []string {
	return []string{fmt.Sprintf("TEAM %d", d.Sort.Threads), fmt.Sprintf("LOCAL %d", solo), declare(p.Of.Constants), "DIGIT " + p.Of.Expr}
}

// keyStrips returns the number of strips, and what counting and moving are told of them and
// of the digit.
func (d Shapes) keyStrips(p Parts, number int) (strips int, uniforms []shaders.Uniform) {
	strips, per := d.strips(p.Keys.N, d.Sort)
	return strips, append(uniformsOf(p.Of.Constants), count("n", p.Keys.N), count("strips", strips),
		count("per", per*d.Sort.Threads*d.Sort.Items), count("number", number), count("parts", p.N))
}
