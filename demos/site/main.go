package main

import (
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
)

func main() {
	out := flag.String("o", "docs", "write the pages to `DIR`")
	root := flag.String("root", ".", "the `DIR` of the repository")
	alone := flag.Bool("texts", false, "write the generated parts of the Markdown files, and no pages")
	traced := flag.Bool("traces", false, "write the traces, too")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "error: want no argument: see site -h")
		os.Exit(2)
	}
	err := writeTexts(*root)
	if err != nil || *alone {
		end(err)
		return
	}
	err = write(*root, *out, func(l *lesson.Lesson) (string, error) {
		return play(l, func(name string, img image.Image) error { return draw.WritePNG(filepath.Join(*out, folder, name), img) })
	})
	if err == nil && *traced {
		err = writeTraces(*out)
	}
	end(err)
}

// end ends the program with an error, if there is one.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
