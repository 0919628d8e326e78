package cmd

import (
	"strconv"

	"github.com/stencildb/stencildb/glctx"
)

// size is a flag's number of bytes: 512MiB, 4G, 1.5GB, 1048576.
type size int64

// String implements pflag.Value.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type implements pflag.Value.
func (s *size) Type() string { return "SIZE" }

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	n, err := glctx.ParseSize(text)
	if err != nil {
		return err
	}
	*s = size(n)
	return nil
}
