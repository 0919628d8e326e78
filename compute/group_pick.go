package compute

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// picking reads only those of a chunk's groups from the device that [physical.Query].Bound wants. The bound is on a sum of
// at most 62 bits and its sign, or on the code of one of the group keys. Of a sum the device makes a key of 64 bits that
// orders as it does.
type picking struct {
	*Grouping
	*plan.GroupBound
	device Profile
	run    pass.Runner
	result textures.Block
	at     int   // where the slots begin in it
	n      int   // the word of how many values a group has
	some   int   // the word that is 0 where the sum is NULL
	terms  []int // the values of which the sum is made; negative for that number
	coefs  []uint32
	digit  [2]uint32 // where a key tells: what its code is multiplied by in a slot, and how many codes there are
}

const (
	// pickWords is from how many words of slots on they stay on the device: less is read faster than picked.
	pickWords = 1 << 14
	// mostPicked is how many words of groups may be picked.
	mostPicked = 1 << 22
	// firstPicked is how many words are read with the number of the picked groups.
	firstPicked = 1 << 12
	// maxSumBits is how wide a sum may be that tells which groups are wanted.
	maxSumBits = 62
)

// picking is how the groups of a query are picked; nil where all of them are to be read.
func (c *compiled) picking(run pass.Runner) *picking {
	b := c.Q.Bound
	if b == nil || c.Q.IsPart() || len(c.Chunks) != 1 || c.Chunks[0].grouping == nil || len(c.Chunks[0].Pieces) != 1 {
		return nil
	}
	g := c.Chunks[0].grouping
	if g.Size*g.Words < c.Device.PickWords {
		return nil
	}
	p := &picking{Grouping: g, GroupBound: b, device: c.Device, run: run, at: g.place[0], n: Records, some: Records}
	switch {
	case b.All:
		return p
	case b.Key != nil:
		p.byKey(c.Q)
		return p
	}
	part := g.parts[b.Agg]
	if part.none {
		return nil
	}
	p.n, p.some = part.n, part.n
	if len(part.Sum.Terms) == 0 { // a count, which is never NULL
		p.some = Records
		p.add(-1, 1)
		return p
	}
	width := 0.0 // of the sum, a power of two
	for i, term := range part.Sum.Terms {
		at, size := part.terms[i], 0
		switch at {
		case ofZeros:
			continue
		case ofRecords:
		default:
			if size = g.Values[at].bits; g.Values[at].Size > 2 {
				return nil
			}
		}
		width += math.Ldexp(1, size+bits.Len(uint(c.Chunks[0].Rows))+term.Coef.BitLen())
		p.add(at, term.Coef.Int64())
	}
	if width > math.Ldexp(1, maxSumBits) {
		return nil
	}
	return p
}

// byKey has the code of a key tell which groups are wanted.
func (p *picking) byKey(q *physical.Query) {
	keys, _ := q.GroupKeys(0) // which was asked before
	p.digit = [2]uint32{1, 1}
	for _, k := range keys {
		if p.digit[1] = uint32(k.Size); k.Col == p.Key.Index {
			return
		}
		p.digit[0] *= p.digit[1]
	}
}

// room is how many groups have room in what is read.
func (p *picking) room(rows int) int {
	if p.All {
		return min(p.Size, rows, p.device.Primitives.MaxWords/(p.Words+1)-1)
	}
	return mostPicked / (p.Words + 1)
}

// add adds a term to the sum.
func (p *picking) add(value int, coef int64) {
	p.terms, p.coefs = append(p.terms, value), append(p.coefs, uint32(coef), uint32(uint64(coef)>>32))
}

// groups are those that are picked; ok is false where these are too many.
func (p *picking) groups(c *compiled) (list []physical.GroupStates, ok bool, err error) {
	if p.result, err = c.Dispatch(p.run); err != nil {
		return nil, false, err
	}
	lo, hi := uint64(p.Lo)^1<<63, uint64(p.Hi)^1<<63
	if p.All {
		lo, hi = 0, math.MaxUint64
	}
	if p.First > 0 {
		hi = math.MaxUint64
		if lo, err = p.least(); err != nil {
			return nil, false, err
		}
	}
	room := p.room(c.Chunks[0].Rows)
	of := *p.Grouping
	of.Words++ // behind a group's words comes its slot
	picked := primitives.Zeros(2 + room*of.Words)
	pick := p.step("GROUPS: pick those that are wanted", "groups, those whose sum is within bounds", picked.Block)
	pick.Uniforms = append(pick.Uniforms, shaders.Uint("room", uint32(room)),
		shaders.Uniform{Name: "bounds", I: []int32{int32(uint32(lo)), int32(lo >> 32), int32(uint32(hi)), int32(hi >> 32)}})
	if _, err := p.run.Run(pick); err != nil {
		return nil, false, err
	}
	words, err := picked.First(min(picked.N, firstPicked)).Read(p.run)
	if err != nil {
		return nil, false, err
	}
	n, found := int(words[0]), int(words[1])
	if n > room {
		return nil, false, nil
	}
	if end := 2 + n*of.Words; end > len(words) {
		if words, err = picked.First(end).Read(p.run); err != nil {
			return nil, false, err
		}
	}
	x := c.Chunks[0]
	words = words[2:][:n*of.Words]
	slots := make([]uint32, n)
	for i := range slots {
		slots[i] = words[i*of.Words+p.Words]
	}
	states := of.States(x.Q.ChunkID(x.Index), x.Pieces[0].From, words, UpTo(n), slots)
	states.Omitted = found - n
	return []physical.GroupStates{states}, true, nil
}

