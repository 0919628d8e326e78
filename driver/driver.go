package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
)

func init() { sql.Register("stencildb", Driver{}) }

// Driver is the driver.
type Driver struct{}

// Open opens a connection to a DB of its own. [sql.Open] calls [Driver.OpenConnector] instead.
func (d Driver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	conn.(*Conn).closing = c.(*connector).Close
	return conn, nil
}

// OpenConnector reads a data source name. Nothing is opened yet.
func (Driver) OpenConnector(name string) (driver.Connector, error) {
	o, loads, err := parse(name)
	if err != nil {
		return nil, fmt.Errorf("stencildb: data source name %q: %w", name, err)
	}
	return &connector{open: func() (*engine.DB, error) { return open(o, loads) }, owns: true}, nil
}

// NewConnector gives [sql.OpenDB] connections to a DB that is open. It stays open when the [sql.DB] is closed.
func NewConnector(db *engine.DB) driver.Connector {
	return &connector{open: func() (*engine.DB, error) { return db, nil }}
}

// parse reads a data source name.
func parse(name string) (o engine.Options, loads []string, err error) {
	folder, options, _ := strings.Cut(name, "?")
	if folder == ":memory:" {
		return o, nil, errors.New(`a name is a folder: take "" for tables in memory`)
	}
	o.Folder = folder
	values, err := url.ParseQuery(options)
	if err != nil {
		return o, nil, err
	}
	for key, list := range values {
		if key == "load" {
			loads = list
			continue
		}
		if len(list) > 1 {
			return o, nil, fmt.Errorf("the option %s is given %d times", key, len(list))
		}
		switch v := list[0]; key {
		case "backend":
			o.Backend = v
		case "device":
			o.Device = v
		case "gpu_memory":
			o.GPUMemory, err = glctx.ParseSize(v)
		case "host_memory":
			o.HostMemory, err = glctx.ParseSize(v)
		case "statement_timeout":
			o.StatementTimeout, err = time.ParseDuration(v)
		case "strict":
			if o.Strict, err = strconv.ParseBool(v); err != nil {
				err = fmt.Errorf("the option strict is %q, neither true nor false", v)
			}
		default:
			err = fmt.Errorf("there is no option %s; there are load, backend, device, gpu_memory, host_memory, statement_timeout and strict", key)
		}
		if err != nil {
			return o, nil, err
		}
	}
	return o, loads, nil
}

// open opens a DB with the tables of load options.
func open(o engine.Options, loads []string) (*engine.DB, error) {
	db, err := engine.Open(o)
	if err != nil {
		return nil, err
	}
	for _, load := range loads {
		specs, wrong := ingest.InFolder(load)
		err = errors.Join(err, wrong)
		for _, spec := range specs {
			name, source, wrong := ingest.ParseLoad(spec)
			if wrong == nil {
				_, wrong = ingest.Files(source.Path)
			}
			if wrong == nil {
				wrong = db.Attach(name, source)
			}
			err = errors.Join(err, wrong)
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connector opens a DB with the first connection, and shares it among all.
type connector struct {
	open func() (*engine.DB, error)
	owns bool // the DB is closed with the connector

	mu     sync.Mutex
	db     *engine.DB
	closed bool
}

// Connect implements [driver.Connector].
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("stencildb: the connector is closed")
	}
	if c.db == nil {
		db, err := c.open()
		if err != nil {
			return nil, err
		}
		c.db = db
	}
	return &Conn{session: c.db.Session()}, nil
}

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return Driver{} }

// Close closes the DB; [sql.DB.Close] calls it.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.db == nil || !c.owns {
		return nil
	}
	db := c.db
	c.db = nil
	return db.Close()
}
