package glctx

import (
	"io"
	"strings"
	"text/template"
)

// infoText is the information for people.
var infoText = template.Must(template.New("info").Funcs(template.FuncMap{
	"rendering": rendering, "size": FormatSize, "words": words,
	"yes": func(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] },
}).Parse(`Devices (choose with --device or STENCILDB_DEVICE)
{{range .Devices}}{{if .Chosen}}*{{else}} {{end}} {{.Index}}  {{printf "%-11s  %-8s" .Platform (rendering .Software)}}  {{or .Renderer "unknown renderer"}}
{{with .File}}     {{.}}
{{end}}{{with .Error}}     cannot be opened: {{.}}
{{end}}{{if .Chosen}}     chosen: {{.Why}}
{{end}}{{end -}}
{{with .Error}}  error            {{.}}
{{end -}}
{{with .Caps}}OpenGL
  vendor           {{.Vendor}}
  renderer         {{.Renderer}} ({{rendering .Software}})
  version          {{.Version}}
  GLSL             {{.GLSL}}
  depth bounds     {{yes .DepthBounds}}
  buffer addresses {{yes .BufferAddresses}}
  timing           {{if .GPUTimer}}GPU timer{{else}}wall clock around glFinish{{end}}
  sample counter   {{.SamplesBits}} bits
  memory           {{size .MemoryTotal}}, {{size .MemoryFree}} free, budget {{size .Budget}}
{{with .Disabled}}  disabled         {{words .}}
{{end}}Limits
{{range $name, $limit := .Limits}}{{printf "  %-38s %12d" $name $limit}}
{{end}}Extensions ({{len .Extensions}}){{if $.All}}
                   {{words .Extensions}}{{else}}: info --all lists them{{end}}
{{end}}Machine
  CPU              {{.CPU.Model}}
  cores            {{.CPU.Cores}} (GOMAXPROCS {{.CPU.Threads}})
  SIMD             {{words .CPU.SIMD}}
  RAM              {{size .Memory.Total}}, {{size .Memory.Available}} available, {{with .Memory.Limit}}limited to {{size .}}{{else}}no limit set on the process{{end}}
  built with       {{.Go}} {{.OS}}, windows: {{yes .Windows}}
`))

// words wraps words under each other.
func words(list []string) string {
	const indent, width = 19, 100
	text, column := "", indent
	for i, word := range list {
		switch column += 1 + len(word); {
		case i == 0:
			column--
		case column > width:
			text, column = text+"\n"+strings.Repeat(" ", indent), indent+len(word)
		default:
			text += " "
		}
		text += word
	}
	return text
}

// WriteText writes the information for people; all is with the names of the extensions.
func (i *Info) WriteText(w io.Writer, all bool) error {
	return infoText.Execute(w, struct {
		*Info
		All bool
	}{i, all})
}
