package trace

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"
)

//go:embed page
var files embed.FS

var page = template.Must(template.New("page.html").ParseFS(files, "page/page.html"))

// WriteHTML writes the page: one file that loads nothing from elsewhere.
func (t *Trace) WriteHTML(w io.Writer) error {
	css, err := files.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	js, err := files.ReadFile("page/page.js")
	if err != nil {
		return err
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
	}{t, template.CSS(css), template.JS(js), template.JS(data)})
}
