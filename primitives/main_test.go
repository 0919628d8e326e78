package primitives_test

import (
	"os"
	"testing"
)

// TestMain keeps llvmpipe to one thread, so that a work group ends before the next one begins. A tile
// waits for the one before it (Shapes.LookBack), whose thread the system may have put aside. llvmpipe
// ends such a wait after 65,535 turns, and the scan starts afresh there.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
