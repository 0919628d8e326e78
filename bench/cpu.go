package bench

import (
	"context"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// cpuSystem is package cpu on all cores, with vector instructions or without.
type cpuSystem struct {
	backend *cpu.Backend
	table   *table.Table
}

// Load implements System.
func (c *cpuSystem) Load(_ context.Context, t *table.Table) error {
	c.table = t
	return nil
}

// Close implements System.
func (c *cpuSystem) Close() error { return nil }

// Prepare implements System.
func (c *cpuSystem) Prepare(_ context.Context, q Query) (Statement, error) {
	p, err := planOf(c.table, q.SQL)
	return &cpuStatement{c.backend, p}, err
}

type cpuStatement struct {
	backend *cpu.Backend
	plan    *plan.Query
}

// Run implements Statement.
func (s *cpuStatement) Run(ctx context.Context) (Outcome, error) {
	a, err := s.backend.Execute(ctx, s.plan)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Answer: answerOf(a.Values)}, nil
}
