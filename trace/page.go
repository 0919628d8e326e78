package trace

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"

	"github.com/stencildb/stencildb/demos/draw"
)

//go:embed page
var assets embed.FS

var page = template.Must(template.New("page.html").ParseFS(assets, "page/page.html"))

// WriteHTML writes the page: one file that loads nothing from elsewhere.
func (t *Trace) WriteHTML(w io.Writer) error {
	css, err := assets.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	js := draw.JS
	for _, name := range []string{"base", "pictures", "record", "search", "page"} {
		text, err := assets.ReadFile("page/" + name + ".js")
		if err != nil {
			return err
		}
		js += string(text)
	}
	data, err := json.Marshal(t) // escapes <, > and &
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		*Trace
		CSS  template.CSS
		JS   template.JS
		Data template.JS
	}{t, template.CSS(draw.CSS() + string(css)), template.JS(js), template.JS(data)})
}