// least is a key that the wanted first groups reach, and few others. Each work group has the greatest key of some
// slots; least is the greatest of these keys but p.First - 1.
func (p *picking) least() (uint64, error) {
	greatest := primitives.New(2 * p.workGroups())
	if _, err := p.run.Run(p.step("GROUPS: find the greatest keys", "slots, the greatest key of each work group's", greatest.Block, "GREATEST")); err != nil {
		return 0, err
	}
	words, err := greatest.Read(p.run)
	if err != nil {
		return 0, err
	}
	var keys []uint64
	for i := 0; i < len(words); i += 2 {
		if key := uint64(words[i]) | uint64(words[i+1])<<32; key > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) < p.First {
		return 0, nil
	}
	slices.Sort(keys)
	return keys[len(keys)-p.First], nil
}

// threads is how many a work group of the passes has.
func (p *picking) threads() int {
	if p.device.Software {
		return 32
	}
	return 256
}

// workGroups is how many they have: more than first groups are wanted, where there are enough slots.
func (p *picking) workGroups() int {
	local := p.threads()
	n := min(1<<12, (p.Size+local-1)/local)
	if p.device.Software {
		n = max(n, p.Size/(local*(shaders.MaxTurns/(2*p.Words+8)))+1)
	}
	return n
}

// step is a pass over the slots.
func (p *picking) step(name, counts string, out textures.Block, defines ...string) *pass.Pass {
	sum := ""
	for i, value := range p.terms {
		text := fmt.Sprintf("uvec2(word(slot, %du), 0u)", p.n)
		if value >= 0 {
			v := p.Values[value]
			if text = fmt.Sprintf("uvec2(word(slot, %du), 0u)", v.At); v.Size > 1 {
				text = fmt.Sprintf("uvec2(word(slot, %du), word(slot, %du))", v.At, v.At+1)
			}
		}
		if text = fmt.Sprintf("times(%s, coefficient(%d))", text, i); sum != "" {
			text = fmt.Sprintf("wrappingAdd(%s, %s)", sum, text)
		}
		sum = text
	}
	if p.digit[1] > 0 {
		sum, defines = "uvec2(slot / digit.x % digit.y, 0u)", append(defines, "DIGIT")
	}
	flip := uint32(0) // of the first ones of ascending sums the keys descend
	if p.First > 0 {
		defines = append(defines, "NULLS")
		if !p.Desc {
			flip = math.MaxUint32
		}
	}
	local := p.threads()
	defines = append(defines, fmt.Sprintf("LOCAL %d", local), fmt.Sprintf("WORDS %du", p.Words), fmt.Sprintf("VALUES %du", p.some),
		fmt.Sprintf("TERMS %d", max(1, len(p.terms))), "SUM "+cmp.Or(sum, "uvec2(0u)"))
	uniforms := []shaders.Uniform{shaders.Uint("first", uint32(p.at)), shaders.Uint("slots", uint32(p.Size)), shaders.Uint("flip", flip)}
	if p.digit[1] > 0 {
		uniforms = append(uniforms, shaders.Uniform{Name: "digit", U: p.digit[:]})
	}
	if len(p.terms) > 0 {
		var coefs []int32
		for _, c := range p.coefs {
			coefs = append(coefs, int32(c))
		}
		uniforms = append(uniforms, shaders.Uniform{Name: "coefficients", I: coefs})
	}
	return &pass.Pass{Op: primitives.Op{Verb: name, Over: strings.TrimSpace(fmt.Sprintf("%d %s", p.Size, counts))},
		Program: shaders.Join([]string{"int64.glsl", "group_pick.comp"}, defines...), Uniforms: uniforms,
		Dispatch: &pass.Dispatch{Groups: [2]int{p.workGroups()}, Blocks: []textures.Block{p.result, out}}}
}
