// Command convert makes testdata/flights-200k.parquet from data/flights-200k.arrow
// of the npm package vega-datasets 3.2.1. The rows keep their order.
//
//	npm pack vega-datasets@3.2.1 && tar xzf vega-datasets-3.2.1.tgz
//	go run ./testdata/convert package/data/flights-200k.arrow testdata/flights-200k.parquet
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/stencildb/stencildb/ingest"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: convert IN OUT (formats by extension)")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func convert(in, out string) error {
	t, err := ingest.Load(context.Background(), "flights", ingest.Source{Path: in}, ingest.Options{})
	if err != nil {
		return err
	}
	if err := ingest.WriteFile(context.Background(), out, t); err != nil {
		return err
	}
	fmt.Printf("%s: %d rows\n", out, t.Rows())
	for i, f := range t.Fields {
		for _, ch := range t.Chunks {
			s := ch.Segments[i]
			fmt.Printf("  %s %s, %d NULLs, %s to %s\n", f.Name, f.Type, s.Nulls, s.Decode(0), s.Decode(s.Max))
		}
	}
	return nil
}
