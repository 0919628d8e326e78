package plantest

import (
	"flag"
	"math/rand/v2"
	"testing"
)

// Random is where a test draws from that does not draw by rapid: it begins at -rapid.seed; where that is 0, somewhere else each time. The test's log has where.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value.(flag.Getter).Get().(uint64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-rapid.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
