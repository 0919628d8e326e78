package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"time"

	stencildb "github.com/stencildb/stencildb/driver"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/sqlstate"
)

// A table in memory, a prepared statement, and a query with a time limit.
func Example() {
	db, err := sql.Open("stencildb", "?backend=cpu") // or a folder: "trips.db"
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE trips (driver text NOT NULL, miles bigint, fare numeric(9,2))"); err != nil {
		log.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO trips VALUES ($1, $2, $3)")
	if err != nil {
		log.Fatal(err)
	}
	defer insert.Close()
	for _, trip := range [][]any{{"Anna", 3, "12.50"}, {"Ben", 10, "31"}, {"Anna", nil, "7.25"}} {
		if _, err := insert.Exec(trip...); err != nil {
			log.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, "SELECT driver, SUM(miles), SUM(fare) FROM trips GROUP BY driver ORDER BY driver")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var driver, fare string
		var miles int64
		if err := rows.Scan(&driver, &miles, &fare); err != nil {
			log.Fatal(err)
		}
		fmt.Println(driver, miles, fare)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Anna 3 19.75
	// Ben 10 31.00
}

// An error of a statement has PostgreSQL's code, and its place in the text.
func Example_errors() {
	db, err := sql.Open("stencildb", "?backend=cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE trips (id integer PRIMARY KEY)"); err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec("INSERT INTO trips VALUES (1),\n (2), (1)")
	var wrong *engine.StatementError
	switch {
	case errors.As(err, &wrong) && sqlstate.Of(err) == sqlstate.UniqueViolation:
		fmt.Println("there is one already:", wrong.SQLState())
	case errors.As(err, &wrong):
		line, column := wrong.Position()
		fmt.Println(wrong.SQLState(), line, column)
	}
	// Output:
	// there is one already: 23505
}

// A transaction is tried again while another one was first.
func Example_transaction() {
	db, err := sql.Open("stencildb", "?backend=cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE accounts (id bigint PRIMARY KEY, amount bigint); INSERT INTO accounts VALUES (1, 100), (2, 0)"); err != nil {
		log.Fatal(err)
	}
	transfer := func(amount int) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for id, more := range map[int]int{1: -amount, 2: amount} {
			if _, err := tx.Exec("UPDATE accounts SET amount = amount + $1 WHERE id = $2", more, id); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	err = transfer(30)
	for errors.Is(err, engine.ErrConflict) {
		err = transfer(30)
	}
	if err != nil {
		log.Fatal(err)
	}
	var first, second int
	if err := db.QueryRow("SELECT MAX(amount), MIN(amount) FROM accounts").Scan(&first, &second); err != nil {
		log.Fatal(err)
	}
	fmt.Println(first, second)
	// Output:
	// 70 30
}

// An engine.DB has both database/sql and the API of its own: here rows as Arrow record batches.
func ExampleNewConnector() {
	own, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	db := sql.OpenDB(stencildb.NewConnector(own))
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t AS SELECT g AS x FROM generate_series(1, 1000) AS q(g)"); err != nil {
		log.Fatal(err)
	}
	rows, err := own.Query(context.Background(), "SELECT x FROM t WHERE x > 100")
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for batch, err := range rows.Batches() {
		if err != nil {
			log.Fatal(err)
		}
		n += int(batch.NumRows())
		batch.Release()
	}
	fmt.Println(n)
	// Output:
	// 900
}
