package expr

import (
	"fmt"

	"github.com/stencildb/stencildb/table"
)

// The source of random() and TABLESAMPLE: numbers that follow from a row number and a seed. So a value is the same wherever it is
// computed.
func init() {
	define("random_of(bigint,bigint) double", func(a args) (table.Value, error) {
		return table.Float(Random(a.v[0].I, a.v[1].I)), nil
	}).as(hidden).Volatile = true
	define("uuid_of(bigint,bigint) text", func(a args) (table.Value, error) {
		return table.Str(UUID(a.v[0].I, a.v[1].I)), nil
	}).as(hidden).Volatile = true
}

// Seed is a seed of another one and of a number.
var Seed = define("seed_of(bigint,bigint) bigint", func(a args) (table.Value, error) {
	return table.Int(int64(mixed(uint64(a.v[0].I) + mixed(uint64(a.v[1].I))))), nil
}).as(hidden)

// mixed is a number of which each bit depends on all bits of another one: that of splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Random is a number from 0 on, less than 1, of a row and a seed.
func Random(row, seed int64) float64 {
	return float64(mixed(uint64(row)^mixed(uint64(seed)))>>11) / (1 << 53)
}

// UUID is one of version 4 of a row and a seed.
func UUID(row, seed int64) string {
	hi := mixed(uint64(row) ^ mixed(uint64(seed)))
	lo := mixed(hi ^ mixed(uint64(seed)+1))
	hi, lo = hi&^0xf000|0x4000, lo&^(3<<62)|2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}
