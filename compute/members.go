package compute

import (
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// setBits is the width of codes up to which membership is looked up in a bitmap over
// all codes, of at most 512 KiB; wider ones search the list of spans.
const setBits = 22

// membersTest makes the test of a code's membership in spans: by a bit for each code
// (set), or by binary search.
func membersTest(m *plan.Members, seg *table.Segment, set bool) *recordTest {
	t := &recordTest{call: "inSpans", parts: []string{"memberset.glsl"},
		args: []glsl.Arg{{Column: m.Col, Wide: textures.Parts(seg) > 1}}}
	var words []uint32
	if set {
		t.call = "inSet"
		words = memberSet(m.Spans, seg.Max)
	} else {
		words = glsl.SpanWords(m.Spans)
		t.uniforms = []shaders.Uniform{shaders.Uint("spans", uint32(len(m.Spans)))}
	}
	t.data = textures.ScratchBlock(&textures.Scratch{Words: len(words), Init: words})
	return t
}

// memberSet returns a bit for each code up to top, those of the spans set.
func memberSet(spans []plan.Span, top uint64) []uint32 {
	words := make([]uint32, top/128*4+4)
	for _, s := range spans {
		for w := s.Lo / 32; w <= s.Hi/32; w++ {
			mask := ^uint32(0)
			if w == s.Lo/32 {
				mask &= ^uint32(0) << (s.Lo % 32)
			}
			if w == s.Hi/32 {
				mask &= ^uint32(0) >> (31 - s.Hi%32)
			}
			words[w] |= mask
		}
	}
	return words
}
