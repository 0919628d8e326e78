package compute

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Profile is what the algorithms need to know of a device.
type Profile struct {
	// Software says that the CPU runs the programs: barriers are expensive there, so
	// that every thread adds its own counts, and work groups are few.
	Software bool
	// Multiprocessors is how many units share the work groups; 0 is unknown.
	Multiprocessors int
	// MaxBlock is the largest storage block, in bytes; MaxBlocks how many one program
	// may have.
	MaxBlock  int64
	MaxBlocks int
	// Fuse says that a WHERE is compiled into a program of its own. Otherwise it is evaluated bitmap by
	// bitmap, with programs that queries have in common. Software does not: there the CPU reads ahead in one
	// column better than in four at once, and an AND takes half the time.
	Fuse bool
	// Shared is the shared memory of a work group in bytes; 0 for software, where each thread writes to the
	// result as fast.
	Shared int
	// RegionRows is the number of rows from which on each multiprocessor keeps to a region of the chunk. So
	// it finds the addresses of the region translated. An H200 reads columns that are new to its
	// multiprocessors at a third of its speed.
	RegionRows int
	// Together is how many chunks one program may go over, if they and it are alike; 0 is 1. A dispatch costs a
	// GPU's CPU several microseconds, and in software a wait for all threads.
	Together int
	// Addresses says that programs find blocks that they only read by their addresses. So the storage blocks
	// of a program do not limit how many chunks it goes over.
	Addresses bool
	// Few is up to how many values that are left in a search are counted by digits of many
	// bits, each value by itself. 0 in software, whose threads have few turns (shaders.MaxTurns).
	Few uint64
	// Primitives says how rows are found from bitmaps.
	Primitives primitives.Shapes
	// SortGroups is how many combinations of the keys' codes a chunk needs to have its groups found by a
	// sort; 0 is never.
	SortGroups int
	// Texts says that LIKE over many texts looks through them on the device; in software the host does.
	Texts bool
	// PickWords is from how many words of groups on those that are wanted are picked on the device.
	PickWords int
	// SlotWindow is how many words of states of groups a sweep takes in, where these are not in shared memory; 0 is all.
	SlotWindow int
	// Lines is how many conditions a batch may have, up to 64, a multiple of 4. 0 is in software, which gains nothing: it compiles
	// slowly, and 64 statements took 3.6 times as long together as one by one.
	Lines int
	// WindowRows, when set, bounds the rows of a window further (tests).
	WindowRows int

	Local int // threads of a work group, when not the usual number
	cache *cache
}

// ProfileOf returns the profile of the device of a context.
func ProfileOf(caps *glctx.Caps) Profile { return ProfileAs(caps, caps.Software) }

// MaxLines is the largest number of lines of a shared scan (see Profile.Lines).
const MaxLines = 64

// ProfileAs is the device as one of software, or of hardware.
func ProfileAs(caps *glctx.Caps, software bool) Profile {
	d := Profile{
		cache:           newCache(),
		Primitives:      primitives.ShapesOf(caps),
		Software:        software,
		Fuse:            !software,
		Multiprocessors: caps.Multiprocessors,
		Addresses:       caps.BufferAddresses && !software, // which reads through images
		MaxBlock:        caps.MaxStorageBlock,
		MaxBlocks:       int(caps.Limits["MAX_COMPUTE_SHADER_STORAGE_BLOCKS"]),
	}
	if d.Software {
		// Blocks are read as images of uvec4.
		d.MaxBlocks = min(d.MaxBlocks, int(caps.Limits["MAX_COMPUTE_IMAGE_UNIFORMS"]), int(caps.Limits["MAX_IMAGE_UNITS"]))
		d.MaxBlock = min(d.MaxBlock, 16*caps.Limits["MAX_TEXTURE_BUFFER_SIZE"])
	}
	d.Together = softwareBlocks
	if !d.Software {
		d.Together, d.Few, d.Texts, d.PickWords, d.Lines = maxPieces, 1<<22, true, pickWords, MaxLines
		d.SlotWindow = cachedWords
		d.Shared = int(caps.Limits["MAX_COMPUTE_SHARED_MEMORY_SIZE"])
	}
	d.RegionRows = math.MaxInt
	if caps.Has("NV_shader_thread_group") {
		d.RegionRows = 1 << 25
	}
	return d
}

// ByChunk is the device as one whose dispatches go over one chunk each.
func (d Profile) ByChunk() Profile {
	d.Together, d.cache = 1, newCache()
	return d
}

// LocalSize is the number of threads of a work group (LOCAL in the programs).
func (d Profile) LocalSize() int {
	if d.Local != 0 {
		return d.Local
	}
	if d.Software {
		return 8 // those of a vector
	}
	return 256
}

