package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// CreateStatement writes a table or a view as the SQL that makes it, without rows and without indexes but those that are
// unique. def is nil of a table that is no statement's, as that of a file: its columns are then all that there is.
func CreateStatement(name string, fields []table.Field, def *storage.Definition) string {
	names := xslices.Map(fields, func(f table.Field) string { return expr.Ident(f.Name) })
	if def != nil && def.View != "" {
		return fmt.Sprintf("CREATE VIEW %s (%s) AS %s;", expr.Ident(name), strings.Join(names, ", "), def.View)
	}
	var lines []string
	for i, f := range fields {
		if f.Unsupported != "" {
			lines = append(lines, fmt.Sprintf("-- %s: %s", names[i], typeOf(f, typeName)))
			continue
		}
		lines = append(lines, names[i]+" "+columnDefinition(def, i, f.Type))
	}
	begin := "CREATE TABLE "
	var after []string
	if def != nil {
		if def.Temp {
			begin = "CREATE TEMP TABLE "
		}
		for _, c := range def.Checks {
			lines = append(lines, fmt.Sprintf("CONSTRAINT %s CHECK (%s)", expr.Ident(c.Name), c.SQL))
		}
		for _, k := range def.Keys {
			columns := xslices.Map(k.Columns, func(c int) string { return names[c] })
			list := "(" + strings.Join(columns, ", ") + ")"
			switch {
			case k.Index:
				after = append(after, fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s %s;", expr.Ident(k.Name), expr.Ident(name), list))
			case k.Primary:
				lines = append(lines, fmt.Sprintf("CONSTRAINT %s PRIMARY KEY %s", expr.Ident(k.Name), list))
			default:
				lines = append(lines, fmt.Sprintf("CONSTRAINT %s UNIQUE %s", expr.Ident(k.Name), list))
			}
		}
	}
	last := len(lines) - 1
	for last > 0 && strings.HasPrefix(lines[last], "--") {
		last--
	}
	for i, line := range lines {
		if i < last && !strings.HasPrefix(line, "--") {
			line += ","
		}
		lines[i] = "  " + line
	}
	return strings.Join(slices.Concat([]string{begin + expr.Ident(name) + " (\n" + strings.Join(lines, "\n") + "\n);"}, after), "\n")
}

// columnDefinition is the type of a column with what is said of it.
func columnDefinition(def *storage.Definition, column int, t table.Type) string {
	if def == nil {
		return t.String()
	}
	c := def.Columns[column]
	text := c.TypeName(t)
	switch k := c.Sequence; {
	case k != nil && k.Kind.Identity():
		return fmt.Sprintf("%s GENERATED %s AS IDENTITY%s", text, strings.ToUpper(string(k.Kind)), counterOptions(k))
	case k != nil: // which is NOT NULL
		return map[string]string{"smallint": "smallserial", "integer": "serial", "bigint": "bigserial"}[text]
	case c.NotNull:
		text += " NOT NULL"
	}
	if c.Default != "" {
		text += " DEFAULT " + c.Default
	}
	return text
}

// counterOptions are those of a counter that are not what they are without being said.
func counterOptions(k *storage.Sequence) string {
	var list []string
	if k.Start != 1 {
		list = append(list, fmt.Sprintf("START WITH %d", k.Start))
	}
	if k.Step != 1 {
		list = append(list, fmt.Sprintf("INCREMENT BY %d", k.Step))
	}
	if k.Min != nil {
		list = append(list, fmt.Sprintf("MINVALUE %d", *k.Min))
	}
	if k.Max != nil {
		list = append(list, fmt.Sprintf("MAXVALUE %d", *k.Max))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, " ") + ")"
}

// NoTable is the error of a name that no table has, with the nearest of those that there are.
func NoTable(name string, known []string) error {
	return sqlstate.Errorf(sqlstate.UndefinedTable, "table %q does not exist%s", name, suggest(name, known, "tables"))
}
