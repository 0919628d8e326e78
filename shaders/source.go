package shaders

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed glsl
var files embed.FS

// header precedes every shader.
const header = "#version 450 core\n"

// Source is a fragment or compute program: complete GLSL text, and the names of the files it
// was put together from. The zero Source is "no fragment program": the fixed
// pipeline of the paper's RenderQuad.
type Source struct {
	Name  string   // for people and errors: "copy.frag"
	Text  string   // complete GLSL
	Files []string // file i of the #line directives
	// Compute marks a compute program.
	Compute bool
	// Vertex is the complete GLSL of a vertex shader of its own; "" is the quad's.
	Vertex string
}

// Load returns the fragment program of glsl/name with the given #defines
// ("CHANNEL r", "NULLS").
func Load(name string, defines ...string) Source {
	return assemble(name, defines, name)
}

// LoadCompute returns the compute program of glsl/name with the given #defines.
func LoadCompute(name string, defines ...string) Source {
	s := assemble(name, defines, name)
	s.Compute = true
	return s
}

// Join returns the fragment program that files of glsl/ make together, the
// functions of the first ones before the last, by which it is named.
func Join(parts []string, defines ...string) Source {
	return assemble(parts[len(parts)-1], defines, parts...)
}

// JoinCompute returns the compute program that files of glsl/ make together, the
// functions of the first ones before the last, by which it is named.
func JoinCompute(parts []string, defines ...string) Source {
	s := assemble(parts[len(parts)-1], defines, parts...)
	s.Compute = true
	return s
}

// LoadPair returns the program of a vertex shader, which files of glsl/ make together, and
// a fragment shader.
func LoadPair(vertex []string, fragment string, defines ...string) Source {
	s := assemble(fragment, defines, fragment)
	s.Vertex = assemble(vertex[len(vertex)-1], defines, vertex...).Text
	return s
}

// assemble joins files of glsl/ under the header and the defines.
func assemble(name string, defines []string, parts ...string) Source {
	var b strings.Builder
	b.WriteString(header)
	for _, d := range defines {
		b.WriteString("#define " + d + "\n")
	}
	for i, p := range parts {
		fmt.Fprintf(&b, "#line 1 %d\n", i)
		b.WriteString(file(p))
	}
	return Source{Name: name, Text: b.String(), Files: parts}
}

// file returns an embedded file. All names are literals of this module, so a
// missing one is found by any test; its text then fails to compile by name.
func file(name string) string {
	text, err := files.ReadFile("glsl/" + name)
	if err != nil {
		return "#error " + err.Error() + "\n"
	}
	return string(text)
}

// locate rewrites the places of a driver's log ("0:12(3): error" from Mesa,
// "0(12) : error" from NVIDIA) to "file:12: error".
func (s Source) locate(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\x00\n "), "\n")
	for i, l := range lines {
		end := strings.IndexAny(l, ":(")
		if end <= 0 {
			continue
		}
		f, err := strconv.Atoi(l[:end])
		if err != nil || f >= len(s.Files) {
			continue
		}
		rest := l[end+1:]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		line := rest[:digits]
		rest = rest[digits:]
		if l[end] == ':' { // Mesa: the column follows in parentheses
			if close := strings.Index(rest, ")"); close >= 0 {
				rest = rest[close+1:]
			}
		} else {
			rest = strings.TrimPrefix(rest, ")")
		}
		rest = strings.TrimLeft(rest, ": ")
		lines[i] = fmt.Sprintf("%s:%s: %s", s.Files[f], line, rest)
	}
	return strings.Join(lines, "; ")
}
