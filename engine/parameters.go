package engine

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// parameters are the values of $1, $2, ...
func parameters(args []any) ([]table.Value, error) {
	var list []table.Value
	for i, a := range args {
		v, err := Parameter(a)
		if err != nil {
			return nil, fmt.Errorf("parameter $%d: %w", i+1, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// Parameter makes a Go value a parameter of [DB.Query]. nil is NULL and text a literal, both of the type that their place needs. Integers
// are BIGINT, floats DOUBLE PRECISION, a [*big.Int] NUMERIC, a [time.Time] the TIMESTAMP that its clock shows. A []byte is text, and NULL
// where it is nil. Another slice is an array, for ANY ($1) and ALL ($1), and NULL where it is nil.
func Parameter(a any) (table.Value, error) {
	switch a := a.(type) {
	case table.Value:
		return a, validText(a.S)
	case *big.Int:
		if a == nil {
			return table.Null(table.Type{}), nil
		}
		return table.Dec(table.Type{Kind: table.Decimal, Precision: max(1, len(new(big.Int).Abs(a).String()))}, a), nil
	case time.Duration:
		us := a.Microseconds() // of hours, not of days
		return table.IntervalValue(us, table.Span{Carried: int32(us / table.MicrosPerDay)}), nil
	}
	_, valuer := a.(driver.Valuer)
	switch v := reflect.ValueOf(a); {
	case v.Kind() == reflect.Pointer && !v.IsNil() && !valuer:
		return Parameter(v.Elem().Interface())
	case v.CanUint() && v.Uint() > math.MaxInt64:
		return Parameter(new(big.Int).SetUint64(v.Uint()))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 && !valuer:
		return arrayParameter(v)
	}
	v, err := driver.DefaultParameterConverter.ConvertValue(a)
	if err != nil && !valuer {
		err = sqlstate.Errorf(sqlstate.FeatureNotSupported, "a %T has no SQL type", a)
	}
	switch v := v.(type) {
	case int64:
		return table.Int(v), err
	case float64:
		return table.Float(v), err
	case bool:
		return table.Bool(v), err
	case string:
		return table.Value{S: v}, validText(v)
	case []byte:
		if v != nil {
			text := string(v)
			return table.Value{S: text}, validText(text)
		}
	case time.Time:
		wall := time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
		out := table.Value{Type: table.Type{Kind: table.Timestamp}, I: wall.UnixMicro()}
		if lo, hi := out.Type.Limits(); wall.Before(time.UnixMicro(lo)) || wall.After(time.UnixMicro(hi)) {
			err = expr.Raised(-1, expr.OutOfRange(out.Type))
		}
		return out, err
	}
	return table.Null(table.Type{}), err
}

// arrayParameter is a slice as a literal of an array, which ANY and ALL take; NULL where it is nil.
func arrayParameter(list reflect.Value) (table.Value, error) {
	if list.IsNil() {
		return table.Null(table.Type{}), nil
	}
	var items []string
	for i := range list.Len() {
		item, err := Parameter(list.Index(i).Interface())
		switch {
		case err != nil:
			return table.Null(table.Type{}), fmt.Errorf("element %d: %w", i, err)
		case item.Null:
			items = append(items, "NULL")
		default:
			text := item.S
			if item.Type != (table.Type{}) {
				text = item.String()
			}
			items = append(items, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)+`"`)
		}
	}
	return table.Value{S: "{" + strings.Join(items, ",") + "}"}, nil
}

// validText reports a text that no column takes.
func validText(text string) error {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return sqlstate.Errorf(sqlstate.CharacterNotInRepertoire, "the text is not valid UTF-8, or has a NUL byte; there is no type for bytes: encode them, in hexadecimal perhaps")
	}
	return nil
}

// assign copies a value to where dest points: see [Rows.Scan].
func assign(dest any, v table.Value) error {
	switch d := dest.(type) {
	case *table.Value:
		*d = v
		return nil
	case *any:
		*d = goValue(v)
		return nil
	case sql.Scanner:
		return d.Scan(goValue(v))
	}
	to := reflect.ValueOf(dest)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("the destination is a %T: give a pointer", dest)
	}
	to = to.Elem()
	if to.Kind() == reflect.Pointer && to.Type() != reflect.TypeFor[*big.Int]() {
		if v.Null {
			to.SetZero()
			return nil
		}
		p := reflect.New(to.Type().Elem())
		if err := assign(p.Interface(), v); err != nil {
			return err
		}
		to.Set(p)
		return nil
	}
	if v.Null {
		return fmt.Errorf("NULL does not fit a %s: scan into a pointer to it", to.Type())
	}
	return fit(dest, to, v)
}

// fit copies a value that is not NULL.
func fit(dest any, to reflect.Value, v table.Value) error {
	refused := fmt.Errorf("%s %s does not fit a %s", v.Type, v, to.Type())
	switch d := dest.(type) {
	case *[]float64:
		if v.Type.Kind != table.Array {
			return refused
		}
		*d = make([]float64, len(*v.List))
		for i, e := range *v.List {
			if err := assign(&(*d)[i], e); err != nil {
				return err
			}
		}
		return nil
	case *time.Time:
		t, ok := timeOf(v)
		if !ok {
			return refused
		}
		*d = t
		return nil
	case *[]byte:
		*d = []byte(v.String())
		return nil
	case *big.Int:
		if !v.Type.IsExact() || v.Type.Scale > 0 {
			return refused
		}
		d.Set(v.Unscaled())
		return nil
	case *big.Rat:
		if !v.Type.IsExact() {
			return refused
		}
		d.SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale))
		return nil
	}
	whole := (v.Type.IsInteger() || v.Type.Kind == table.Decimal && v.Type.Scale == 0 || v.Type.Kind == table.Interval && v.Months == 0) && v.Big == nil
	switch {
	case to.Kind() == reflect.String:
		to.SetString(v.String())
	case to.Kind() == reflect.Bool && v.Type.Kind == table.Boolean:
		to.SetBool(v.I != 0)
	case to.Type() == reflect.TypeFor[time.Duration]() && v.Type.Kind == table.Interval && v.Months == 0:
		to.SetInt(int64(time.Duration(v.I) * time.Microsecond))
	case to.CanInt() && whole && !to.OverflowInt(v.I):
		to.SetInt(v.I)
	case to.CanUint() && whole && v.I >= 0 && !to.OverflowUint(uint64(v.I)):
		to.SetUint(uint64(v.I))
	case to.CanFloat() && v.Type.IsFloat():
		to.SetFloat(v.F)
	case to.CanFloat() && v.Type.IsExact():
		f, _ := new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale)).Float64()
		to.SetFloat(f)
	default:
		return refused
	}
	return nil
}

// timeOf is a DATE or TIMESTAMP as a time in UTC.
func timeOf(v table.Value) (time.Time, bool) {
	switch v.Type.Kind {
	case table.Date:
		return time.Unix(86400*v.I, 0).UTC(), true
	case table.Timestamp:
		return time.UnixMicro(v.I).UTC(), true
	}
	return time.Time{}, false
}

// goValue is a value as Go has it: int64, float64, bool, string, time.Time. A NUMERIC, an interval and an
// array are text, and NULL is nil.
func goValue(v table.Value) any {
	switch t := v.Type; {
	case v.Null:
		return nil
	case t.IsInteger():
		return v.I
	case t.IsFloat():
		return v.F
	case t.Kind == table.Boolean:
		return v.I != 0
	case t.Kind == table.Date || t.Kind == table.Timestamp:
		at, _ := timeOf(v)
		return at
	}
	return v.String()
}
