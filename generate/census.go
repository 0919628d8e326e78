package generate

import (
	"github.com/stencildb/stencildb/table"
)

// Streams of random bits of census.
const (
	cenIncome = iota
	cenAge
	cenHours
	cenSchool
	cenNone
)

// maxIncome is the largest monthly_income that income can give: 16 bits.
const maxIncome = 35_387

// census follows the census database of the same paper's section 5: 360,000
// records of monthly income information, of which the paper used four attributes.
// The records are not published and the paper names none of the attributes; these
// are made so that incomes look like incomes:
//
//   - monthly_income: INTEGER, 0 for one person in eight. Otherwise it is skewed to the right: 2 to the power
//     of a bell-shaped number, interpolated linearly between powers of two. The median is near 2,500, half as
//     much again for each six years of school above twelve, and the maximum 35,387;
//   - age: SMALLINT, 15 to 90, fewer the older;
//   - weekly_hours: SMALLINT, 0 without income, else bell-shaped around 38, the
//     longer the higher the income;
//   - years_of_school: SMALLINT, 0 to 20, bell-shaped around 12.
func census() Generator {
	return Generator{
		Name:        "census",
		Doc:         "census like the paper's: monthly_income (skewed, an eighth 0, up to 35,387), age, weekly_hours, years_of_school",
		DefaultRows: 360_000,
		cols: []genColumn{
			integers("monthly_income", table.Integer, 0, maxIncome, income),
			integers("age", table.SmallInt, 15, 90, age),
			integers("weekly_hours", table.SmallInt, 0, 80, hours),
			integers("years_of_school", table.SmallInt, 0, 20, school),
		},
	}
}

// bell is the sum of four uniform 16-bit numbers: 0..262140, around 131070, with
// a standard deviation of 37837.
func bell(x uint64) int64 {
	return int64(x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48)
}

// exp2 is 2^(x/65536), x >= 0, interpolated linearly between powers of two.
func exp2(x int64) int64 {
	whole, frac := uint(x>>16), x&0xffff
	return 1<<whole + frac<<whole>>16
}

func noIncome(r row) bool { return r.random(cenNone)>>61 == 0 }

func income(r row) int64 {
	if noIncome(r) {
		return 0
	}
	// The exponent's middle is 11.3, its standard deviation 0.87; six years of
	// school are worth 0.585, which is half as much again.
	x := bell(r.random(cenIncome))*3/2 + 543_950 + (school(r)-12)*6390
	return exp2(x)
}

func age(r row) int64 {
	bits := r.random(cenAge)
	a, b := int64(bits&0xffff), int64(bits>>16&0xffff)
	return 15 + min(a, (a+b)/2)*76>>16
}

func hours(r row) int64 {
	if noIncome(r) {
		return 0
	}
	return 1 + bell(r.random(cenHours))*74>>18
}

func school(r row) int64 { return min(bell(r.random(cenSchool))*24>>18, 20) }
