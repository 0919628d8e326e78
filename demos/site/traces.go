package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cmd"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
)

// traces lists the traces of the site but for those recorded on a GPU: each once.
func traces() (list []lesson.Trace) {
	for _, l := range lessons.All() {
		if !slices.Contains(list, l.Trace) {
			list = append(list, l.Trace)
		}
	}
	return append(list,
		lesson.Trace{Name: "cnf", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10) AND (delay <= 30 OR distance >= 300) AND (distance > 150 OR delay > 60)"},
		lesson.Trace{Name: "median", Backend: "classic", SQL: "SELECT MEDIAN(delay) FROM flights WHERE distance > 1000"})
}

// writeTraces writes them into the site, as stencildb trace does on the software device.
func writeTraces(dir string) error {
	for _, t := range traces() {
		var said bytes.Buffer
		args := []string{"trace", "--device", "software", "--backend", t.Backend, "-o", filepath.Join(dir, "traces", t.Name+".html"), t.SQL}
		if cmd.Execute(context.Background(), args, strings.NewReader(""), os.Stdout, &said) != 0 {
			return fmt.Errorf("trace %s: %s", t.Name, said.String())
		}
	}
	return nil
}
