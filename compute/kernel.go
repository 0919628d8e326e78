package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// piece is a window of a chunk, the unit of work. A program goes over one or several.
type piece struct {
	textures.Window
	from    int // where its units begin in working memory that pieces share
	section int // pieces of one section may share working memory and counts
}

func (p piece) units() int { return textures.Units(p.Rows) }

// slot is a storage block of a program but the result's, by the name that its text has
// for it.
type slot struct{ name, kind, access string } // kind: of an element; access: "readonly", "writeonly" or ""

// Code is the program of a kernel: files of glsl/, text, and more files. It goes over its
// pieces one after the other:
//
//	for (int p = 0; p < args[0]; p++) { PIECE(p); ... arg(i) ... }
//
// From PIECE(p) on, piece is p and arg(i) is one of its arguments. arg(0) is the number of units, arg(1) of rows, arg(2)
// piece.from, arg(3) the number of units in the pieces before it. From arg(OWN) on they are the program's own. args[1] is the
// place of claims, args[2] the number of units of all pieces (units.glsl).
type Code struct {
	Name           string
	Files          []string
	Defines        []string
	Slots          []slot
	Text           string
	each           string // text where each piece has a place of its own for the counts
	after          []string
	at             int // which arg is the place of the counts in the result; 0 for none
	Device         Profile
	PerUnit, steps int  // see Profile.groupsOf
	MostUnits      int  // that one thread takes of a piece, on hardware; 0 is threadUnits
	Split          int  // 2^split threads share a unit
	Shared         bool // by all chunks, with its uniforms and textures
	values         bool // it reads codes: see Profile.valueGroups
	Regional       bool
	Uniforms       []shaders.Uniform // beside the arguments
	textures       []textures.Ref
}

const (
	headArgs = 3 // before those of the pieces
	firstArg = 4 // of a piece's own
	// maxArgs is how many words of uniforms a program may have: NVIDIA takes 512.
	maxArgs = 480
	// maxLeafArgs is how many of them the leaves of a tree may have; what is gathered has the others.
	maxLeafArgs = 380
	// maxPieces is the most that one dispatch goes over.
	maxPieces = 16
)

// kernel is code with the blocks and arguments of one piece; or, where pass is set,
// another kind of pass.
type kernel struct {
	*Code
	piece
	chunk  int
	op     pass.Op
	part   pass.Part
	blocks []textures.Block // by slot
	own    []int32          // arguments from firstArg on
	waits  bool             // for the counts of the passes before
	pass   *pass.Pass
}

// counts is where the kernel's counts lie.
func (k *kernel) counts() int32 {
	if k.Code.at == 0 {
		return 0
	}
	return k.own[k.Code.at-firstArg]
}

// joins reports whether one dispatch can do the work of both. What the passes of one
// stage do is independent.
func (k *kernel) joins(o *kernel) bool {
	if k.pass != nil || o.pass != nil || k.section != o.section || k.Code == o.Code {
		return k.Code == o.Code && k.section == o.section && k.pass == nil
	}
	return len(k.own) == len(o.own) && k.Text == o.Text && k.Name == o.Name && slices.Equal(k.Defines, o.Defines) && slices.Equal(k.Slots, o.Slots) &&
		k.Device.Local == o.Device.Local && len(k.Uniforms)+len(o.Uniforms)+len(k.textures)+len(o.textures) == 0
}

// besides reports whether both belong to one stage of several chunks: passes that no dispatch joins, too, so that
// what follows them is joined.
func (k *kernel) besides(o *kernel) bool { return k.pass != nil && o.pass != nil || k.joins(o) }

// layout says how the slots of joined kernels are bound. A slot is bound once if all kernels have the same
// block. Otherwise it is bound by addresses, if they only read the blocks and the device can, or as an array.
// It is not bound if a slot before has the same blocks.
type layout struct {
	as        []int  // the slot whose binding each slot has
	shared    []bool // bound once
	addressed []bool
}

func layoutOf(list []*kernel, d Profile) layout {
	var l layout
	for i, s := range list[0].Slots {
		as, shared := i, true
		for _, k := range list[1:] {
			shared = shared && k.blocks[i] == list[0].blocks[i]
		}
		for j := range i {
			if (!d.Software || len(list) > 1 && s.access == list[0].Slots[j].access) && as == i && !slices.ContainsFunc(list, func(k *kernel) bool { return k.blocks[j] != k.blocks[i] }) {
				as = l.as[j]
			}
		}
		l.as, l.shared = append(l.as, as), append(l.shared, shared)
		l.addressed = append(l.addressed, d.Addresses && !shared && s.access == "readonly")
	}
	return l
}

