package slt

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stencildb/stencildb/testdata"
)

// Unpack writes the files of rows that the files of testdata/slt read into a folder. A database reads them there by their
// names: flights.parquet, orders.csv and cities.csv.
func Unpack(folder string) error {
	if err := os.WriteFile(filepath.Join(folder, "flights.parquet"), testdata.Flights200k, 0o644); err != nil {
		return err
	}
	list, err := testdata.SLT.ReadDir("slt")
	if err != nil {
		return err
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".csv") {
			continue
		}
		data, err := testdata.SLT.ReadFile("slt/" + e.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, e.Name()), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
