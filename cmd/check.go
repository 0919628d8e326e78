package cmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/storage"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Check a folder of tables: every checksum and invariant",
		Long: `Reads all of a folder that keeps tables, and changes nothing: the checksums of its
manifest, its log and the Parquet files of its tables; that the log fits the tables;
codes and dictionaries; NULLs in columns that are NOT NULL; keys that rows share.
Conditions of CHECK are not looked at.

What is wrong is printed in a line each, with the file and the byte where these are
known, and the exit status is 1. Where nothing is, a line says so, and what was read.`,
		Example: `  stencildb check tables`,
		Args:    cobra.ExactArgs(1),
		RunE: run(func(c *cobra.Command, args []string) error {
			if st, err := os.Stat(args[0]); err == nil && !st.IsDir() {
				return fmt.Errorf("%s is a file: name a folder that --db has made", args[0])
			}
			r, err := storage.Verify(c.Context(), args[0])
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, p := range r.Problems {
				if _, err := fmt.Fprintln(c.OutOrStdout(), oneLine(p.String())); err != nil {
					return err
				}
			}
			if n := len(r.Problems); n > 0 {
				return fmt.Errorf("%s: %s", args[0], numbers.Count(n, "thing is wrong", "things are wrong"))
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is sound: %s with %s in %s, %s, %s of the log\n", oneLine(args[0]),
				numbers.Count(r.Tables, "table", "tables"), numbers.Count(r.Rows, "row", "rows"), numbers.Count(r.Files, "file", "files"),
				numbers.Count(r.Views, "view", "views"), numbers.Count(r.Records, "record", "records"))
			return err
		}),
	}
}