// Work groups a multiprocessor, on hardware: what an H200 keeps resident. One more,
// and a second wave begins that costs up to three times the first.
const (
	scanGroups  = 8
	wideGroups  = 4 // of scanLocal threads
	rangeGroups = 3 // likewise, of programs that test ranges: these take more registers
	sumGroups   = 3 // of semi-linear sums
	digitGroups = 5
)

// scanLocal is the number of threads of a work group of a sweep, on hardware.
const scanLocal = 512

// softwareGroups is the number of work groups a core of a software device.
const softwareGroups = 4

// threadUnits bounds the units that one thread takes: its counters of 16 bits hold
// the records of 511. Each piece of a program may add one (units.glsl).
const threadUnits = 490

// softwareBlocks is how many blocks of their own the pieces of a dispatch may have in software. Software compiles a program
// the longer the more blocks it chooses from.
const softwareBlocks = 8

// digitBits is how many bits of a code a pass of the k-th search decides. With 4 an
// H200 runs out of registers: half of the threads fit, and it takes longer.
const digitBits = 3

// forScans is the device with the work groups of a sweep.
func (d Profile) forScans() Profile {
	if !d.Software {
		d.Local = scanLocal
	}
	return d
}

// forSums is the device with the work groups of a semi-linear sum: smaller ones where
// there are few units, to have all multiprocessors at work.
func (d Profile) forSums(regional bool) Profile {
	if !d.Software && !regional {
		d.Local = 128
	}
	return d
}

// BlockLimit is how many storage blocks one program may have; every OpenGL 4.5
// device has 8.
func (d Profile) BlockLimit() int { return max(8, d.MaxBlocks) }

// groups returns the number of work groups for that many units, each taken by one thread. There are perUnit
// groups a multiprocessor, but no more than have a unit.
func (d Profile) groups(units, perUnit int) int {
	const unknown = 64 // multiprocessors, for drivers that do not tell
	n := d.Multiprocessors
	if n == 0 {
		n = unknown
	}
	if d.Software {
		perUnit = softwareGroups
	}
	local := d.LocalSize()
	groups := max(1, units/(local*threadUnits)+1, min(n*perUnit, (units+local-1)/local))
	if d.Software { // whose cores have equal parts of them
		groups = (groups + n - 1) / n * n
	}
	return groups
}

// groupsOf is groups for threads that do up to that many iterations of inner loops for a
// unit.
func (d Profile) groupsOf(units, perUnit, steps int) int {
	n := d.groups(units, perUnit)
	if !d.Software {
		return n
	}
	each := max(1, shaders.MaxTurns/(2+2*steps)) // units; the last test of a loop is a turn, too
	return max(n, (units+d.LocalSize()*each-1)/(d.LocalSize()*each))
}

// valueGroups is groupsOf for programs that read codes. On hardware a work group takes 64 units at a time,
// and perUnit is the number that an H200 balances best.
func (d Profile) valueGroups(units, steps int) int {
	const perUnit = 64 // work groups a multiprocessor
	if d.Software {
		return d.groupsOf(units, perUnit, steps)
	}
	return d.groupsOf(units*d.LocalSize()/textures.UnitsPerGroup, perUnit, steps)
}

// WindowsOf cuts a chunk's rows so that the device can bind their blocks.
func (d Profile) WindowsOf(rows int) []textures.Window {
	limit := d.MaxBlock
	if d.WindowRows > 0 {
		limit = min(limit, 4*int64(d.WindowRows))
	}
	return textures.Windows(rows, limit)
}

// ByRow shapes a program each of whose threads has ROWS of n rows, neighbours those of neighbouring threads.
func (d Profile) ByRow(n int) (defines []string, groups [2]int) {
	local, rows := 256, 8
	if d.Software {
		local, rows = 32, 1
	}
	defines = []string{fmt.Sprintf("LOCAL %d", local), fmt.Sprintf("ROWS %du", rows)}
	count, most := max(1, (n+local*rows-1)/(local*rows)), d.Primitives.MaxGroups
	if count <= most {
		return defines, [2]int{count, 1}
	}
	return defines, [2]int{most, (count + most - 1) / most}
}

// Variants are what tests run on: the device as it is, one of the other kind, and one of short windows and a short reach.
func Variants(caps *glctx.Caps) map[string]Profile {
	own := ProfileOf(caps)
	other, short := ProfileAs(caps, !own.Software), own
	other.Multiprocessors, other.Together = 1, 3                   // few groups: barriers are slow in software; arrays of many blocks compile slowly
	short.WindowRows, short.cache = textures.GroupRows, newCache() // which compiles queries for itself
	short.Primitives.Reach = 1 << 11                               // and goes over places region by region
	short.SlotWindow = 1 << 14                                     // as over slots
	return map[string]Profile{"own": own, "other kind": other, "short windows": short}
}
