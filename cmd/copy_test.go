package cmd

import (
	"context"
	"strings"
	"testing"
)

// COPY reads standard input and writes standard output: in a query, in a script and in the shell.
func TestCopyThroughPipes(t *testing.T) {
	const table = "CREATE TABLE t (a int, b text);"
	for _, c := range []struct {
		stdin, want string
		args        []string
	}{
		{"1\tx\n2\t\\N\n", "1\tx\n2\t\\N\n", []string{"query", "--backend", "cpu", "--format", "csv", table + " COPY t FROM STDIN; COPY t TO STDOUT"}},
		{"1,x\n", "a|b\n1|x\n", []string{"query", "--backend", "cpu", "--format", "json", "-o", "", table + " COPY t FROM STDIN CSV; COPY t TO STDOUT (DELIMITER '|', HEADER)"}},
		{table + "\nCOPY t FROM STDIN;\n1\tx\n\\.\nCOPY t TO STDOUT;", "1\tx\n", []string{"query", "--backend", "cpu", "--format", "csv"}},
	} {
		o := stencildbWith(context.Background(), c.stdin, c.args...)
		if got := o.out; o.status != 0 || len(got) < len(c.want) || got[len(got)-len(c.want):] != c.want {
			t.Errorf("%q with %q: %+v", c.args, c.stdin, o)
		}
	}
	o := stencildbWith(context.Background(), table+"\nCOPY t FROM STDIN;\n1\tx\n2\ty;\n\\.\nCOPY t TO STDOUT;\nSELECT COUNT(*) FROM t;\n", "shell", "--backend", "cpu")
	if want := "1\tx\n2\ty;\n"; o.status != 0 || !strings.Contains(o.out, want) || !strings.Contains(o.out, "│     2 │") {
		t.Errorf("the shell: %+v", o)
	}
}