// most is how many of a list of kernels one dispatch takes.
func (l layout) most(d Profile, args int) int {
	shared, own := 1, 0 // the result's
	for i, as := range l.as {
		switch {
		case as != i:
		case l.addressed[i]:
			args += 2
		case l.shared[i]:
			shared++
		default:
			own++
		}
	}
	n := min(maxPieces, d.Together, (maxArgs-headArgs)/args)
	if own > 0 {
		n = min(n, (d.BlockLimit()-shared)/own)
		if d.Software {
			n = min(n, softwareBlocks/own)
		}
	}
	return max(1, n)
}

// Begin forgets the passes of before, which have run.
func (c *Compiler) Begin() { c.passes, c.waits, c.first = nil, nil, nil }

// Flush makes passes of what is queued: chunk by chunk, or, where programs go over
// several, stage by stage, those together that have one program.
func (c *Compiler) Flush() {
	for i, x := range c.Chunks {
		for len(x.pending) > 0 {
			list := x.pending[0]
			x.pending = x.pending[1:]
			for _, y := range c.Chunks[i+1:] {
				if c.Device.Together > 1 && len(y.pending) > 0 && list[0].besides(y.pending[0][0]) {
					list = append(slices.Clip(list), y.pending[0]...)
					y.pending = y.pending[1:]
				}
			}
			c.emit(list)
		}
	}
}

// emit makes the passes of a stage.
func (c *Compiler) emit(list []*kernel) {
	first := len(c.passes)
	for len(list) > 0 {
		k, n := list[0], 1
		p := k.pass
		if p == nil {
			all := 1
			for all < len(list) && k.joins(list[all]) {
				all++
			}
			l := layoutOf(list[:all], c.Device)
			most := l.most(c.Device, k.stride())
			n = (all + (all+most-1)/most - 1) / ((all + most - 1) / most)
			room := min(most, 1<<bits.Len(uint(n-1)))
			if n > 1 && c.Device.Software { // which compiles slowly
				room = most
			}
			p = c.join(list[:n], room)
		}
		p.Part, p.Chunk, p.Window = k.part, k.chunk, k.Window
		for _, o := range list[1:n] {
			p.Window.Rows += o.Rows
		}
		c.passes = append(c.passes, p)
		c.waits = append(c.waits, k.waits && first == len(c.passes)-1 || k.pass == nil && k.Regional)
		c.first = append(c.first, first)
		list = list[n:]
	}
}

// stride is how many words of arguments a piece has; rounded, so that programs of
// similar shapes share a text.
func (k *kernel) stride() int { return (firstArg + len(k.own) + 3) / 4 * 4 }

// join makes one pass of kernels, with the program for up to so many.
func (c *Compiler) join(list []*kernel, room int) *pass.Pass {
	k := list[0]
	l := layoutOf(list, c.Device)
	stride := k.stride()
	args := make([]int32, headArgs+stride*len(list))
	args[0] = int32(len(list))
	if k.Regional {
		args[1] = int32(c.Alloc(k.Device.Multiprocessors))
	}
	blocks := []textures.Block{c.result}
	var addressed []int // slots
	var text strings.Builder
	text.WriteString(argumentsOf(argumentShape{c.Device.Software, stride, room}))
	for i, s := range k.Slots {
		switch {
		case l.as[i] != i:
			fmt.Fprintf(&text, "#define %s %s\n", s.name, k.Slots[l.as[i]].name)
		case l.shared[i] || room == 1:
			text.WriteString(s.declare(len(blocks)))
			blocks = append(blocks, k.blocks[i])
		case l.addressed[i]:
			fmt.Fprintf(&text, "#define %s ADDRESSED(%s, %d)\n", s.name, s.kind, len(addressed))
			addressed = append(addressed, i)
		default:
			at := len(blocks)
			text.WriteString(s.declareArray(at, room, c.Device.Software))
			blocks = append(blocks, make([]textures.Block, room)...)
			for j, o := range list {
				blocks[at+j] = o.blocks[i]
			}
		}
	}
	var byAddress []textures.Block
	if n := len(addressed); n > 0 {
		fmt.Fprintf(&text, "uniform int address[%d];\n#define ADDRESSED(kind, i) ((kind *)packPtr(uvec2(address[2 * (piece * %d + i)], address[2 * (piece * %[2]d + i) + 1])))\n", 2*n*room, n)
		for _, o := range list {
			for _, i := range addressed {
				byAddress = append(byAddress, o.blocks[i])
			}
		}
	}
	functions := k.Text
	for i, o := range list {
		own := args[headArgs+stride*i:]
		own[0], own[1], own[2], own[3] = int32(o.units()), int32(uint32(o.Rows)), int32(o.from), args[2]
		args[2] += own[0]
		copy(own[firstArg:], o.own)
		if o.counts() != k.counts() {
			functions = k.each
		}
	}
	groups := c.groups(k.Code, int(args[2]))
	return &pass.Pass{Op: k.op, Program: c.Device.program(k.Code, text.String(), functions), Textures: k.textures,
		Uniforms: append([]shaders.Uniform{{Name: "args", I: args}}, k.Uniforms...),
		Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: blocks, Addressed: byAddress, Images: c.Device.Software}}
}

