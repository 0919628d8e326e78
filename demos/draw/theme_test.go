package draw

import (
	"strings"
	"testing"
)

func TestTheStyleSheetHasTheColoursOfBothThemes(t *testing.T) {
	light, dark, ok := strings.Cut(CSS(), "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatalf("the style sheet is %q", CSS())
	}
	for _, c := range []struct{ sheet, want string }{
		{light, "--null: #d6336c;"}, {dark, "--null: #f06595;"},
		{light, "--dropped: #a3323c;"}, {dark, "--pass: #35d399;"},
		{light, "--stencil: #d8d8d8 #e69f00 "}, {dark, "--stencil: #2c343d #e69f00 "},
	} {
		if !strings.Contains(c.sheet, c.want) {
			t.Errorf("%q does not have %q", c.sheet, c.want)
		}
	}
	if a, b := values(light), values(dark); a == "" || a != b {
		t.Errorf("values are %q in the light and %q in the dark", a, b)
	}
	if Light.Stencil(9) == Light.Stencil(1) || Light.Stencil(9).R >= Light.Stencil(1).R {
		t.Errorf("stencil value 9 is %v, 1 is %v", Light.Stencil(9), Light.Stencil(1))
	}
	if got := Light.Passing(0); got != Half(Value(0), Light.Tint) || got == Value(0) {
		t.Errorf("the smallest value that passes is %v", got)
	}
}

// values are the greys that a style sheet names.
func values(sheet string) string {
	_, rest, _ := strings.Cut(sheet, "--values: ")
	list, _, _ := strings.Cut(rest, ";")
	return list
}
