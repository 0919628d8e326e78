// Package driver is the driver "stencildb" of database/sql:
//
//	import _ "github.com/stencildb/stencildb/driver"
//
//	db, err := sql.Open("stencildb", "flights.db?backend=auto")
//
// # The data source name
//
// A name is a folder, and options behind a question mark as a URL has them: DIR?option=value&option=value. In the folder
// tables are kept, as `stencildb --db DIR` does; it is made where it is not there. Without one, as in "" or "?backend=cpu", they
// are in memory. The options are
//
//	load               a table to open, as --load takes it: load=trips.csv, load=t=trips.csv%3Fheader=false (several times)
//	backend            what computes: auto (the default), classic, fused, compute, cpu or both
//	device             the OpenGL devices, as --device takes them
//	gpu_memory         the budget for columns on each device, as 512MiB or 4G
//	host_memory        the budget for tables in host memory
//	statement_timeout  how long a statement may take, as 500ms or 1m
//	strict             true makes numbers among text in a file an error
//
// All connections of a [sql.DB] share one [engine.DB], which the first of them opens and [sql.DB.Close] closes. So tables in
// memory last as long as the sql.DB. What SET changes is the connection's alone, until it goes back to the pool. The next that
// takes it has the settings of the data source name (take a [sql.Conn] or a [sql.Tx] for SET and PREPARE). A folder is written by
// the one that opened it first. [NewConnector] is for a program that has an engine.DB of its own.
//
// # Statements
//
// Parameters are $1, $2, ... (a ? is a syntax error, which says so). They are integers, floats, bool, text, []byte, nil, time.Time, time.Duration (an interval),
// *big.Int, [table.Value], pointers to these, and what implements Valuer. Text takes the type that its place needs, so that a NUMERIC or a
// date may be given as text. A []byte is text, too, and NULL where it is nil. There is no type for bytes, and text that is not valid UTF-8
// is refused. A time.Time is the timestamp that its clock shows, without its zone: give t.UTC() where times have several. Compared with a
// date it has its time of day: write $1::date. x = ANY ($1) takes a slice, or the text of an array, '{1,2}', as pq.Array gives it.
//
// Exec without parameters takes several statements, one after the other: what those before an
// error have done stays, unless BEGIN comes first. LastInsertId is an error: write INSERT ... RETURNING, and Query it.
//
// A context that ends also ends the statement that runs, between two of its passes. A transaction reads one snapshot (LevelDefault to
// LevelSnapshot; LevelSerializable is refused); where another one has changed the same, Commit is an [engine.ErrConflict]. BEGIN, COMMIT
// and ROLLBACK as text need a [sql.Conn]. A connection that goes back to the pool rolls back what is open, and a [sql.Tx] refuses them.
// A row that breaks a rule of its table is an [engine.ErrDuplicateKey], [engine.ErrNotNull] or [engine.ErrCheck], for errors.Is.
//
// Integers come as int64, REAL and DOUBLE PRECISION as float64, booleans as bool, dates and timestamps as time.Time in UTC. All else
// comes as text: a NUMERIC as "12.50".
//
// # With other libraries
//
// To them it is PostgreSQL, as far as its SQL goes. That is sqlx.BindDriver("stencildb", sqlx.DOLLAR), squirrel.Dollar, the dialect postgres of goose, the
// dialector of gorm with postgres.Config{Conn: db}, pgdialect of bun. There are no foreign keys (DisableForeignKeyConstraintWhenMigrating), no FOR
// UPDATE, and none of the types timestamptz, bytea and jsonb: give a field another, as `gorm:"type:timestamp"` does. Nor is there a pg_catalog, of which
// AutoMigrate asks about tables that are there, and goose.NewProvider about its own. Make tables where HasTable says that there is none, and take goose.Up.
// An index that is no key is gone when the process ends, so that a migration drops it with IF EXISTS.
//
// # Beyond database/sql
//
// [sql.Conn.Raw] gives a [*Conn], whose [Conn.Session] has what stencildb has besides: rows as Arrow record batches, and
// [engine.Appender] for bulk inserts, by [engine.Session.DB].
package driver
