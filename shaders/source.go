package shaders

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed glsl
var files embed.FS

// header precedes every shader.
const header = "#version 450 core\n"

// MaxTurns is how many turns all loops of one invocation may take together, called
// functions included: llvmpipe ends them after 65,535, without a word.
const MaxTurns = 60_000

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

// Load returns the program of glsl/name with the given #defines ("CHANNEL r", "NULLS"). It
// is a compute program where the name ends in ".comp", else a fragment program.
func Load(name string, defines ...string) Source { return Join([]string{name}, defines...) }

// Join returns the program that files of glsl/ make together, the functions of the first
// ones before the last, by which it is named.
func Join(parts []string, defines ...string) Source {
	key := strings.Join(parts, "\n") + "\n\n" + strings.Join(defines, "\n")
	if s, ok := joined.Load(key); ok {
		return s.(Source)
	}
	s := compose(parts[len(parts)-1], parts, defines, "")
	joined.Store(key, s)
	return s
}

// joined keeps what Join returned, since passes ask for their programs at every execution.
var joined sync.Map

// LoadPair returns the program of a vertex shader, which files of glsl/ make together, and
// a fragment shader.
func LoadPair(vertex []string, fragment string, defines ...string) Source {
	s := Load(fragment, defines...)
	s.Vertex = Join(vertex, defines...).Text
	return s
}

// Compose returns a fragment program of files of glsl/ followed by generated text; line
// numbers of errors in the latter are its own.
func Compose(name string, parts []string, text string) Source {
	return compose(name, parts, nil, text)
}

// ComposeCompute is Compose of a compute program, with #defines and more files behind the text.
func ComposeCompute(name string, parts, defines []string, text string, more ...string) Source {
	s := compose(name, parts, defines, text, more...)
	s.Compute = true
	return s
}

// compose joins files of glsl/, text if there is any, and more files under the header and
// the defines.
func compose(name string, parts, defines []string, text string, more ...string) Source {
	s := Source{Name: name, Text: header, Compute: strings.HasSuffix(name, ".comp")}
	for _, d := range defines {
		s.Text += "#define " + d + "\n"
	}
	add := func(name, text string) {
		s.Text += fmt.Sprintf("#line 1 %d\n", len(s.Files)) + text
		s.Files = append(s.Files, name)
	}
	for _, p := range parts {
		add(p, file(p))
	}
	if text != "" {
		add(name, text)
	}
	for _, m := range more {
		add(m, file(m))
	}
	return s
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

// place is where a line of a driver's log says that something is: file and line, "0:12(3): " from
// Mesa, "0(12) : " from NVIDIA.
var place = regexp.MustCompile(`^(\d+)(?::(\d+)(?:\(\d+\))?|\((\d+)\))[: ]*`)

// locate rewrites the places of a driver's log to "file:12: ".
func (s Source) locate(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\x00\n "), "\n")
	for i, l := range lines {
		m := place.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if f, err := strconv.Atoi(m[1]); err == nil && f < len(s.Files) {
			lines[i] = fmt.Sprintf("%s:%s: %s", s.Files[f], m[2]+m[3], l[len(m[0]):])
		}
	}
	return strings.Join(lines, "; ")
}
