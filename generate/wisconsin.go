package generate

import (
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// WisconsinRow is a row of the Wisconsin benchmark (DeWitt 1993) with the attributes of Hristov 2010, appendix A.
type WisconsinRow struct {
	Numbers  [9]int32   // of [WisconsinNumbers]
	Percents [4]float32 // of [WisconsinPercents]
	Strings  [3][8]byte // of [WisconsinStrings]
}

// The names of the attributes: INTEGER, REAL and CHAR(8).
var (
	WisconsinNumbers  = []string{"unique1", "unique2", "two", "four", "ten", "twenty", "unique3", "even", "odd"}
	WisconsinPercents = []string{"onepercent", "tenpercent", "twentypercent", "fiftypercent"}
	WisconsinStrings  = []string{"stringu1", "stringu2", "stringu4"}
)

// Wisconsin is row n of rows.
func Wisconsin(n, rows int, seed uint64) WisconsinRow {
	return row{mix(seed), uint64(n), uint64(rows)}.wisconsin()
}

func (r row) wisconsin() (w WisconsinRow) {
	u := int32(r.permuted())
	onePercent := u % 100
	w.Numbers = [9]int32{u, int32(r.n), u % 2, u % 4, u % 10, u % 20, u, 2 * onePercent, 2*onePercent + 1}
	w.Percents = [4]float32{float32(onePercent), float32(u % 10), float32(u % 5), float32(u % 2)}
	w.Strings = [3][8]byte{lettersOf(uint64(u)), lettersOf(r.n), cyclic[r.n%4]}
	return w
}

// permuted is the place of the row in a random permutation of all rows. It is a Feistel network of four rounds over the next even
// number of bits. The network runs again until it gives a row (Black and Rogaway 2002).
func (r row) permuted() uint64 {
	half := (bits.Len64(max(r.rows, 2)-1) + 1) / 2
	mask := uint64(1)<<half - 1
	for x := r.n; ; {
		left, right := x>>half, x&mask
		for round := range uint64(4) {
			left, right = right, left^row{key: r.key, n: right}.random(round)&mask
		}
		if x = left<<half | right; x < r.rows {
			return x
		}
	}
}

// cyclic are the values of stringu4.
var cyclic = [4][8]byte{[8]byte([]byte("AAAAxxxx")), [8]byte([]byte("HHHHxxxx")), [8]byte([]byte("OOOOxxxx")), [8]byte([]byte("VVVVxxxx"))}

// lettersOf is a number in eight letters, the first ones of the highest digits.
func lettersOf(n uint64) (text [8]byte) {
	for i := range text {
		text[len(text)-1-i] = byte('A' + n%26)
		n /= 26
	}
	return text
}

// wisconsin is the table of the Wisconsin benchmark. Tables of up to 2^30 rows are the benchmark's.
func wisconsin() Generator {
	g := Generator{
		Name:        "wisconsin",
		Doc:         "the Wisconsin benchmark's table: unique1 a permutation of 0..N-1, unique2 in order, the others from them; percents are REAL",
		DefaultRows: 1_000_000,
	}
	for i, name := range WisconsinNumbers {
		top := []int64{1<<31 - 1, 1<<31 - 1, 1, 3, 9, 19, 1<<31 - 1, 198, 199}[i]
		g.cols = append(g.cols, integers(name, table.Integer, 0, top, func(r row) int64 { return int64(r.wisconsin().Numbers[i]) }))
	}
	for i, name := range WisconsinPercents {
		zero := table.OrdinalFloat32(0)
		g.cols = append(g.cols, genColumn{name: name, typ: table.Type{Kind: table.Real}, lo: uint64(zero), hi: uint64(table.OrdinalFloat32(float32([]int{99, 9, 4, 1}[i]))),
			code: func(r row) uint64 { return uint64(table.OrdinalFloat32(r.wisconsin().Percents[i]) - zero) }})
	}
	for i, name := range WisconsinStrings[:2] {
		g.cols = append(g.cols, texts(name, func(r row) string { w := r.wisconsin().Strings[i]; return string(w[:]) }))
	}
	var list []string
	for _, s := range cyclic {
		list = append(list, string(s[:]))
	}
	g.cols = append(g.cols, words("stringu4", list, func(r row) int { return int(r.n % 4) }))
	return g
}
