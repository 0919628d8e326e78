package json

import (
	"fmt"

	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
)

// cutter finds where objects end in a text of JSON: objects one after the other, or one array of them. What stands between the objects of an
// array it makes blanks, so that a block is objects one after the other.
type cutter struct {
	state   state
	depth   int  // of what is open, but the array
	array   bool // the objects are in one
	quoted  bool // within a string
	escaped bool // behind a backslash there
}

// cut goes on at a place of text, of which there is more unless it is the last. It returns where the last object that ends in it does; 0
// for none. What is wrong between objects is told with its place.
func (c *cutter) cut(text []byte, from int, last bool) (end int, wrong *record.Misplaced) {
	fail := func(i int, format string, args ...any) (int, *record.Misplaced) {
		return end, &record.Misplaced{At: i, Err: fmt.Errorf(format, args...)}
	}
	for i := from; i < len(text); i++ {
		b := text[i]
		switch {
		case c.escaped:
			c.escaped = false
		case c.quoted:
			c.quoted, c.escaped = b != '"', b == '\\'
		case b <= ' ':
		case c.depth > 0:
			switch b {
			case '"':
				c.quoted = true
			case '{', '[':
				c.depth++
			case '}', ']':
				if c.depth--; c.depth == 0 {
					end, c.state = i+1, behindObject
				}
			}
		case c.state == behindObjects:
			return fail(i, "text after the array of objects")
		case b == '{':
			if c.array && c.state == behindObject {
				return fail(i, "a comma is missing between two objects of the array")
			}
			c.depth = 1
		case b == '[' && c.state == beforeObjects:
			c.array, c.state, text[i] = true, arrayOpened, ' '
		case b == ',' && c.array && c.state == behindObject:
			c.state, text[i] = behindComma, ' '
		case b == ']' && c.array && c.state != behindComma:
			c.state, text[i] = behindObjects, ' '
		default:
			return fail(i, "%s is where an object is expected: {\"name\": value, ...}", source.Quote(text[i:min(len(text), i+20)]))
		}
	}
	switch {
	case !last:
		return end, nil
	case c.depth > 0:
		return fail(len(text), "an object does not end: the file is cut short, or a bracket or quote is missing")
	case c.array && c.state != behindObjects:
		return fail(len(text), "the array of objects does not end: its ] is missing")
	}
	return len(text), nil
}

// state is what has been seen last outside of objects.
type state uint8

const (
	beforeObjects state = iota
	arrayOpened         // the bracket that opens the array
	behindComma
	behindObject
	behindObjects // the bracket that closes it
)
