package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	words []string
}

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.words, "|") }

// Set implements pflag.Value.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	c.value = s
	return nil
}

// choiceFlag adds a flag that takes one of words, the first by default.
func choiceFlag(c *cobra.Command, name, usage string, words ...string) *choice {
	f := &choice{value: words[0], words: words}
	c.Flags().Var(f, name, usage)
	// Completion cannot fail to register for a flag that was just added.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	return f
}
