package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// parsed is a flag whose text is read by a function.
type parsed[T any] struct {
	to         *T
	text, kind string
	read       func(string) (T, error)
}

func (p *parsed[T]) String() string { return p.text }

func (p *parsed[T]) Type() string { return p.kind }

func (p *parsed[T]) Set(text string) error {
	v, err := p.read(text)
	if err == nil {
		*p.to, p.text = v, text
	}
	return err
}

// choiceFlag adds a flag that takes one of words, by default what is there.
func choiceFlag(c *cobra.Command, to *string, name, usage string, words ...string) {
	c.Flags().Var(&parsed[string]{to, *to, strings.Join(words, "|"), oneOf("must be one of ", words)}, name, usage)
	// Completion cannot fail to register for a flag that was just added.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// oneOf reads one of words. The error for another one lists them.
func oneOf(wrong string, words []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New(wrong + strings.Join(words, ", "))
		}
		return s, nil
	}
}

// listOf reads words between commas, none of them twice.
func listOf[T comparable](read func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) (list []T, err error) {
		for word := range strings.SplitSeq(text, ",") {
			v, err := read(word)
			if err != nil {
				return nil, err
			}
			if slices.Contains(list, v) {
				return nil, fmt.Errorf("%v is given twice", v)
			}
			list = append(list, v)
		}
		return list, nil
	}
}

// completeList completes the last of a flag's comma-separated words.
func completeList(c *cobra.Command, flag string, words []string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var list []cobra.Completion
		for _, w := range words {
			if !slices.Contains(strings.Split(before, ","), w) {
				list = append(list, before+w)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}