// argumentShape is what a program's arguments are declared by: the words of a piece, and the pieces there may be.
type argumentShape struct {
	software     bool
	stride, room int
}

// argumentTexts has the declarations by their shapes, of which there are few.
var argumentTexts sync.Map

// argumentsOf declares the arguments of a program. In software PIECE copies them. llvmpipe reads a
// uniform with a variable index element by element of the vector, and again at each use.
func argumentsOf(s argumentShape) string {
	if known, ok := argumentTexts.Load(s); ok {
		return known.(string)
	}
	text, stride, room := new(strings.Builder), s.stride, s.room
	fmt.Fprintf(text, "uniform int args[%d];\nint piece = 0;\n", headArgs+stride*room)
	if s.software {
		fmt.Fprintf(text, "int pieceArgs[%d];\nvoid take(int p) {\n    piece = p;\n", stride)
		for i := range stride {
			fmt.Fprintf(text, "    pieceArgs[%d] = args[%d + p * %d];\n", i, headArgs+i, stride)
		}
		text.WriteString("}\n#define PIECE(p) take(p)\n#define arg(i) pieceArgs[i]\n")
	} else {
		fmt.Fprintf(text, "#define PIECE(p) piece = (p)\n#define arg(i) args[%d + (i)%s]\n", headArgs, map[bool]string{true: fmt.Sprintf(" + piece * %d", stride)}[room > 1])
	}
	fmt.Fprintf(text, "#define UNITS uint(arg(0))\n#define ROWS uint(arg(1))\n#define FROM uint(arg(2))\n#define BEFORE uint(arg(3))\n#define TOTAL uint(args[2])\n#define OWN %d\n", firstArg)
	argumentTexts.Store(s, text.String())
	return text.String()
}

// declareArray declares storage blocks, one a piece.
func (s slot) declareArray(binding, room int, software bool) string {
	if software && s.access == "readonly" {
		return fmt.Sprintf("layout(binding = %d, rgba32ui) readonly uniform uimageBuffer %s_[%d];\n#define %[2]s %[2]s_[piece]\n", binding, s.name, room)
	}
	return fmt.Sprintf("layout(std430, binding = %d) %s buffer Block%[1]d { %[3]s data[]; } %[4]s_[%[5]d];\n#define %[4]s %[4]s_[piece].data\n",
		binding, s.access, s.kind, s.name, room)
}

// declare declares a storage block; one that a program only reads, with FETCH(name, i), as an
// image in software (see pass.Dispatch.Images).
func (s slot) declare(binding int) string {
	if s.access == "readonly" {
		return fmt.Sprintf("READONLY(%[1]d, %[2]s, Block%[1]d, %[3]s);\n", binding, s.kind, s.name)
	}
	return fmt.Sprintf("layout(std430, binding = %[1]d) %[2]s buffer Block%[1]d { %[3]s %[4]s[]; };\n", binding, s.access, s.kind, s.name)
}

// SideBySide lets passes begin before earlier passes are over, if they touch no working memory that these
// touched. Counts are added to the result in any order, and only passes that wait read them. The passes of
// one stage touch different parts of it. Regional ones wait: beside another, work groups take parts of
// regions that are not their multiprocessor's.
func (c *Compiler) SideBySide() {
	touched := map[*textures.Scratch]int{} // since the last pass that waits: by which stage
	for i, p := range c.passes {
		d, stage := p.Dispatch, c.first[i]
		d.Beside = i > 0 && !c.waits[i]
		blocks := slices.Concat(d.Blocks, d.Addressed)
		for _, b := range blocks {
			if by, ok := touched[b.Scratch]; ok && by != stage {
				d.Beside = false
			}
		}
		if !d.Beside {
			clear(touched)
		}
		for _, b := range blocks {
			if b.Scratch != nil && b != c.result {
				touched[b.Scratch] = stage
			}
		}
	}
}
