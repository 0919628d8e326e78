package sql

import "testing"

// The data of COPY FROM STDIN are no SQL, and a statement that is being typed is complete with the line that ends them.
func TestCompleteWithData(t *testing.T) {
	for _, c := range []struct {
		text  string
		end   int
		begun bool
	}{
		{"COPY t FROM STDIN;\n", 0, true},
		{"COPY t FROM STDIN;\n1;2\n", 0, true},
		{"COPY t FROM stdin;\n1;2\n\\.\n", 26, false},
		{"SELECT 1; COPY t FROM stdin (FORMAT csv);\n';\n", 9, true},
		{"COPY t FROM stdin;\n'\n\\.\nSELECT", 24, true},
		{"COPY t FROM STDIN; SELECT 1;", 28, false},
		{"COPY t TO STDOUT;\n", 17, false},
		{"COPY \"from\" FROM 'stdin';\n", 25, false},
	} {
		if end, begun := Complete(c.text); end != c.end || begun != c.begun {
			t.Errorf("%q ends at %d, %t, want %d, %t", c.text, end, begun, c.end, c.begun)
		}
	}
	list, err := Parse("COPY t FROM STDIN;\n'\n\\.\nSELECT ';'; COPY t FROM STDIN; SELECT 2")
	if err != nil || len(list) != 4 || string(list[0].Copy.Data) != "'\n" || list[1].Text != "SELECT ';'" || list[2].Copy.Data != nil || list[3].Text != "SELECT 2" {
		t.Errorf("%v, %v", list, err)
	}
}
