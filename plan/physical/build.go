package physical

import "github.com/stencildb/stencildb/table"

// Build is a pipeline that ends in a build side: scan, filter, probe, build. It reads the rows of a table that meet its condition and have
// partners in builds of their own. Of these a device makes a bitmap and an array by the ordinals of their key.
type Build struct {
	// Query is over the table, which has one chunk. Star are the builds that its rows probe. The keys of Groups are the columns that tell
	// its rows apart. A combination of their codes is a slot, as of groups ([Query.GroupKeys]).
	Query *Query
	// ByRow says that each row is told apart from all others: its slot is its number in the table.
	ByRow bool
	// Key is the column by whose ordinals a row finds its place, and Places are how many there are from [Dimension].Base on.
	Key    int
	Places int
	// Unique asks for a [plan.Declined] where two rows have the same key. Else the rows are a set of keys.
	Unique bool
	// Anti takes the keys that no row has.
	Anti bool
}

// MaxBuildSlots is how many combinations of codes a build may tell its rows apart by: of more it tells them apart by row.
const MaxBuildSlots = 1 << 16

// Slots is how many slots tell the rows apart; 1 for none.
func (b *Build) Slots() int {
	if b.ByRow {
		return max(1, b.Query.Table.Chunks[0].Rows) // deleted ones have numbers, too
	}
	slots := 1
	for _, l := range b.Query.Star {
		slots *= l.Size
	}
	if len(b.Query.Groups.Keys) == 0 {
		return slots
	}
	keys, _ := b.Query.GroupKeys(0) // whoever made the build has asked
	for _, k := range keys {
		slots *= k.Size
	}
	return slots
}

// DigitBytes is how many bytes a digit of the array takes, which is one more than a slot; 0 where nothing tells the rows apart.
func (b *Build) DigitBytes() int {
	switch slots := b.Slots(); {
	case slots == 1:
		return 0
	case slots < 1<<8:
		return 1
	case slots < 1<<16:
		return 2
	}
	return 4
}

// Bytes is the device memory that the bitmap and the array take.
func (b *Build) Bytes() int64 {
	n := int64(b.Places)/8 + int64(b.DigitBytes())*int64(b.Places) + int64(b.Slots())/4
	for _, l := range b.Query.Star {
		n += l.Bytes()
	}
	return n
}

// Bytes is the device memory that what is looked up of the dimension takes.
func (d *Dimension) Bytes() (n int64) {
	if d.Build != nil {
		return d.Build.Bytes()
	}
	for _, c := range []*table.Chunk{d.Bits, d.Digits} {
		if c != nil {
			n += int64(c.Segments[0].Bytes())
		}
	}
	return n
}
