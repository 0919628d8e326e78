package primitives

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// digits is how many values a digit has: what one pass of a sort tells apart, and the
// most parts of a split.
const digits = 256

// payload says what moves with the keys.
type payload uint8

const (
	nothing payload = iota
	rowIDs          // the row's number
	values          // the element of a vector
)

// partition is one stable pass that orders keys by a digit.
type partition struct {
	name        string
	digit       string // of x, shift and mask
	constants   []uint32
	shift, mask int
	keys        Vector
	payload     payload
	values      Vector
	keysOut     Vector // none: keys are not written
	valuesOut   Vector
	offsets     Vector // none, or where each of parts digits starts
	parts       int
	// counts and base: with look-back, the number of keys of each digit, from there.
	counts Vector
	base   int
}

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
	// Offsets has N+1 words: part p is elements Offsets[p]..Offsets[p+1]-1.
	Offsets Vector
}

// Split orders elements by part and keeps their order within a part (GDB section
// 3.1.1, split).
func Split(r pass.Runner, d Device, p Parts) error {
	if p.N < 1 || p.N > digits {
		return fmt.Errorf("primitives: split: %d parts, possible are 1 to %d", p.N, digits)
	}
	q := partition{name: fmt.Sprintf("Split(%s)", p.Of.Expr), digit: fmt.Sprintf("min(uint(%s), parts - 1u)", p.Of.Expr),
		constants: p.Of.Constants, keys: p.Keys, values: p.Values, keysOut: p.KeysOut, valuesOut: p.ValuesOut,
		offsets: p.Offsets, parts: p.N}
	switch {
	case !p.Values.None():
		q.payload = values
	case !p.ValuesOut.None():
		q.payload = rowIDs
	}
	if err := d.check("split", q); err != nil {
		return err
	}
	if err := atLeast("split", "the offsets", p.Offsets, p.N+1); err != nil {
		return err
	}
	if d.LookBack {
		counts, err := d.countAll(r, q.name, q, 1, 0, 0, 0)
		if err != nil {
			return err
		}
		q.counts = counts
	}
	return d.partition(r, q)
}

// Keys are what Sort orders.
type Keys struct {
	Words Vector
	// High, when set, are the upper words of keys of 64 bits.
	High Vector
	// Bits is the width of the keys: bits from Bits on must be 0. 0 is all.
	Bits int
}

// Sort writes the row ids of keys to ids in ascending order of the keys, equal keys in
// the order of their rows (GDB section 3.1.1, sort; a radix sort from the lowest digit
// instead of their quick sort). sorted, when set, takes the keys in order, and is
// possible for keys of one word; ids may be none then.
func Sort(r pass.Runner, d Device, keys Keys, sorted, ids Vector) error {
	if keys.High.None() {
		return d.sort(r, keys.Words, width(keys.Bits, 32), Vector{}, sorted, ids)
	}
	if !sorted.None() || ids.None() {
		return fmt.Errorf("primitives: sort: keys of two words give row ids only")
	}
	bits := width(keys.Bits, 64)
	if err := atLeast("sort", "the upper words", keys.High, keys.Words.N); err != nil {
		return err
	}
	if bits <= 32 {
		return d.sort(r, keys.Words, bits, Vector{}, Vector{}, ids)
	}
	n := keys.Words.N
	high, byLow := New(n), New(n)
	if err := d.sort(r, keys.Words, 32, Vector{}, Vector{}, byLow); err != nil {
		return err
	}
	if err := Gather(r, d, keys.High, byLow, high); err != nil {
		return err
	}
	return d.sort(r, high, bits-32, byLow, Vector{}, ids)
}

func width(bits, all int) int {
	if bits <= 0 || bits > all {
		return all
	}
	return bits
}

// sort orders keys of so many bits, and with them vals, or the row ids if that is none.
func (d Device) sort(r pass.Runner, keys Vector, bits int, vals, sorted, ids Vector) error {
	n := keys.N
	passes := (bits + 7) / 8
	each := (bits + passes - 1) / passes
	p := partition{digit: "x >> shift & mask", keys: keys, values: vals, keysOut: sorted, valuesOut: ids}
	switch {
	case !vals.None():
		p.payload = values
	case !ids.None():
		p.payload = rowIDs
	}
	if err := d.check("sort", p); err != nil {
		return err
	}
	if d.LookBack {
		counts, err := d.countAll(r, fmt.Sprintf("Sort(%d bits)", bits), p, passes, each, mask(each), mask(bits-(passes-1)*each))
		if err != nil {
			return err
		}
		p.counts = counts
	}
	var keyBuffers, valueBuffers [2]Vector // made as they are needed
	buffer := func(of *[2]Vector, i int) Vector {
		if of[i&1].None() {
			of[i&1] = New(n)
		}
		return of[i&1]
	}
	for i := range passes {
		last := i == passes-1
		p.name = fmt.Sprintf("Sort(%d bits): bits %d to %d", bits, i*each, min(bits, (i+1)*each)-1)
		p.shift, p.mask, p.base = i*each, mask(min(each, bits-i*each)), i*digits
		p.keysOut, p.valuesOut = sorted, ids
		if !last {
			p.keysOut = buffer(&keyBuffers, i)
			if p.payload != nothing {
				p.valuesOut = buffer(&valueBuffers, i)
			}
		}
		if err := d.partition(r, p); err != nil {
			return err
		}
		p.keys, p.values = p.keysOut, p.valuesOut
		if p.payload == rowIDs {
			p.payload = values
		}
	}
	return nil
}

