package bench

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/papers/lab"
)

// The schema has every field that a report of any suite may have, and no other.
func TestTheSchemaHasEveryField(t *testing.T) {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	compareFields(t, "report", schema, reflect.TypeFor[report.Report]())
}

// compareFields compares what a schema says of objects with the fields of a type.
func compareFields(t *testing.T, at string, schema map[string]any, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		if typ.Kind() == reflect.Slice {
			schema = schema["items"].(map[string]any)
		}
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
		return
	}
	properties := schema["properties"].(map[string]any)
	var required, names []string
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if names = append(names, name); options == "" {
			required = append(required, name)
		}
		of, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s.%s is not in the schema", at, name)
			continue
		}
		compareFields(t, at+"."+name, of, f.Type)
	}
	for name := range properties {
		if !slices.Contains(names, name) {
			t.Errorf("%s.%s is in the schema and in no report", at, name)
		}
	}
	for _, name := range schema["required"].([]any) {
		if !slices.Contains(required, name.(string)) {
			t.Errorf("%s.%v is required, and a report may lack it", at, name)
		}
	}
}

// The names of figures are numbers in JSON where they are such.
func TestFigureNames(t *testing.T) {
	for name, want := range map[lab.Name][3]string{"2": {"2", "Figure 2: t", "figure-02"}, "4-2": {`"4-2"`, "Figure 4-2: t", "figure-4-2"}, "table8": {`"table8"`, "Table 8: t", "table-08"}} {
		text, err := json.Marshal(name)
		f := lab.Figure{Name: name, Title: "t"}
		var back lab.Name
		if got := [3]string{string(text), f.Heading(), f.File()}; err != nil || got != want || json.Unmarshal(text, &back) != nil || back != name {
			t.Errorf("%s: %v, %q, %v", name, got, back, err)
		}
	}
}
