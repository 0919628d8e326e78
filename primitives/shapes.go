package primitives

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// Tile is what a team of threads works on at a time.
type Tile struct {
	// Threads is the number of threads of a team, a multiple of 32: a work group that shares memory. With 1
	// each thread has a strip of the vector to itself, and there are no barriers.
	Threads int
	// Items is how many elements a thread has of a tile. Of a scan's tile a multiple
	// of 4.
	Items int
}

// Shapes are those in which primitives run on a device.
type Shapes struct {
	Scan Tile // of Reduce and Scan: Threads*Items at most 4096
	Sort Tile // of Split and Sort: Threads*Items at most 11264, 256 threads or more with Subgroups
	// Groups is the number of work groups of a pass that loops over its input.
	Groups int
	// LookBack says that a work group that has started makes progress whatever the others do, and may wait
	// for them for any time. Then there is one pass instead of three. llvmpipe ends a loop, see
	// shaders.MaxTurns.
	LookBack bool
	// Subgroups says that there is KHR_shader_subgroup with subgroups of 32 threads,
	// numbered in the order of the work group's.
	Subgroups bool
	// Reach, when set, is how many words Gather and Scatter access at random in one pass. Beyond what the
	// device's address translation covers every access costs several times as much.
	Reach int
	// MaxWords is the largest vector: what a storage block holds.
	MaxWords int
	// MaxGroups is the largest number of work groups in one direction.
	MaxGroups int
}

// solo is the size of a work group where each thread is a team by itself.
const solo = 32

// ShapesOf returns those that are fastest on the devices measured: llvmpipe,
// where barriers are expensive, and NVIDIA GPUs, where look-back works in practice.
// On others work groups share memory, but do not wait for each other.
func ShapesOf(caps *glctx.Caps) Shapes {
	const unknown = 64 // multiprocessors, for drivers that do not tell
	d := Shapes{
		MaxWords:  int(min(caps.MaxStorageBlock/4, maxWords)),
		MaxGroups: int(caps.Limits["MAX_COMPUTE_WORK_GROUP_COUNT"]),
		Groups:    caps.Multiprocessors,
	}
	if d.Groups == 0 {
		d.Groups = unknown
	}
	if caps.Software {
		d.Scan, d.Sort = Tile{1, 4}, Tile{1, 4}
		d.Groups *= 4
		return d
	}
	d.Scan, d.Sort = Tile{256, 16}, Tile{256, 16}
	d.Groups *= 8
	if strings.Contains(caps.Vendor, "NVIDIA") {
		d.LookBack = true
		d.Reach = 1 << 25 // 128 MiB: H200, OpenGL's pages
		d.Subgroups = caps.Has("KHR_shader_subgroup")
	}
	switch {
	case d.Subgroups && caps.Limits["MAX_COMPUTE_SHARED_MEMORY_SIZE"] >= 48<<10:
		d.Sort = Tile{1024, 11} // the longer a digit's run in a tile, the fewer partial writes
	case d.Subgroups:
		d.Sort = Tile{512, 10}
	}
	return d
}

// maxWords keeps counts in the 30 bits that a tile's state has for them, with a tile
// to spare.
const maxWords = 1<<30 - 1<<14

// maxStrip is how many tiles a strip has where each thread goes over one. llvmpipe ends the loops of a thread
// after 65,535 turns (see shaders.MaxTurns), and a tile takes up to 20.
const maxStrip = shaders.MaxTurns / 20

// strips cuts n elements for the teams of a pass: how many strips of how many tiles.
func (d Shapes) strips(n int, t Tile) (strips, per int) {
	tiles := t.count(n)
	teams := d.Groups
	if t.Threads == 1 {
		teams *= solo
	}
	per = (tiles + teams - 1) / teams
	if t.Threads == 1 {
		per = min(per, maxStrip)
	}
	return (tiles + per - 1) / per, per
}

// Far says that n words lie further apart than random access reaches in one pass.
func (d Shapes) Far(n int) bool { return d.Reach > 0 && n > d.Reach }

// groups returns the work groups of that many teams.
func (d Shapes) groups(teams int, t Tile) [2]int {
	if t.Threads == 1 {
		teams = (teams + solo - 1) / solo
	}
	if teams <= d.MaxGroups {
		return [2]int{teams, 1}
	}
	return [2]int{d.MaxGroups, (teams + d.MaxGroups - 1) / d.MaxGroups}
}

// count returns the number of tiles of n elements, at least 1.
func (t Tile) count(n int) int {
	size := t.Threads * t.Items
	return max(1, (n+size-1)/size)
}

// loop returns the defines and the groups of a program that goes over n elements a
// quad at a time.
func (d Shapes) loop(n int) (defines []string, groups [2]int) {
	local := 256
	if d.Scan.Threads == 1 {
		local = solo
		defines = append(defines, "STRIPS")
	}
	return append(defines, fmt.Sprintf("LOCAL %d", local)), [2]int{max((n/4+local*maxStrip)/(local*maxStrip), min(4*d.Groups, (n+4*local-1)/(4*local))), 1}
}
