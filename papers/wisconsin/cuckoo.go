package wisconsin

import (
	_ "embed"
	"fmt"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

var (
	//go:embed cuckoo.glsl
	hashText string
	//go:embed cuckoo.comp
	cuckooText string
	//go:embed partition.comp
	partitionText string
)

// The sizes of section 4.5.
const (
	BucketLoad  = 409 // elements of a bucket that are expected
	BucketMost  = 512 // that it may have: the threads of a work group
	TableSlots  = 192
	BucketSlots = 3 * TableSlots
	Iterations  = 25 // before a bucket gets another seed
)

const (
	seedsAtOnce = 16   // in a dispatch, so that no loop is too long for a software rasteriser
	mostSeeds   = 1024 // of a bucket, and then its keys are not to be placed
)

// Cuckoo is a hash table of the rows of a table by an attribute.
type Cuckoo struct {
	Attribute, Buckets int
	// State has for each bucket its seed, how often it was rebuilt, its iterations, and 1.
	State primitives.Vector
	// Slots are the key and the row of each slot of each bucket, row ~0 where it is empty.
	Slots primitives.Vector
}

// BucketsOf is how many buckets n elements take.
func BucketsOf(n int) int { return max(1, (n+BucketLoad-1)/BucketLoad) }

// hash is g of section 4.5, in Go.
func hash(key, seed uint32, table int) uint32 {
	factors, terms := [3]uint32{0x9e3779b1, 0x85ebca77, 0xc2b2ae3d}, [3]uint32{0x27d4eb2f, 0x165667b1, 0xd3a2646d}
	mixed := seed * 0x9e3779b9
	return ((factors[table]^mixed)*key + (terms[table] ^ mixed)) % 1900813 % TableSlots
}

// cuckooKernels are those of the partitioning.
func cuckooKernels(l Layout) (partition, build kernel) {
	return kernel{name: "partition.comp", text: partitionText, defines: l.defines()},
		kernel{name: "cuckoo.comp", text: hashText + cuckooText, local: BucketMost, defines: append(l.defines(), fmt.Sprintf("SEEDS %du", seedsAtOnce), fmt.Sprintf("ITERATIONS %du", Iterations))}
}

// Cuckoo builds the hash table of n tuples on the device by a number of theirs, with so many buckets. Keys that are there twice, and buckets
// of more than 512, are errors.
func (g *GPU) Cuckoo(l Layout, tuples primitives.Vector, n, attribute, buckets int) (*Cuckoo, error) {
	if err := firstOf(g.fits("the hash table", 2*BucketSlots*buckets), g.threads()); err != nil {
		return nil, err
	}
	c := &Cuckoo{attribute, buckets, primitives.Zeros(4 * buckets), primitives.New(2 * BucketSlots * buckets)}
	counts, rows, faults := primitives.Zeros(buckets), primitives.New(BucketMost*buckets), primitives.Zeros(2)
	partition, build := cuckooKernels(l)
	by := shaders.Uint("number", uint32(attribute))
	if err := g.launch(partition, op("h", n), n, []shaders.Uniform{by, shaders.Uint("buckets", uint32(buckets))}, tuples, counts, rows, faults); err != nil {
		return nil, err
	}
	for tried := 0; ; tried += seedsAtOnce {
		if err := g.groups(build, lab.Op{Paper: "wisconsin", Name: "process_bucket", Over: fmt.Sprintf("%d buckets", buckets)}, buckets,
			[]shaders.Uniform{by, shaders.Uint("n", uint32(buckets))}, tuples, counts, rows, c.State, c.Slots, faults); err != nil {
			return nil, err
		}
		wrong, err := faults.Read(g.GL)
		if err != nil {
			return nil, err
		}
		if wrong[1] > 0 {
			return nil, fmt.Errorf("wisconsin: a bucket of the hash table has %d elements, and %d at most fit: its keys are not spread evenly", wrong[1], BucketMost)
		}
		if wrong[0] > 0 {
			return nil, fmt.Errorf("wisconsin: %d keys of the hash table are there twice: the join is one on keys", wrong[0])
		}
		state, err := c.State.Read(g.GL)
		if err != nil {
			return nil, err
		}
		unbuilt := 0
		for b := range buckets {
			unbuilt += int(1 - state[4*b+3])
		}
		switch {
		case unbuilt == 0:
			return c, nil
		case tried+seedsAtOnce >= mostSeeds:
			return nil, fmt.Errorf("wisconsin: %d buckets of the hash table found no place for their keys with %d seeds: a key is there more than three times, or a bucket is too full", unbuilt, mostSeeds)
		}
	}
}

// threads refuses devices whose work groups are smaller than a bucket.
func (g *GPU) threads() error {
	if n := g.Context.Caps().Limits["MAX_COMPUTE_WORK_GROUP_INVOCATIONS"]; n < BucketMost {
		return fmt.Errorf("wisconsin: a bucket takes %d threads, a work group of the device has %d", BucketMost, n)
	}
	return nil
}

// Builds is what building the buckets took.
type Builds struct {
	Buckets, Rebuilds, Iterations int
	// Most is the largest number of rebuilds of a bucket, and Rebuilt how many buckets were rebuilt.
	Most, Rebuilt int
	// ByRebuilds is the distribution: how many buckets were rebuilt so often.
	ByRebuilds map[int]int
}

// Builds counts what building the table took.
func (c *Cuckoo) Builds(g *GPU) (b Builds, err error) {
	state, err := c.State.Read(g.GL)
	if err != nil {
		return b, err
	}
	b.Buckets, b.ByRebuilds = c.Buckets, map[int]int{}
	for i := range c.Buckets {
		n := int(state[4*i+1])
		b.Rebuilds, b.Iterations, b.Most = b.Rebuilds+n, b.Iterations+int(state[4*i+2]), max(b.Most, n)
		if b.ByRebuilds[n]++; n > 0 {
			b.Rebuilt++
		}
	}
	return b, nil
}

// Check returns an error where the table is not one of the keys, by their rows. Each key stands once, in the slot of its bucket that the
// bucket's seed gives it. All other slots are empty. A seed is as far above 0 as there were rebuilds.
func (c *Cuckoo) Check(g *GPU, keys []uint32) error {
	slots, err := c.Slots.Read(g.GL)
	if err != nil {
		return err
	}
	state, err := c.State.Read(g.GL)
	if err != nil {
		return err
	}
	seen := make([]int, len(keys))
	for b := range c.Buckets {
		seed := state[4*b]
		if seed != state[4*b+1] {
			return fmt.Errorf("bucket %d was rebuilt %d times, and its seed is %d", b, state[4*b+1], seed)
		}
		for s := range BucketSlots {
			key, row := slots[2*(b*BucketSlots+s)], slots[2*(b*BucketSlots+s)+1]
			switch {
			case row == ^uint32(0):
			case int(row) >= len(keys) || keys[row] != key || int(key)%c.Buckets != b || hash(key, seed, s/TableSlots) != uint32(s%TableSlots):
				return fmt.Errorf("bucket %d, slot %d: key %d of row %d", b, s, key, row)
			default:
				seen[row]++
			}
		}
	}
	for row, n := range seen {
		if n != 1 {
			return fmt.Errorf("row %d stands %d times in the hash table", row, n)
		}
	}
	return nil
}

// sequential is the hash table of the sequential form. Elements are added one after the other, and an element that is ousted goes on to
// the next table (figure 5).
type sequential struct {
	t         *Table
	attribute int
	buckets   []bucket
}

type bucket struct {
	seed uint32
	rows [BucketSlots]int32 // from 1; 0 is an empty slot
}

// newSequential builds it.
func newSequential(t *Table, attribute int) (*sequential, error) {
	s := &sequential{t, attribute, make([]bucket, BucketsOf(t.N))}
	members := make([][]int32, len(s.buckets))
	for i := range t.N {
		b := uint32(t.number(i, attribute)) % uint32(len(members))
		members[b] = append(members[b], int32(i))
	}
	for b, rows := range members {
		if len(rows) > BucketMost {
			return nil, fmt.Errorf("wisconsin: a bucket of the hash table has %d elements, and %d at most fit: its keys are not spread evenly", len(rows), BucketMost)
		}
		for !s.fill(&s.buckets[b], rows) {
			if s.buckets[b].seed++; s.buckets[b].seed >= mostSeeds {
				return nil, fmt.Errorf("wisconsin: bucket %d of the hash table found no place for its keys with %d seeds", b, mostSeeds)
			}
		}
	}
	return s, nil
}

// fill places rows in an empty bucket; false where an element goes around for too long.
func (s *sequential) fill(b *bucket, rows []int32) bool {
	b.rows = [BucketSlots]int32{}
	for _, row := range rows {
		who, table := row+1, 0
		for moves := 0; who != 0; moves++ {
			if moves == 4*Iterations {
				return false
			}
			slot := &b.rows[table*TableSlots+int(hash(uint32(s.t.number(int(who-1), s.attribute)), b.seed, table))]
			who, *slot = *slot, who
			if who != 0 { // where it was is behind the table that it was in
				table = (table + 1) % 3
			}
		}
	}
	return true
}

// find is the row of a key.
func (s *sequential) find(key uint32) (row int, ok bool) {
	b := &s.buckets[key%uint32(len(s.buckets))]
	for table := range 3 {
		who := b.rows[table*TableSlots+int(hash(key, b.seed, table))]
		if who != 0 && uint32(s.t.number(int(who-1), s.attribute)) == key {
			return int(who - 1), true
		}
	}
	return 0, false
}
