package devicepool

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/compute/sharedscan"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Of many who ask all the time, halves take turns. The last of one to come closes the next batch, while the device answers the other.
func TestHalvesTakeTurns(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 50)
	b.Column(0).Ints(make([]int64, 50))
	if err := b.EndRows(50); err != nil {
		t.Fatal(err)
	}
	tab, device := b.Table(), compute.Profile{Lines: 64}
	w := &ScanQueue{Least: 2}
	add := func() (r *request, full *sharedscan.Scan) {
		q := &physical.Query{Table: tab, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
		for range tab.Chunks {
			q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: &predicate.Pred{Op: predicate.True}})
		}
		r = &request{form: sharedscan.QueryOf(q), query: q, device: device, ctx: context.Background()}
		return r, w.add(r)
	}
	take := func(r *request, fits bool) (*sharedscan.Scan, []*request) {
		return w.take(r, func(*sharedscan.Scan) bool { return fits })
	}
	var all []*request
	adds := func(n, fullAt int) {
		t.Helper()
		for i := 1; i <= n; i++ {
			r, full := add()
			if (full != nil) != (i == fullAt) || full != nil && full != w.next {
				t.Fatalf("statement %d of %d: full %v", i, n, full != nil)
			}
			all = append(all, r)
		}
	}
	adds(40, 0) // nobody is expected yet
	batch, members := take(all[3], true)
	if batch == nil || batch.Len() != 40 || len(members) != 40 || len(w.list) > 0 || w.expected != 0 {
		t.Fatalf("the first batch has %d, %d are expected", len(members), w.expected)
	}
	w.Ended(len(members), time.Minute)
	adds(12, 0) // of the 28 others 20 are enough
	if _, members = take(all[40], true); len(members) != 12 || w.expected != 20 {
		t.Fatalf("the first half has %d, %d are expected", len(members), w.expected)
	}
	w.Ended(len(members), time.Minute)
	w.last = 40
	adds(20, 20)
	if _, members = take(all[55], true); len(members) != 20 || w.expected != 20 {
		t.Fatalf("the second half has %d, %d are expected", len(members), w.expected)
	}
	adds(22, 20)
	w.Ended(len(members), time.Minute)
	start := time.Now()
	w.last = 100
	w.await(all[72]) // the second half, which is closed, waits for nobody
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it waited for %v", took)
	}
	late := all[93]
	if batch, members = take(late, true); batch != nil || len(members) != 1 || len(w.members) != 20 || !w.closed || w.expected != 0 {
		t.Errorf("one that is not of the batch took %d, and left %d, closed: %v", len(members), len(w.members), w.closed)
	}
	if batch, members = take(all[72], false); batch != nil || len(members) != 1 || len(w.members) != 20 || w.closed {
		t.Errorf("where a batch does not fit, %d were taken; the next has %d, closed: %v", len(members), len(w.members), w.closed)
	}
	if batch, members = take(all[73], true); batch == nil || len(members) != 20 || len(w.list) > 0 {
		t.Errorf("of those left %d were taken, %d wait", len(members), len(w.list))
	}
	if batch, members = take(late, true); batch != nil || members != nil {
		t.Error("one was taken twice")
	}
	w.last = 9
	adds(5, 0) // all nine are awaited, but five are enough in the end
	if _, members = take(all[94], true); len(members) != 5 || w.expected != 4 {
		t.Errorf("five of nine: %d are a batch, %d are expected", len(members), w.expected)
	}
	for asked, want := range map[int]int{0: 0, 9: 9, 32: 32, 33: 17, 64: 32, 1000: 64} {
		if got := share(asked); got != want {
			t.Errorf("of %d, %d make a batch, want %d", asked, got, want)
		}
	}
}

// Each statement of a batch ends with its own context, and the batch with the last of them.
func TestABatchEndsWithItsLastStatement(t *testing.T) {
	var members []*request
	for range 3 {
		r := &request{}
		r.ctx, r.leave = context.WithCancel(context.Background())
		members = append(members, r)
	}
	ctx, done := untilAll(members)
	defer done()
	for i, r := range members {
		if ctx.Err() != nil {
			t.Errorf("over after %d", i)
		}
		r.leave()
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
	if errors.Is(context.Cause(ctx), glctx.ErrClosed) {
		t.Error("it was not ended by its statements")
	}
}
