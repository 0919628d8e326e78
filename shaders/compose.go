package shaders

import (
	"fmt"
	"slices"
)

// ComposeCompute returns a compute program of files of glsl/ followed by generated
// text; line numbers of errors in the latter are its own.
func ComposeCompute(name string, parts, defines []string, text string) Source {
	s := assemble(name, defines, parts...)
	s.Text += fmt.Sprintf("#line 1 %d\n", len(parts)) + text
	s.Files = append(slices.Clip(s.Files), name)
	s.Compute = true
	return s
}

// Compose returns a program of files of glsl/ followed by generated text; line
// numbers of errors in the latter are its own.
func Compose(name string, parts []string, text string) Source {
	s := assemble(name, nil, parts...)
	s.Text += fmt.Sprintf("#line 1 %d\n", len(parts)) + text
	s.Files = append(slices.Clip(s.Files), name)
	return s
}
