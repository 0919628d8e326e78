package engine

import (
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// device is an open OpenGL device, as a DB sees it.
type device interface {
	// backend returns the backend of that name, nil where the device has none.
	backend(name string) Backend
	// key says which device it is; the CPU is the DB's to add.
	key() cost.Key
	// content is what was resident after the last query.
	content() *content
	// Close releases it.
	Close() error
}

// content is what is resident on a device at one moment; it does not change.
type content struct {
	list  []textures.Residency
	usage textures.Usage
	held  map[held]struct{}
}

type held struct {
	chunk *table.Chunk
	col   int
	kind  textures.Kind
}

// nothing is the content of a device before its first query.
var nothing = &content{}

func newContent(list []textures.Residency, usage textures.Usage) *content {
	c := &content{list: list, usage: usage, held: make(map[held]struct{}, len(list))}
	for _, r := range list {
		c.held[held{r.Chunk, r.Col, r.Kind}] = struct{}{}
	}
	return c
}

// forms are the kinds in which a backend reads columns that are only compared, and
// those with whose values it computes: any of them will do.
var forms = map[string]struct{ compared, values []textures.Kind }{
	"classic": {[]textures.Kind{textures.FloatTexture}, []textures.Kind{textures.FloatTexture}},
	"fused": {[]textures.Kind{textures.DepthTexture, textures.FloatTexture, textures.IntegerTexture},
		[]textures.Kind{textures.FloatTexture, textures.IntegerTexture, textures.DepthTexture}},
	"compute": {[]textures.Kind{textures.BitPlanes}, []textures.Kind{textures.CodeBlock}},
}

// has reports whether a column is there in a form that a backend reads.
func (c *content) has(backend string, col cost.Column) bool {
	kinds := forms[backend].compared
	if col.Values {
		kinds = forms[backend].values
	}
	for _, k := range kinds {
		if _, ok := c.held[held{col.Chunk, col.Col, k}]; ok {
			return true
		}
	}
	return false
}

// openDevice opens the GPU, once; an error is kept too.
func (db *DB) openDevice() (device, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	if !db.deviceTried {
		start := time.Now()
		db.device, db.deviceError = db.opener(db.opts)
		took := time.Since(start)
		db.opening += took
		db.deviceTried = true
		db.epoch.Add(1)
		if db.deviceError == nil {
			db.costs.opened(db.device.key())
		}
	}
	return db.device, db.deviceError
}

// accountForOpening returns the time that looking for devices and opening them
// took, once.
func (db *DB) accountForOpening() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	d := db.opening
	db.opening = 0
	return d
}
