package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outcome is what a command line gave.
type outcome struct {
	status      int
	out, errOut string
}

// stencildb runs a command line in-process.
func stencildb(args ...string) outcome {
	return stencildbWith(context.Background(), "", args...)
}

func stencildbWith(ctx context.Context, stdin string, args ...string) outcome {
	var out, errOut bytes.Buffer
	status := Execute(ctx, args, strings.NewReader(stdin), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
}

// wantFailure checks the contract of failures: the status, one error line that
// holds all of want, and nothing on standard output.
func (o outcome) wantFailure(t *testing.T, status int, want ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status %d, want %d (%s)", o.status, status, o.errOut)
	}
	if o.out != "" {
		t.Errorf("standard output holds %q, want nothing", o.out)
	}
	if !strings.HasPrefix(o.errOut, "error: ") || strings.Count(o.errOut, "\n") != 1 || !strings.HasSuffix(o.errOut, "\n") {
		t.Errorf("standard error holds %q, want one line \"error: ...\"", o.errOut)
	}
	for _, w := range want {
		if !strings.Contains(strings.ToLower(o.errOut), strings.ToLower(w)) {
			t.Errorf("the error is %q, want it to say %q", o.errOut, w)
		}
	}
}

// wantOutput checks a success with exactly this output.
func (o outcome) wantOutput(t *testing.T, want string) {
	t.Helper()
	if o.status != 0 || o.errOut != "" {
		t.Errorf("status %d and error output %q, want 0 and none", o.status, o.errOut)
	}
	if o.out != want {
		t.Errorf("output\n%s\nwant\n%s", o.out, want)
	}
}

// file writes a file for the test and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// typedCSV is a table with each of the types that CSV has, NULLs and an empty string.
const typedCSV = `i,d,day,at,yes,s
1,1.5,2001-02-03,2001-02-03 04:05:06,true,one
-2,NaN,1969-12-31,1969-12-31 23:59:59.5,false,"two, ""quoted"""
9007199254740993,-Infinity,,,,""
,,,,,
`
