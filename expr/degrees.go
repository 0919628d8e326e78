package expr

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

// Trigonometry in degrees, as PostgreSQL computes it. Results are scaled. So they are exact if the angle is a multiple
// of 30 or 45 degrees, and the result a half or a whole number.
func init() {
	for name, f := range map[string]ofFloat{"sind": sind, "cosd": cosd, "tand": tand, "cotd": cotd} {
		define(name+"(double) double!", func(a args) (table.Value, error) { // infinite where a tangent is
			if wrong := finite(a.v[0].F); wrong != nil {
				return a.raise(wrong)
			}
			return table.Float(f(math.Mod(a.v[0].F, 360)) + 0), nil // 0 for -0
		})
	}
	for name, f := range map[string]ofFloat{"asind": asind, "acosd": acosd} {
		define(name+"(double) double!", within(unit, f))
	}
	define("atand(double) double", ofDouble(func(x float64) float64 { return math.Atan(x) / math.Atan(1) * 45 }))
	define("atan2d(double,double) double", func(a args) (table.Value, error) {
		return table.Float(math.Atan2(a.v[0].F, a.v[1].F) / math.Atan(1) * 45), nil
	})
}

// quadrant is an angle of less than 360 degrees within the first quadrant, and the signs that sine and cosine have in its
// own one.
func quadrant(x float64) (angle, sine, cosine float64) {
	sine, cosine = 1, 1
	if x < 0 {
		x, sine = -x, -sine
	}
	if x > 180 {
		x, sine = 360-x, -sine
	}
	if x > 90 {
		x, cosine = 180-x, -cosine
	}
	return x, sine, cosine
}

// sine and cosine are those of a number of degrees, which is not a constant here: Go has more digits of constants.
func sine(x float64) float64   { return math.Sin(x * radian) }
func cosine(x float64) float64 { return math.Cos(x * radian) }

// sineOf and cosineOf are scaled to be a half at 30 and 60 degrees.
func sineOf(x float64) float64 {
	if x <= 30 {
		return sine(x) / sine(30) / 2
	}
	return 1 - (1-cosine(90-x))/(1-cosine(60))/2
}

func cosineOf(x float64) float64 { return sineOf(90 - x) }

func sind(x float64) float64 {
	x, sign, _ := quadrant(x)
	return sign * sineOf(x)
}

func cosd(x float64) float64 {
	x, _, sign := quadrant(x)
	return sign * cosineOf(x)
}

func tand(x float64) float64 {
	x, s, c := quadrant(x)
	return s * c * (sineOf(x) / cosineOf(x) / (sineOf(45) / cosineOf(45)))
}

func cotd(x float64) float64 {
	x, s, c := quadrant(x)
	return s * c * (cosineOf(x) / sineOf(x) / (cosineOf(45) / sineOf(45)))
}

func asind(x float64) float64 {
	if size := math.Abs(x); size > 0.5 {
		return math.Copysign(90-math.Acos(size)/math.Acos(0.5)*60, x)
	}
	return math.Asin(x) / math.Asin(0.5) * 30
}

func acosd(x float64) float64 {
	if x > 0.5 {
		return math.Acos(x) / math.Acos(0.5) * 60
	}
	return 90 - asind(x)
}
