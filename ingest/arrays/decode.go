package arrays

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// Decoded is some values of a column on their way to codes.
type Decoded struct {
	raw      raw      // nil, or the values that have no ordinals yet
	Ordinals []uint64 // of text, numbers in words; any where NULL
	Valid    []byte   // a bit a value, from bit offset on; nil: none is NULL
	offset   int
	Spans    *Spans // of a column of intervals
}

// Overflow is the error of a value beyond the range of its column's type. The column is
// left out, and naming it in a query is the error.
type Overflow string

func (o Overflow) Error() string { return string(o) }

func outOf(t table.Type) error { return Overflow("a value out of range for " + t.String()) }

// ErrValuesChanged is that of values which are not those that were read first.
var ErrValuesChanged = source.Damagef("other values when it is read again")

// Begin makes room for the ordinals of n values, which valid tells the NULLs of, from its first bit on.
func (d *Decoded) Begin(n int, valid []byte) {
	d.Ordinals, d.raw, d.Valid, d.offset = slices.Grow(d.Ordinals[:0], n)[:n], nil, valid, 0
}

// Decode takes the values of an array, which must stay while they are used, as those of type t.
// Whether they are in its range is left to who knows it of their bounds.
func (d *Decoded) Decode(t table.Type, a arrow.Array, w *dictionary.Builder) error {
	d.Ordinals, d.raw = slices.Grow(d.Ordinals[:0], a.Len())[:a.Len()], nil
	d.Valid, d.offset = nil, a.Data().Offset()
	if a.NullN() > 0 {
		d.Valid = a.NullBitmapBytes()
	}
	if a.DataType().ID() == arrow.NULL { // which has no validity
		d.Valid, d.offset = make([]byte, bitutil.BytesForBits(int64(a.Len()))), 0
		return nil
	}
	return d.take(t, a, w)
}

// InRange reports ordinals that are not those of a type's values.
func InRange(t table.Type, lo, hi uint64) error {
	if t.IsFloat() || t.Kind == table.Boolean || t.Kind == table.Varchar || lo > hi {
		return nil
	}
	if least, most := t.Limits(); lo < table.OrdinalInt(least) || hi > table.OrdinalInt(most) {
		return outOf(t)
	}
	return nil
}

func (d *Decoded) Null(i int) bool { return d.Valid != nil && !bitutil.BitIsSet(d.Valid, d.offset+i) }

// Extent finds the smallest and the largest ordinal; lo > hi where all are NULL.
func (d *Decoded) Extent() (lo, hi uint64) {
	d.widen()
	lo = ^uint64(0)
	for i, o := range d.Ordinals {
		if d.Valid == nil || !d.Null(i) {
			lo, hi = min(lo, o), max(hi, o)
		}
	}
	return lo, hi
}

// each computes the ordinals that are not NULL one by one.
func (d *Decoded) each(f func(i int) (uint64, error)) (err error) {
	for i := range d.Ordinals {
		if d.Null(i) {
			continue
		}
		if d.Ordinals[i], err = f(i); err != nil {
			return err
		}
	}
	return nil
}

