//go:build duckdb

package duckdb

import (
	"testing"

	"github.com/stencildb/stencildb/internal/oracle/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
