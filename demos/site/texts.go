package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stencildb/stencildb/cmd"
	"github.com/stencildb/stencildb/internal/files"
)

// generated are the parts of texts that the program makes, by their names in the markers around them. A
// marker may give a number, such as that of a figure, or the name of a suite.
var generated = map[string]func(root, of string) (string, error){
	"functions":    func(string, string) (string, error) { return functionTable() },
	"settings":     func(string, string) (string, error) { return answerTable("SHOW ALL", "setting", "default", "meaning") },
	"results":      func(string, string) (string, error) { return resultTable() },
	"rules":        func(string, string) (string, error) { return answerTable("SHOW RULES", "rule", "what it does") },
	"shell":        func(string, string) (string, error) { return shellCommands() },
	"speed":        func(root, _ string) (string, error) { return speedTable(root) },
	"ratios":       func(root, _ string) (string, error) { return ratioTable(root) },
	"architecture": func(root, _ string) (string, error) { return roomTable(root) },
	"claims":       claimTable,
	"medians":      medianTable,
	"census":       func(root, _ string) (string, error) { return censusTable(root) },
	"gains":        func(root, _ string) (string, error) { return gainTable(root) },
	"guard":        func(root, _ string) (string, error) { return guardTable(root) },
	"fresh":        freshTable,
	"parameters":   func(root, _ string) (string, error) { return freshSummary(root) },
	"published":    publishedClaims,
}

// part is a generated part of a text, with its name, its number or suite, and what stands between the markers.
var part = regexp.MustCompile(`(?s)(<!-- generated: ([a-z]+)(?: ([0-9a-z]+))? -->\n).*?(<!-- end -->)`)

// filled returns the Markdown files that have generated parts, with these as the program makes them, by
// their paths from the root.
func filled(root string) (map[string]string, error) {
	list := []string{filepath.Join(root, "README.md")}
	for _, in := range []string{"docs/*.md", "docs/results/*.md"} {
		some, err := filepath.Glob(filepath.Join(root, in))
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	all := map[string]string{}
	for _, file := range list {
		have, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var failed error
		text := part.ReplaceAllStringFunc(string(have), func(old string) string {
			m := part.FindStringSubmatch(old)
			make, ok := generated[m[2]]
			if !ok {
				failed = fmt.Errorf("%s: nothing generates %q", file, m[2])
				return old
			}
			made, err := make(root, m[3])
			if err != nil {
				failed = fmt.Errorf("%s: %s: %w", file, m[2], err)
			}
			return m[1] + "\n" + made + "\n" + m[4]
		})
		if failed != nil {
			return nil, failed
		}
		if text == string(have) && !part.MatchString(text) {
			continue
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		all[filepath.ToSlash(name)] = text
	}
	return all, nil
}

// writeTexts writes the generated parts of the texts, and the picture of the rooms.
func writeTexts(root string) error {
	all, err := filled(root)
	if err != nil {
		return err
	}
	if all[architecturePicture], err = architecture(root); err != nil {
		return err
	}
	for name, text := range all {
		if err := files.Write(filepath.Join(root, name), func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// said returns what the command line prints on standard output.
func said(args ...string) (string, error) {
	var out, errOut bytes.Buffer
	if status := cmd.Execute(context.Background(), args, strings.NewReader(""), &out, &errOut); status != 0 {
		return "", fmt.Errorf("stencildb %s: status %d, %s", strings.Join(args, " "), status, errOut.String())
	}
	return out.String(), nil
}

// answer returns the rows of a statement on a database without changes.
func answer(sql string) ([][]string, error) {
	out, err := said("query", "--backend", "cpu", "--format", "csv", sql)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		return nil, err
	}
	return rows[1:], nil
}

// answerTable is a statement's answer as a table of Markdown.
func answerTable(sql string, heads ...string) (string, error) {
	rows, err := answer(sql)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, heads...)
	line(&b, make([]string, len(heads))...)
	for _, row := range rows {
		row[0] = "`" + row[0] + "`"
		line(&b, row...)
	}
	return b.String(), nil
}

// line writes a row of a table of Markdown; empty cells of the line below the heads are its rule.
func line(b *strings.Builder, cells ...string) {
	if strings.Join(cells, "") == "" {
		b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		return
	}
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

// functionTable is SHOW FUNCTIONS with a line a name: how each form is called, and its type.
func functionTable() (string, error) {
	rows, err := answer("SHOW FUNCTIONS")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "function", "calls", "type")
	line(&b, "", "", "")
	for i := 0; i < len(rows); {
		name := rows[i][0]
		var calls, types []string
		for ; i < len(rows) && rows[i][0] == name; i++ {
			calls = append(calls, "`"+rows[i][1]+"`")
			if n := len(types); n == 0 || types[n-1] != rows[i][2] {
				types = append(types, rows[i][2])
			}
		}
		line(&b, "`"+name+"`", strings.Join(calls, ", "), strings.Join(types, ", "))
	}
	return b.String(), nil
}

// shellCommands is the shell's list of its commands.
func shellCommands() (string, error) {
	out, err := said("shell", "--help")
	if err != nil {
		return "", err
	}
	_, list, found := strings.Cut(out, "  \\?")
	list, _, ended := strings.Cut(list, "\nUsage:")
	if !found || !ended {
		return "", fmt.Errorf("stencildb shell --help has no list of commands")
	}
	return "```\n  \\?" + strings.TrimRight(list, "\n") + "\n```\n", nil
}

// results are expressions whose answers a reader of PostgreSQL may want to know.
var results = []string{"7 / 2", "-7 / 2", "7.0 / 2", "1.5 + 1", "2 ^ 10", "sqrt(2.0)", "pg_typeof(1)", "pg_typeof(1.5)", "pg_typeof(1.5 / 2)",
	"SUM(x) FROM (VALUES (1), (2)) v (x)", "SUM(x) FROM (SELECT 1 AS x WHERE false) v", "COUNT(x) FROM (SELECT 1 AS x WHERE false) v",
	"AVG(x) FROM (VALUES (1), (2)) v (x)", "MEDIAN(x) FROM (VALUES (1), (2)) v (x)", "NULL = NULL", "NULL IS NOT DISTINCT FROM NULL", "'a' < 'B'",
	"'NaN'::float8 > 'Infinity'::float8", "-0.0::float8", "round(2.5)", "round(2.5::float8)", "DATE '2024-03-01' - DATE '2024-02-01'",
	"TIMESTAMP '2024-01-31' + INTERVAL '1 month'", "'abc' || NULL", "substring('stencil', 2, 3)"}

// resultTable has each expression of results with its value and its type.
func resultTable() (string, error) {
	var b strings.Builder
	line(&b, "SELECT", "is", "type")
	line(&b, "", "", "")
	for _, expression := range results {
		out, err := said("query", "--backend", "cpu", "--format", "json", "SELECT "+expression)
		if err != nil {
			return "", err
		}
		var got struct {
			Columns []struct{ Type string }
			Rows    [][]json.RawMessage
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			return "", err
		}
		line(&b, "`"+expression+"`", "`"+string(got.Rows[0][0])+"`", got.Columns[0].Type)
	}
	return b.String(), nil
}
