package shaders

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/stencildb/stencildb/glctx"
)

// maxPrograms is how many programs a cache keeps: a few statements' worth. One takes
// some 200 KB in llvmpipe.
const maxPrograms = 256

// Cache compiles fragment and compute programs and keeps those used last: one a distinct
// text. It belongs to one context; call it on the GL thread. Where the context has a
// folder for them, programs outlive the process there.
type Cache struct {
	ctx      *glctx.Context
	vertex   uint32
	programs *simplelru.LRU[string, *Program]
	kept     *binaries
	compiled time.Duration
	made     atomic.Int64
}

// Compiled returns the time spent so far in making programs: compiling, linking, and reading those
// that are kept. What a driver puts off until a program runs is not in it.
func (c *Cache) Compiled() time.Duration { return c.compiled }

// Made is how many programs it has made so far: compiled, or read where they are kept. Any goroutine may ask.
func (c *Cache) Made() int { return int(c.made.Load()) }

// NewCache returns an empty cache for a context.
func NewCache(ctx *glctx.Context) *Cache {
	c := &Cache{ctx: ctx, kept: binariesOf(ctx)}
	// GL keeps the current program until another is used. Only a size below 1 is an error.
	c.programs, _ = simplelru.NewLRU(maxPrograms, func(_ string, p *Program) {
		gl.DeleteProgram(p.ID)
		ctx.Track("program", -1)
	})
	return c
}

// Program is a linked program: of the quad's vertex shader and a fragment shader, or
// of a compute shader. It is good until the cache has been asked for many others.
type Program struct {
	ID        uint32
	name      string
	locations map[string]int32
	quad      float32 // the uniform depth
	placed    bool    // it has been set
}

// Get returns the program of a source, compiling it at first use. The error names
// file and line.
func (c *Cache) Get(s Source) (*Program, error) {
	key := s.Vertex + s.Text
	if p, ok := c.programs.Get(key); ok {
		return p, nil
	}
	start := time.Now()
	defer func() { c.compiled += time.Since(start) }()
	c.made.Add(1)
	id := c.kept.load(s)
	if id == 0 {
		var err error
		if id, err = c.link(s); err != nil {
			_ = c.ctx.Check(s.Name) // Mesa has logged the same text: it is said below
			return nil, err
		}
		c.kept.save(s, id)
	}
	c.ctx.Track("program", 1)
	p := &Program{ID: id, name: s.Name, locations: map[string]int32{}}
	c.programs.Add(key, p)
	return p, nil
}

// Len returns the number of programs that are kept.
func (c *Cache) Len() int { return c.programs.Len() }

func (c *Cache) link(s Source) (uint32, error) {
	if s.Compute {
		return c.linkShaders(s, gl.COMPUTE_SHADER)
	}
	if s.Vertex != "" {
		v, err := compile(gl.VERTEX_SHADER, Source{Name: s.Name + " (vertices)", Text: s.Vertex})
		if err != nil {
			return 0, err
		}
		defer gl.DeleteShader(v)
		return c.linkShaders(s, gl.FRAGMENT_SHADER, v)
	}
	if c.vertex == 0 {
		v, err := compile(gl.VERTEX_SHADER, Load("quad.vert"))
		if err != nil {
			return 0, err
		}
		c.vertex = v
		c.ctx.Track("shader", 1)
	}
	return c.linkShaders(s, gl.FRAGMENT_SHADER, c.vertex)
}

// linkShaders links a program of a shader of s, if s has any text, and others.
func (c *Cache) linkShaders(s Source, kind uint32, others ...uint32) (uint32, error) {
	id := gl.CreateProgram()
	for _, o := range others {
		gl.AttachShader(id, o)
	}
	if s.Text != "" {
		f, err := compile(kind, s)
		if err != nil {
			gl.DeleteProgram(id)
			return 0, err
		}
		gl.AttachShader(id, f)
		defer gl.DeleteShader(f)
	}
	gl.ProgramParameteri(id, gl.PROGRAM_BINARY_RETRIEVABLE_HINT, gl.TRUE)
	gl.LinkProgram(id)
	var ok int32
	if gl.GetProgramiv(id, gl.LINK_STATUS, &ok); ok == gl.FALSE {
		log := infoLog(id, gl.GetProgramiv, gl.GetProgramInfoLog)
		gl.DeleteProgram(id)
		return 0, glctx.Fault(fmt.Errorf("shaders: link %s: %s", s.Name, s.locate(log)))
	}
	return id, nil
}

