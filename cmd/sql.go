package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/internal/files"
)

// sqlText is the SQL of a command: its one argument, the content of the file of -f, or standard input.
type sqlText struct {
	file     string
	fallback string // where neither of the first two is given; "" for standard input
}

// maxText is the most SQL text, in bytes, that is read from a file or standard input.
const maxText = 64 << 20

// withoutMark is a text without the byte order mark of Windows' editors.
func withoutMark(text string) string { return strings.TrimPrefix(text, "\ufeff") }

// readSQL reads the text of a file.
func readSQL(ctx context.Context, path string) (string, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := files.ReadAll(ctx, f, path, maxText)
	return withoutMark(string(text)), err
}

// read returns the text.
func (s *sqlText) read(c *cobra.Command, args []string) (string, error) {
	given := c.Flags().Changed("file")
	if !given && len(args) == 0 && s.fallback == "" {
		if terminal.Is(c.InOrStdin()) {
			return "", usagef("no SQL: give it as an argument, with -f FILE, or on standard input; 'stencildb shell' answers what is typed")
		}
		given, s.file = true, "-"
	}
	switch {
	case given && len(args) > 0:
		return "", usagef("give SQL as an argument or with -f, not both")
	case given && s.file == "":
		return "", usagef("-f: name a file, or - for standard input")
	case given && s.file == "-":
		text, err := files.ReadAll(c.Context(), c.InOrStdin(), "standard input", maxText)
		return withoutMark(string(text)), err
	case given:
		return readSQL(c.Context(), s.file)
	case len(args) == 0:
		return s.fallback, nil
	}
	return args[0], nil
}

// name is where the text comes from, in words.
func (s *sqlText) name() string {
	switch s.file {
	case "":
		return "the argument"
	case "-":
		return "standard input"
	}
	return s.file
}

// atMostOneSQL takes the SQL as one argument; more of them are SQL without quotes.
func atMostOneSQL(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d arguments where the SQL is one: put it in quotes, as in stencildb %s 'SELECT COUNT(*) FROM flights'", len(args), c.Name())
	}
	return nil
}
