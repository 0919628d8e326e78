package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// mipmap is the sum by a mipmap, which the paper discusses and rejects: fast, and
// with an error.
type mipmap struct {
	gpu   *engine.GPU
	table *table.Table
}

func openMipmap(o engine.Options) (System, error) {
	gpu, err := engine.OpenGPU(glctx.Options{Device: o.Device, Memory: o.GPUMemory})
	if err != nil {
		return nil, err
	}
	return &mipmap{gpu: gpu}, nil
}

// Load implements System.
func (m *mipmap) Load(_ context.Context, t *table.Table) error {
	m.table = t
	return nil
}

// Close implements System.
func (m *mipmap) Close() error { return m.gpu.Close() }

// Prepare implements System.
func (m *mipmap) Prepare(_ context.Context, q Query) (Statement, error) {
	p, err := planOf(m.table, q.SQL)
	if err != nil {
		return nil, err
	}
	col := p.Aggs[0].Col
	if f := m.table.Fields[col]; !f.Type.IsInteger() {
		return nil, fmt.Errorf("%w: the mipmap sums integers, %s is of type %v", ErrCannot, f.Name, f.Type)
	}
	if len(m.table.Chunks) != 1 {
		return nil, fmt.Errorf("%w: the mipmap is drawn over one chunk, the table has %d", ErrCannot, len(m.table.Chunks))
	}
	if b := m.table.Chunks[0].Segments[col].Bits; b > textures.LimbBits {
		return nil, fmt.Errorf("%w: the mipmap sums codes of at most %d bits, %s has %d", ErrCannot, textures.LimbBits, m.table.Fields[col].Name, b)
	}
	if m.table.Chunks[0].Segments[col].NonNull() == 0 {
		return nil, fmt.Errorf("%w: there are no values", ErrCannot)
	}
	return &mipmapStatement{m, col}, nil
}

type mipmapStatement struct {
	*mipmap
	col int
}

// Run implements Statement.
func (s *mipmapStatement) Run(ctx context.Context) (Outcome, error) {
	sum, took, err := s.gpu.MipmapSum(ctx, s.table, s.col)
	if err != nil {
		return Outcome{}, backendError(err)
	}
	return Outcome{Answer: Answer{fmt.Sprintf("%.0f", sum)}, Wall: max(time.Nanosecond, took)}, nil
}