// take computes the ordinals.
func (d *Decoded) take(t table.Type, a arrow.Array, w *dictionary.Builder) error {
	if t.Kind == table.Unknown {
		return d.each(func(int) (uint64, error) { return 0, source.Damagef("a value in a column of nulls") })
	}
	if s, ok := a.DataType().(arrow.TemporalWithUnit); ok {
		raws[int64](d, a)
		if err := d.microseconds(t, s.TimeUnit()); err != nil || t.Kind != table.Interval {
			return err
		}
		d.widen()
		return d.each(func(i int) (uint64, error) {
			return d.Ordinals[i], d.Spans.Add(table.IntFromOrdinal(d.Ordinals[i]), table.Span{})
		})
	}
	switch a.DataType().ID() {
	case arrow.BOOL:
		b := a.(*array.Boolean)
		return d.each(func(i int) (uint64, error) { return uint64(table.Bool(b.Value(i)).I), nil })
	case arrow.INT8:
		widen[int8](d, a)
	case arrow.UINT8:
		widen[uint8](d, a)
	case arrow.INT16:
		widen[int16](d, a)
	case arrow.UINT16:
		widen[uint16](d, a)
	case arrow.INT32, arrow.DATE32, arrow.DECIMAL32:
		raws[int32](d, a)
	case arrow.UINT32:
		widen[uint32](d, a)
	case arrow.INT64, arrow.DECIMAL64:
		raws[int64](d, a)
	case arrow.DATE64:
		ms := Integers(a)
		return d.each(func(i int) (uint64, error) { return table.OrdinalInt(ms(i)), nil })
	case arrow.INTERVAL_MONTH_DAY_NANO:
		return d.intervals(a.(*array.MonthDayNanoInterval))
	case arrow.UINT64:
		return d.each(func(i int) (uint64, error) {
			v := a.(*array.Uint64).Value(i)
			if v>>63 != 0 {
				return 0, outOf(t)
			}
			return v | 1<<63, nil
		})
	case arrow.FLOAT16:
		return d.each(func(i int) (uint64, error) {
			return uint64(table.SignedOrdinalFloat32(a.(*array.Float16).Value(i).Float32())), nil
		})
	case arrow.FLOAT32:
		for i, f := range arrow.GetValues[float32](a.Data(), 1) {
			d.Ordinals[i] = uint64(table.SignedOrdinalFloat32(f))
		}
	case arrow.FLOAT64:
		for i, f := range arrow.GetValues[float64](a.Data(), 1) {
			d.Ordinals[i] = table.SignedOrdinalFloat64(f)
		}
	case arrow.DECIMAL128:
		return d.each(func(i int) (uint64, error) {
			v := a.(*array.Decimal128).Value(i)
			if lo := int64(v.LowBits()); v.HighBits() == lo>>63 {
				return table.OrdinalInt(lo), nil
			}
			return 0, outOf(t)
		})
	case arrow.DECIMAL256:
		return d.each(func(i int) (uint64, error) {
			if v := a.(*array.Decimal256).Value(i).BigInt(); v.IsInt64() {
				return table.OrdinalInt(v.Int64()), nil
			}
			return 0, outOf(t)
		})
	case arrow.DICTIONARY:
		return d.dictionary(t, a.(*array.Dictionary), w)
	default:
		return d.bytes(t, a, w)
	}
	return nil
}

// widen takes the ordinals of narrow integers.
func widen[T int8 | uint8 | int16 | uint16 | uint32](d *Decoded, a arrow.Array) {
	for i, v := range arrow.GetValues[T](a.Data(), 1) {
		d.Ordinals[i] = table.OrdinalInt(int64(v))
	}
}

// raw is integers that become ordinals, or codes at once.
type raw interface {
	widen(d *Decoded)
	put(f *table.SegmentBuilder, at int, d *Decoded) bool
}

type rawInts[T int32 | int64] []T

func (v rawInts[T]) widen(d *Decoded) {
	for i, x := range v {
		d.Ordinals[i] = table.OrdinalInt(int64(x))
	}
}

func (v rawInts[T]) put(f *table.SegmentBuilder, at int, d *Decoded) bool {
	return table.Put(f, at, v, d.Valid, d.offset)
}

// raws takes integers as they are.
func raws[T int32 | int64](d *Decoded, a arrow.Array) {
	d.raw = rawInts[T](arrow.GetValues[T](a.Data(), 1))
}

// widen makes ordinals of integers that are none yet.
func (d *Decoded) widen() {
	if d.raw != nil {
		d.raw.widen(d)
		d.raw = nil
	}
}

// put writes the rows of a frame from row at on, as [table.Put] does.
func (d *Decoded) Put(f *table.SegmentBuilder, at int) bool {
	if d.raw != nil {
		return d.raw.put(f, at, d)
	}
	return table.Put(f, at, d.Ordinals, d.Valid, d.offset)
}

// intervals takes intervals as they are: months, days and time of day apart.
func (d *Decoded) intervals(a *array.MonthDayNanoInterval) error {
	return d.each(func(i int) (uint64, error) {
		m := a.Value(i)
		us, all := big.NewInt(int64(m.Days)), big.NewInt(int64(m.Months))
		us.Mul(us, big.NewInt(table.MicrosPerDay)).Add(us, big.NewInt(m.Nanoseconds/1000))
		all.Mul(all, big.NewInt(table.MicrosPerMonth)).Add(all, us)
		if m.Nanoseconds%1000 != 0 || !us.IsInt64() || !all.IsInt64() {
			return 0, Overflow("an interval that is not whole microseconds of 64 bits")
		}
		v := intervalOf(m)
		return table.Ordinal(v), d.Spans.Add(all.Int64(), v.Span)
	})
}

// Spans are those of a column's intervals that microseconds do not tell, as [table.Segment] has them.
type Spans struct {
	Of  map[int64]table.Span
	All bool // others do not come
}

