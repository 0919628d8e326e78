package harness

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Main makes STENCILDB_SOAK multiply the number of tables drawn, unless
// -rapid.checks says it.
func Main(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	checks := 25 // tables: make test has twenty minutes in all
	if n, err := strconv.Atoi(os.Getenv("STENCILDB_SOAK")); err == nil && n > 0 {
		checks = 100 * n
	}
	if !given {
		if err := flag.Set("rapid.checks", strconv.Itoa(checks)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
