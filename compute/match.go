package compute

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
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

// match queues the passes that look through a column's texts, and returns a bitmap of the codes that satisfy a
// leaf; nil where the device leaves that to the host.
func (x *chunk) match(l *plan.Match) *marks {
	seg, elements := x.segment(l.Col), l.Pattern.Elements()
	if !x.device.Texts || len(elements) > mostElements || l.Pattern.Fold() && !seg.ASCII() {
		return nil
	}
	texts := seg.Texts(int(min(x.device.MaxBlock/textures.GroupRows*textures.GroupRows, mostTextBytes)))
	if len(texts) == 0 {
		return nil
	}
	groups := (len(seg.Dict) + matchLocal - 1) / matchLocal
	codes := textures.ScratchBlock(&textures.Scratch{Words: groups*matchLocal/32 + 4}) // never as large as a bitmap of records, which a trace draws
	defines := []string{fmt.Sprintf("LOCAL %d", matchLocal), fmt.Sprintf("PATTERN %d", mostElements)}
	if l.Pattern.Fold() {
		defines = append(defines, "FOLD")
	}
	needle := needleOf(seg, l.Pattern)
	if len(needle) > 0 {
		defines = append(defines, "NEEDLE")
	}
	var bytes, mask uint32
	for i := range len(needle) {
		bytes, mask = bytes|uint32(needle[i])<<(8*i), mask|255<<(8*i)
	}
	if l.Pattern.Fold() {
		bytes |= 0x20202020 & mask // like.comp does so with the texts': more have it, none less
	}
	others := uint32(0)
	if l.Not {
		others = ^others
	}
	var list []*kernel
	for _, t := range texts {
		op := Match{x.attribute(l.Col), l.Text, t.N, t.Bytes.Rows}
		groups := min((t.N+matchLocal-1)/matchLocal, matchGroups*max(64, x.device.Multiprocessors))
		list = append(list, &kernel{piece: x.pieces[0], op: op, pass: &pass.Pass{Op: op, Program: shaders.Load("like.comp", defines...),
			Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(t.N)), shaders.Uint("first", uint32(t.First/32)), {Name: "pattern", I: elements},
				shaders.Uint("count", uint32(len(elements))), {Name: "needle", U: []uint32{bytes, mask}}, shaders.Uint("size", uint32(len(needle))), shaders.Uint("tail", tailOf(elements)), shaders.Uint("others", others)},
			Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: []textures.Block{codes, whole(t.Bytes), whole(t.Starts)}}}})
	}
	x.stage(list...)
	m := &marks{}
	for range x.pieces {
		m.blocks = append(m.blocks, codes)
	}
	return m
}

// tailOf is the element behind the last [expr.AnyRun], where only bytes follow, from the first of a character on; else 0.
func tailOf(elements []int32) uint32 {
	at := len(elements)
	for at > 0 && elements[at-1] < expr.AnyOne {
		at--
	}
	if at == 0 || at == len(elements) || elements[at-1] != expr.AnyRun || !utf8.RuneStart(byte(elements[at])) {
		return 0
	}
	return uint32(at)
}

// whole names the codes of a chunk of one column.
func whole(c *table.Chunk) textures.Block {
	return textures.Block{Chunk: c, Content: textures.Codes, Window: textures.Window{Rows: c.Rows}}
}

// needleOf is up to four bytes that all texts that match have: of those of the pattern the ones that the fewest texts of a
// sample have.
func needleOf(seg *table.Segment, m *expr.LikeMatcher) (best string) {
	const sample, size = 256, 4
	fewest, step := sample+1, max(1, len(seg.Dict)/sample)
	for _, run := range m.Runs() {
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
			if len(part) > len(best) || len(part) == len(best) && n < fewest {
				best, fewest = part, n
			}
		}
	}
	return best
}
