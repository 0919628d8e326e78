package compute

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Of like.comp: texts that a work group takes, work groups a multiprocessor, and the room for elements of a pattern.
const (
	matchLocal   = 256
	matchGroups  = 8
	mostElements = 256
	// mostTextBytes is how many bytes of texts go together: what every OpenGL 4.5 device binds.
	mostTextBytes = 1 << 27
)

// Match looks through the texts of a dictionary for those that are LIKE a pattern.
type Match struct {
	pass.Attribute
	Text         string
	Texts, Bytes int
}

// String implements pass.Op.
func (m Match) String() string { return "Match(" + m.Text + ")" }

// Counts implements pass.Op.
func (m Match) Counts() string {
	return fmt.Sprintf("nothing; each of %d texts of %s, %d bytes in all, becomes a bit", m.Texts, m.Name, m.Bytes)
}

// match queues the passes that scan a column's texts, and returns a bitmap of the codes that satisfy a leaf.
// It returns nil where the device leaves the leaf to the host.
func (x *ChunkWork) match(l *predicate.Match) *Marks {
	seg, elements := x.Segment(l.Col), l.Pattern.Elements()
	if !x.Device.Texts || len(elements) > mostElements || l.Pattern.Fold() && !seg.ASCII() {
		return nil
	}
	texts := seg.Texts(int(min(x.Device.MaxBlock/textures.GroupRows*textures.GroupRows, mostTextBytes)))
	if len(texts) == 0 {
		return nil
	}
	groups := (len(seg.Dict) + matchLocal - 1) / matchLocal
	codes := textures.ScratchBlock(&textures.Scratch{Words: groups*matchLocal/32 + 4}) // never as large as a bitmap of records, which a trace draws
	defines := []string{fmt.Sprintf("LOCAL %d", matchLocal), fmt.Sprintf("PATTERN %d", mostElements)}
	if l.Pattern.Fold() {
		defines = append(defines, "FOLD")
	}
	needles, exact := needlesOf(seg, l.Pattern, elements)
	if len(needles) > 0 {
		defines = append(defines, fmt.Sprintf("NEEDLES %d", len(needles)))
	}
	if exact {
		defines = append(defines, "EXACT")
	}
	uniforms := []shaders.Uniform{{Name: "pattern", I: elements}, shaders.Uint("count", uint32(len(elements))), shaders.Uint("tail", tailOf(elements))}
	if l.Not {
		uniforms = append(uniforms, shaders.Uint("others", ^uint32(0)))
	} else {
		uniforms = append(uniforms, shaders.Uint("others", 0))
	}
	var runs []int32
	for _, n := range needles {
		runs = append(runs, n.words(l.Pattern.Fold())...)
	}
	if len(runs) > 0 {
		uniforms = append(uniforms, shaders.Uniform{Name: "runs", I: runs})
	}
	var list []*kernel
	for _, t := range texts {
		op := Match{x.attribute(l.Col), l.Text, t.N, t.Bytes.Rows}
		groups := min((t.N+matchLocal-1)/matchLocal, matchGroups*max(64, x.Device.Multiprocessors))
		list = append(list, &kernel{piece: x.Pieces[0], op: op, pass: &pass.Pass{Op: op, Program: shaders.Load("like.comp", defines...),
			Uniforms: append(slices.Clip(uniforms), shaders.Uint("n", uint32(t.N)), shaders.Uint("first", uint32(t.First/32))),
			Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: []textures.Block{codes, whole(t.Bytes), whole(t.Starts)}}}})
	}
	x.Stage(list...)
	m := &Marks{}
	for range x.Pieces {
		m.Blocks = append(m.Blocks, codes)
	}
	return m
}

// tailOf is the element behind the last [match.AnyRun], where only bytes follow, from the first of a character on; else 0.
func tailOf(elements []int32) uint32 {
	at := len(elements)
	for at > 0 && elements[at-1] < match.AnyOne {
		at--
	}
	if at == 0 || at == len(elements) || elements[at-1] != match.AnyRun || !utf8.RuneStart(byte(elements[at])) {
		return 0
	}
	return uint32(at)
}

// whole names the codes of a chunk of one column.
func whole(c *table.Chunk) textures.Block {
	return textures.Block{Chunk: c, Content: textures.Codes, Window: textures.Window{Rows: c.Rows}}
}

// needle is up to four bytes of a run of bytes of a pattern, before of which are left out in front of it. first is the run's
// element in the pattern, and size how many bytes are looked for there.
type needle struct {
	text                string
	before, first, size int
}

// words are the needle as like.comp takes it.
func (n needle) words(fold bool) []int32 {
	var bytes, mask uint32
	for i := range len(n.text) {
		bytes, mask = bytes|uint32(n.text[i])<<(8*i), mask|255<<(8*i)
	}
	if fold {
		bytes |= 0x20202020 & mask // like.comp does so with the texts': more have it, none less
	}
	return []int32{int32(bytes), int32(mask), int32(n.before), int32(n.size), int32(n.first)}
}

// needlesOf are what to look for of a pattern. Of one or two runs of bytes between any characters they are exact: the runs are all that
// is to be found. Of other patterns it is one needle, which the fewest texts have; none where the pattern has no bytes.
func needlesOf(seg *table.Segment, m *match.Like, elements []int32) (list []needle, exact bool) {
	for i, e := range elements {
		if e < match.AnyOne && (i == 0 || elements[i-1] >= match.AnyOne) {
			list = append(list, needle{first: i})
		}
	}
	runs := m.Runs()
	exact = (len(runs) == 1 || len(runs) == 2) && elements[0] == match.AnyRun && elements[len(elements)-1] == match.AnyRun && !slices.Contains(elements, match.AnyOne)
	best, fewest := 0, 0
	for k, run := range runs {
		exact = exact && utf8.RuneStart(run[0])
		n := needleOf(seg, m, run, &list[k])
		if k == 0 || len(list[k].text) > len(list[best].text) || len(list[k].text) == len(list[best].text) && n < fewest {
			best, fewest = k, n
		}
	}
	if exact || len(list) == 0 {
		return list, exact
	}
	one := list[best]
	return []needle{{text: one.text, size: len(one.text)}}, false
}

// needleOf is the part of a run that the fewest texts of a sample have, and how many these are.
func needleOf(seg *table.Segment, m *match.Like, run string, best *needle) (fewest int) {
	const sample, size = 256, 4
	fewest, best.size = sample+1, len(run)
	step := max(1, len(seg.Dict)/sample)
	for i := range max(1, len(run)-size+1) {
		part, n := run[i:min(i+size, len(run))], 0
		for k := 0; k < len(seg.Dict); k += step {
			s := seg.Dict[k]
			if m.Fold() {
				s = strings.ToLower(s)
			}
			if strings.Contains(s, part) {
				n++
			}
		}
		if n < fewest {
			best.text, best.before, fewest = part, i, n
		}
	}
	return fewest
}