func compile(kind uint32, s Source) (uint32, error) {
	id := gl.CreateShader(kind)
	if id == 0 {
		return 0, glctx.Fault(errors.New("shaders: no context is current, or it is lost"))
	}
	text, free := gl.Strs(s.Text + "\x00")
	gl.ShaderSource(id, 1, text, nil)
	free()
	gl.CompileShader(id)
	var ok int32
	if gl.GetShaderiv(id, gl.COMPILE_STATUS, &ok); ok == gl.FALSE {
		log := infoLog(id, gl.GetShaderiv, gl.GetShaderInfoLog)
		gl.DeleteShader(id)
		return 0, glctx.Fault(fmt.Errorf("shaders: compile %s: %s", s.Name, s.locate(log)))
	}
	return id, nil
}

// infoLog returns the log of a program or a shader.
func infoLog(id uint32, get func(uint32, uint32, *int32), read func(uint32, int32, *int32, *uint8)) string {
	var n int32
	get(id, gl.INFO_LOG_LENGTH, &n)
	log := strings.Repeat("\x00", int(n)+1)
	read(id, n, nil, gl.Str(log))
	return log
}

// Close deletes every program.
func (c *Cache) Close() {
	c.programs.Purge()
	if c.vertex != 0 {
		gl.DeleteShader(c.vertex)
		c.ctx.Track("shader", -1)
		c.vertex = 0
	}
}

// Uniform is a value for one uniform. Exactly one of F, I and U is
// set. F is float, vec2..4 by length, or an array of vec4 when longer. I is int, or an array of ints. U is uint, or uvec2..3 by length.
type Uniform struct {
	Name string
	F    []float32
	I    []int32
	U    []uint32
}

// Float makes a float uniform.
func Float(name string, v float32) Uniform { return Uniform{Name: name, F: []float32{v}} }

// Uint makes a uint uniform.
func Uint(name string, v uint32) Uniform { return Uniform{Name: name, U: []uint32{v}} }

// Int makes an int uniform.
func Int(name string, v int32) Uniform { return Uniform{Name: name, I: []int32{v}} }

// Place sets the uniform depth, that of the quad.
func (p *Program) Place(quad float32) error {
	if p.placed && p.quad == quad {
		return nil
	}
	p.quad, p.placed = quad, true
	return p.Set([]Uniform{Float("depth", quad)})
}

// Set sets uniforms of p. One that the compiler removed as unused is ignored (no
// driver tells that apart from a name that never was).
func (p *Program) Set(uniforms []Uniform) error {
	for _, u := range uniforms {
		loc, ok := p.locations[u.Name]
		if !ok {
			loc = gl.GetUniformLocation(p.ID, gl.Str(u.Name+"\x00"))
			p.locations[u.Name] = loc
		}
		if loc < 0 {
			continue
		}
		switch {
		case len(u.F) == 1:
			gl.ProgramUniform1f(p.ID, loc, u.F[0])
		case len(u.F) > 0 && len(u.F)%4 == 0:
			gl.ProgramUniform4fv(p.ID, loc, int32(len(u.F)/4), &u.F[0])
		case len(u.I) > 0:
			gl.ProgramUniform1iv(p.ID, loc, int32(len(u.I)), &u.I[0])
		case len(u.U) == 1:
			gl.ProgramUniform1ui(p.ID, loc, u.U[0])
		case len(u.U) == 2:
			gl.ProgramUniform2ui(p.ID, loc, u.U[0], u.U[1])
		case len(u.U) == 3:
			gl.ProgramUniform3ui(p.ID, loc, u.U[0], u.U[1], u.U[2])
		default:
			return fmt.Errorf("shaders: %s: uniform %s has no usable value", p.name, u.Name)
		}
	}
	return nil
}
