package relational

import (
	"math/bits"

	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

const (
	hashRows   = 1 << 10 // of the build side, about, a partition: a table has room for 1536
	hashProbes = 1 << 12 // of the probe side; a work group takes 16384 at most
	hashTurns  = 6000
)

// hash is the radix hash join.
func (j *join) hash(probe, build JoinSide) ([]ranges, error) {
	width := bits.Len(uint(max((build.Keys.N-1)/hashRows, (probe.Keys.N-1)/hashProbes)))
	width = min(max(width, 1), 24)
	probe, probeBounds, err := j.split(probe, width)
	if err != nil {
		return nil, err
	}
	build, buildBounds, err := j.split(build, width)
	if err != nil {
		return nil, err
	}
	parts := 1 << width
	r := ranges{probe: probe.Rows}
	step := j.step("HJ: count the matches", "matches, looked up in a hash table of each partition, in shared memory", "join_hash.comp", probe, build, parts)
	step.Dispatch.Groups = j.groups(parts, hashTurns)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, probeBounds.Block, buildBounds.Block)
	if j.Pairs > 0 {
		r.build, r.from, r.counts = primitives.New(build.Keys.N), primitives.New(probe.Keys.N), primitives.New(probe.Keys.N)
		if err := primitives.Map(j, j.device.Primitives, primitives.Expr("0u"), r.counts); err != nil { // of rows without partners
			return nil, err
		}
		step.Dispatch.Blocks = append(step.Dispatch.Blocks, build.Rows.Block, r.build.Block, r.from.Block, r.counts.Block)
	}
	step.Uniforms = append(step.Uniforms, shaders.Uint("bits", uint32(width)))
	report := primitives.Zeros(ReportWords + 2) // and how many of these rows have been collected
	found, rows, err := j.counted(step, report)
	if r.pairs = found; err != nil || rows[1] == 0 {
		return []ranges{r}, err
	}
	// Rows of partitions that are too large.
	large := func(s JoinSide, at, n uint32) (out JoinSide, err error) {
		out.Keys, out.Rows, out.High = primitives.New(int(n)), primitives.New(int(n)), primitives.Vector{}
		if j.wide {
			out.High = primitives.New(int(n))
		}
		tiles := (s.Keys.N + joinTile - 1) / joinTile
		step := j.step("HJ: rows of partitions that are too large", "they are joined by sort-merge", "join_hash.comp", s, s, tiles, "LARGE")
		step.Dispatch.Groups = j.groups(tiles, 16)
		step.Dispatch.Blocks = append(step.Dispatch.Blocks, probeBounds.Block, buildBounds.Block, s.Rows.Block, out.Keys.Block, out.High.Block, out.Rows.Block)
		step.Uniforms = append(step.Uniforms, shaders.Uint("bits", uint32(width)), shaders.Uint("at", at))
		step.Dispatch.Blocks[0] = report.Block
		_, err = j.Run(step)
		return out, err
	}
	if probe, err = large(probe, ReportWords, rows[0]); err != nil {
		return nil, err
	}
	if build, err = large(build, ReportWords+1, rows[1]); err != nil {
		return nil, err
	}
	if j.Pairs == 0 {
		probe.Rows, build.Rows = primitives.Vector{}, primitives.Vector{}
	}
	all := *j
	all.Bits = 64 // keys of two words are hashed
	rest, err := all.merge(probe, build)
	return append(rest, r), err
}

// split puts a side in the order of the upper bits of its keys' hashes, so many of them, and finds where
// each partition begins.
func (j *join) split(s JoinSide, width int) (out JoinSide, bounds primitives.Vector, err error) {
	d, n := j.device.Primitives, s.Keys.N
	keys := primitives.Keys{
		Words: s.Keys, Bits: width, Values: j.values(s),
		Of: primitives.Func{Expr: "(x ^ x >> 15) * 0x9e3779b1u >> c0", Constants: []uint32{uint32(32 - width)}}, // as partition_of in join_hash.comp
	}
	out.Keys, bounds = primitives.New(n), primitives.New(1<<width+1)
	if j.Pairs > 0 || j.wide {
		out.Rows = primitives.New(n)
	}
	if j.wide {
		keys.Words, keys.Values = primitives.New(n), primitives.Vector{}
		if err := primitives.Map(j, d, primitives.Expr("x * 0x9e3779b1u + y * 0x85ebca6bu"), keys.Words, s.Keys, s.High); err != nil {
			return out, bounds, err
		}
	}
	if err := primitives.Sort(j, d, keys, out.Keys, out.Rows); err != nil {
		return out, bounds, err
	}
	if j.wide {
		order := out.Rows
		out.Rows = primitives.Vector{}
		if j.Pairs > 0 {
			out.Rows = primitives.New(n)
		}
		if err := j.follow(s, order, &out); err != nil {
			return out, bounds, err
		}
	}
	step := j.step("HJ: locate the partitions", "where each of them begins", "join_hash.comp", out, out, 0, "BOUNDS")
	step.Dispatch.Groups = [2]int{1<<width/256 + 1}
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, textures.Block{}, bounds.Block)
	step.Uniforms = append(step.Uniforms, shaders.Uint("bits", uint32(width)))
	_, err = j.Run(step)
	return out, bounds, err
}
