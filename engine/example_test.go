package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

const trips = "driver,miles,fare\nAnna,3,12.5\nBen,10,31\nAnna,1,7.25\n"

// open returns a DB of one table, trips, of three rows in CSV.
func open() *engine.DB {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Load(context.Background(), "trips", ingest.Source{Path: "trips.csv", Data: []byte(trips)}); err != nil {
		log.Fatal(err)
	}
	return db
}

// A table from data in memory, which is read when a statement first names it.
func ExampleDB_Attach() {
	db := open()
	defer db.Close()
	rates := []byte("per_mile;since\n1,5;2024-01-01\n")
	if err := db.Attach("rates", ingest.Source{Data: rates, Format: ingest.CSV, Delim: ';'}); err != nil {
		log.Fatal(err)
	}
	r, err := engine.Collect(db.Query(context.Background(), "SELECT * FROM rates"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Columns[1].Type, r.Rows[0][0], r.Rows[0][1])
	// Output:
	// date 1,5 2024-01-01
}

// Rows of a table, one by one. A parameter takes a value of Go.
func ExampleDB_Query() {
	db := open()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT driver, fare * 2 AS twice FROM trips WHERE miles > $1", 2)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var driver string
		var twice float64
		if err := rows.Scan(&driver, &twice); err != nil {
			log.Fatal(err)
		}
		fmt.Println(driver, twice)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Anna 25
	// Ben 62
}

// The same rows as Arrow record batches.
func ExampleRows_Batches() {
	db := open()
	defer db.Close()
	rows, err := db.Query(context.Background(), "SELECT miles, driver FROM trips")
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range rows.Batches() {
		if err != nil {
			log.Fatal(err)
		}
		miles := batch.Column(0).(*array.Int64)
		fmt.Println(miles.Int64Values(), batch.Column(1).ValueStr(2))
		batch.Release()
	}
	// Output:
	// [3 10 1] Anna
}

// What a statement takes, whatever it answers.
func ExampleDB_Exec() {
	db := open()
	defer db.Close()
	stats, err := db.Exec(context.Background(), "SELECT MEDIAN(fare) FROM trips")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Backend, stats.Passes, stats.Load > 0)
	// Output:
	// cpu 0 true
}

// A small answer as a whole.
func ExampleCollect() {
	db := open()
	defer db.Close()
	r, err := engine.Collect(db.Query(context.Background(), "SELECT COUNT(*), MAX(fare) AS highest FROM trips WHERE miles > 2"))
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range r.Columns {
		fmt.Println(c.Name, "=", r.Rows[0][i])
	}
	// Output:
	// count = 2
	// highest = 31.00
}

// A statement that is prepared once and runs with other values.
func ExampleDB_Prepare() {
	db := open()
	defer db.Close()
	count, err := db.Prepare(context.Background(), "SELECT COUNT(*) FROM trips WHERE driver = $1")
	if err != nil {
		log.Fatal(err)
	}
	for _, driver := range []string{"Anna", "Ben"} {
		r, err := engine.Collect(count.Query(context.Background(), driver))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(driver, r.Rows[0][0])
	}
	// Output:
	// Anna 2
	// Ben 1
}

// The tree of a statement, and below it what the backend does.
func ExampleDB_Explain() {
	db := open()
	defer db.Close()
	x, err := db.Explain(context.Background(), "SELECT driver FROM trips WHERE miles > 2 LIMIT 1", engine.ExplainOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range x.Lines() {
		fmt.Println(line)
	}
	// Output:
	// Project(driver)
	//   Limit(1)
	//     Filter(miles > 2) (2 rows expected)
	//       Scan(trips)
	// Backend cpu
	//    1  Scan(trips)        reads the codes of driver, miles: records 3, chunks 1
	//    2  Filter(miles > 2)  a bitmap of the records for which it is TRUE
	//    3  Rows(driver)       lists the selected records, in the order of the table, and gathers these columns of them
}