func mask(bits int) int { return 1<<bits - 1 }

// check checks the sizes of a partition's vectors.
func (d Device) check(verb string, p partition) error {
	given := []Vector{p.keys}
	for _, v := range []Vector{p.keysOut, p.values, p.valuesOut} {
		if v.None() {
			continue
		}
		if err := atLeast(verb, "a vector", v, p.keys.N); err != nil {
			return err
		}
		given = append(given, v)
	}
	if p.payload == values && p.valuesOut.None() {
		return fmt.Errorf("primitives: %s: values have no output", verb)
	}
	if p.keysOut.None() && p.valuesOut.None() {
		return fmt.Errorf("primitives: %s: there is no output", verb)
	}
	return d.fits(verb, given...)
}

// countAll counts the keys by each of several digits, in one pass.
func (d Device) countAll(r pass.Runner, name string, p partition, passes, each, mask, last int) (Vector, error) {
	counts := Zeros(passes * digits)
	p.shift, p.mask = each, mask
	s := d.counting(p, counts, fmt.Sprintf("PASSES %d", passes))
	s.name = name + ": count the digits"
	s.uniforms = append(s.uniforms, count("last", last))
	return counts, s.run(r)
}

// counting is the pass that counts keys by digit.
func (d Device) counting(p partition, counts Vector, defines ...string) step {
	strips, per := d.strips(p.keys.N, d.Sort)
	return step{
		name:     p.name + ": count by strip",
		counts:   fmt.Sprintf("%d keys in %d strips", p.keys.N, strips),
		program:  shaders.Join([]string{"prim_team.glsl", "prim_count.comp"}, append(p.defines(d), defines...)...),
		uniforms: p.uniforms(strips, per*d.Sort.Threads*d.Sort.Items),
		groups:   d.groups(strips, d.Sort),
		blocks:   []textures.Block{p.keys.Block, {}, counts.Block},
	}
}

// partition runs the passes of p. Without look-back each strip's counts are scanned
// first: GDB's five steps of a split, where a thread is a strip's team.
func (d Device) partition(r pass.Runner, p partition) error {
	strips, per := d.strips(p.keys.N, d.Sort)
	teams := strips
	var states Vector
	if d.LookBack {
		teams = d.Sort.count(p.keys.N)
		states = Zeros(digits * (teams + 1))
	} else { // where each strip's keys of each digit go
		p.counts = Zeros(digits * strips)
		if err := d.counting(p, p.counts).run(r); err != nil {
			return err
		}
		if err := Scan(r, d, Add, ScanShape{}, p.counts, p.counts); err != nil {
			return err
		}
	}
	defines := append(p.defines(d), fmt.Sprintf("ITEMS %d", d.Sort.Items), fmt.Sprintf("VALUES %d", p.payload))
	defines = slices.Concat(defines, when(d.LookBack, "LOOKBACK"), when(d.Subgroups, "SUBGROUPS"),
		when(!p.keysOut.None(), "KEYS_OUT"), when(!p.offsets.None(), "OFFSETS"))
	return step{
		name:     p.name,
		counts:   fmt.Sprintf("%d keys in %d parts at most", p.keys.N, digits),
		program:  shaders.Join([]string{"prim_team.glsl", "prim_split.comp"}, defines...),
		uniforms: append(p.uniforms(strips, per*d.Sort.Threads*d.Sort.Items), count("base", p.base)),
		groups:   d.groups(teams, d.Sort),
		blocks:   []textures.Block{p.keys.Block, p.values.Block, p.counts.Block, p.keysOut.Block, p.valuesOut.Block, p.offsets.Block, states.Block},
	}.run(r)
}

// defines are those that counting and moving share.
func (p partition) defines(d Device) []string {
	return []string{fmt.Sprintf("TEAM %d", d.Sort.Threads), fmt.Sprintf("LOCAL %d", solo), declare(p.constants), "DIGIT " + p.digit}
}

func (p partition) uniforms(strips, per int) []shaders.Uniform {
	return append(uniformsOf(p.constants), count("n", p.keys.N), count("strips", strips), count("per", per),
		count("shift", p.shift), count("mask", p.mask), count("parts", p.parts))
}