// Add adds an interval of so many microseconds in all. Equal ones must be the same: a column has one of them.
func (s *Spans) Add(all int64, span table.Span) error {
	is, ok := s.Of[all]
	switch {
	case ok && is != span:
		return Overflow(fmt.Sprintf("the intervals %s and %s, which are equal and not the same", table.IntervalValue(all, is), table.IntervalValue(all, span)))
	case ok || span == (table.Span{}):
		return nil
	case s.All:
		return ErrValuesChanged
	case s.Of == nil:
		s.Of = map[int64]table.Span{}
	}
	s.Of[all] = span
	return nil
}

// microseconds turns ordinals of times in a unit into those in microseconds.
func (d *Decoded) microseconds(t table.Type, unit arrow.TimeUnit) error {
	if unit == arrow.Microsecond {
		return nil
	}
	d.widen()
	return d.each(func(i int) (uint64, error) {
		v := table.IntFromOrdinal(d.Ordinals[i])
		if unit == arrow.Nanosecond {
			return whole(v)
		}
		scale := int64(unit.Multiplier() / time.Microsecond)
		if v*scale/scale != v {
			return 0, outOf(t)
		}
		return table.OrdinalInt(v * scale), nil
	})
}

// whole is the ordinal of nanoseconds that are microseconds.
func whole(ns int64) (uint64, error) {
	if ns%1000 != 0 {
		return 0, Overflow("a time in nanoseconds that is not whole microseconds")
	}
	return table.OrdinalInt(ns / 1000), nil
}

// dictionary takes values that are numbers of others.
func (d *Decoded) dictionary(t table.Type, a *array.Dictionary, w *dictionary.Builder) error {
	of := Decoded{Spans: d.Spans}
	if err := of.Decode(t, a.Dictionary(), w); err != nil {
		return err
	}
	of.widen()
	none := -1 // of the values, as the last one that is NULL
	err := d.each(func(i int) (uint64, error) {
		k := a.GetValueIndex(i)
		switch {
		case k < 0 || k >= len(of.Ordinals):
			return 0, source.Damagef("index %d into a dictionary of %d", k, len(of.Ordinals))
		case of.Null(k):
			none = i
		}
		return of.Ordinals[k], nil
	})
	if none < 0 || err != nil {
		return err
	}
	valid := make([]byte, bitutil.BytesForBits(int64(a.Len())))
	for i := range a.Len() {
		bitutil.SetBitTo(valid, i, !d.Null(i) && !of.Null(a.GetValueIndex(i)))
	}
	d.Valid, d.offset = valid, 0
	return nil
}

// bytes takes text, and of Parquet DECIMALs, which are numbers of any length, and INT96.
func (d *Decoded) bytes(t table.Type, a arrow.Array, w *dictionary.Builder) error {
	if s, ok := a.(interface{ Value(int) string }); ok && t.Kind == table.Varchar {
		return d.each(func(i int) (uint64, error) {
			v := s.Value(i)
			k, known := w.Known(v)
			switch {
			case known:
				return k, nil
			case !utf8.ValidString(v):
				return 0, source.Damagef("text that is not valid UTF-8")
			}
			return w.Number(v), nil
		})
	}
	s, ok := a.(interface{ Value(int) []byte })
	switch {
	case ok && t.Kind == table.Varchar: // that nobody has called text
		return d.each(func(i int) (uint64, error) {
			v := s.Value(i)
			if k, known := w.Known(string(v)); known {
				return k, nil
			}
			if !utf8.Valid(v) {
				return 0, Overflow("binary data, which is not UTF-8 text")
			}
			return w.Number(string(v)), nil
		})
	case ok && t.Kind == table.Decimal:
		return d.each(func(i int) (uint64, error) {
			v, ok := bigEndian(s.Value(i))
			if !ok {
				return 0, outOf(t)
			}
			return table.OrdinalInt(v), nil
		})
	case ok && t.Kind == table.Timestamp: // the nanoseconds of a Julian day, and its number
		return d.each(func(i int) (uint64, error) {
			const epoch, day = 2440588, 24 * 60 * 60 * 1_000_000
			v := s.Value(i)
			o, err := whole(int64(binary.LittleEndian.Uint64(v)))
			days := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
			switch {
			case err != nil:
				return 0, err
			case max(days, -days) > math.MaxInt64/day-1:
				return 0, outOf(t)
			}
			return o + uint64(days*day), nil
		})
	}
	return sqlstate.Errorf(sqlstate.FeatureNotSupported, "unexpected type %s", a.DataType())
}
