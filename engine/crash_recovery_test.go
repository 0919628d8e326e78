package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/storage"
)

// killedClients is how many clients change tables in the process that is killed, each rows of its own.
const killedClients = 3

// killedRows are a client's rows of the tables t and u: the value of each id.
type killedRows map[string]map[int64]int64

// killedTransaction is the transaction of a number of a client: its statements, and the client's rows when it is committed. It depends on nothing
// else but the most rows that a statement inserts; one in four is rolled back, and is then without rows.
func killedTransaction(client, number int, rows killedRows, most int) (texts []string, after killedRows) {
	r := rand.New(rand.NewPCG(uint64(client), uint64(number)))
	after = killedRows{"t": maps.Clone(rows["t"]), "u": maps.Clone(rows["u"])}
	saved := after
	texts = []string{"BEGIN"}
	statements := 2 + r.IntN(4)
	noted := r.IntN(statements)
	for i := range statements {
		of := []string{"t", "u"}[r.IntN(2)]
		undone := r.IntN(4) == 0
		if undone {
			texts = append(texts, "SAVEPOINT s")
			saved = killedRows{"t": maps.Clone(after["t"]), "u": maps.Clone(after["u"])}
		}
		modulus := int64(2 + r.IntN(5))
		where := fmt.Sprintf("WHERE client = %d AND id %% %d = 0", client, modulus)
		switch r.IntN(4) {
		case 0, 1:
			n := 1 + r.IntN(4)
			if r.IntN(12) == 0 { // whose record takes a while to write
				n = most
			}
			first := int64((number*5+i)*3000*killedClients + client)
			last := first + int64((n-1)*killedClients)
			texts = append(texts, fmt.Sprintf("INSERT INTO %s (id, client, v) SELECT id, %d, %d FROM generate_series(%d, %d, %d) AS g(id)", of, client, number, first, last, killedClients))
			for id := first; id <= last; id += killedClients {
				after[of][id] = int64(number)
			}
		case 2:
			texts = append(texts, fmt.Sprintf("UPDATE %s SET v = v + 1000 %s", of, where))
			for id := range after[of] {
				if id%modulus == 0 {
					after[of][id] += 1000
				}
			}
		case 3:
			texts = append(texts, fmt.Sprintf("DELETE FROM %s %s", of, where))
			maps.DeleteFunc(after[of], func(id, _ int64) bool { return id%modulus == 0 })
		}
		if undone {
			texts = append(texts, "ROLLBACK TO s")
			after = saved
		}
		if i == noted {
			texts = append(texts, fmt.Sprintf("UPDATE done SET number = %d WHERE client = %d", number, client))
		}
	}
	if r.IntN(4) == 0 {
		return append(texts, "ROLLBACK"), nil
	}
	return append(texts, "COMMIT"), after
}

// killedRun is how a process that is killed changes tables.
type killedRun struct {
	filled int   // rows that no client changes
	memory int64 // of the host, which has no room for these; 0 for no limit
	most   int   // rows that a statement inserts
	often  int   // transactions of client 0 from one checkpoint to the next
	alters int   // transactions of client 0 from one ALTER TABLE to the next; 0 for none
	rounds int
}

// killedProcess is the process that is killed: its clients run transactions, and print which are acknowledged.
func (run killedRun) process(dir string) error {
	fmt.Println("opens")
	ctx := context.Background()
	db, err := engine.Open(engine.Options{Backend: "cpu", Folder: dir, HostMemory: run.memory})
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, "SELECT 1 FROM done"); err != nil {
		s := db.Session()
		for _, err := range s.Each(ctx, `BEGIN; CREATE TABLE t (id bigint PRIMARY KEY, client bigint, v bigint); CREATE TABLE u (LIKE t INCLUDING ALL);
			CREATE TABLE done AS SELECT client, -1 AS number FROM generate_series(0, 2) AS g(client); COMMIT`) {
			if err != nil {
				return err
			}
		}
	}
	ended := make(chan error)
	for client := range killedClients {
		go func() { ended <- run.client(ctx, db, client) }()
	}
	return <-ended
}

// client runs the transactions of a client that come after the last one that is there; one that conflicts with ALTER TABLE runs again.
func (run killedRun) client(ctx context.Context, db *engine.DB, client int) error {
	s := db.Session()
	r, err := engine.Collect(s.Query(ctx, "SELECT number FROM done WHERE client = $1", client))
	if err != nil {
		return err
	}
	for number := int(r.Rows[0][0].I) + 1; ; number++ {
		if client == 0 && run.alters > 0 && number%run.alters == 1 {
			if _, err := db.Exec(ctx, fmt.Sprintf("ALTER TABLE t DROP COLUMN IF EXISTS x, ADD COLUMN x int DEFAULT %d", number)); err != nil {
				return err
			}
			fmt.Println("altered", number)
		}
		texts, after := killedTransaction(client, number, killedRows{"t": {}, "u": {}}, run.most) // whose statements do not depend on the rows
		for i := 0; i < len(texts); i++ {
			if texts[i] == "COMMIT" {
				fmt.Println("commits")
			}
			if _, err := s.Exec(ctx, texts[i]); errors.Is(err, engine.ErrConflict) && run.alters > 0 {
				i = -1
			} else if err != nil {
				return fmt.Errorf("%s: %w", texts[i], err)
			}
		}
		if after != nil {
			fmt.Println("committed", client, number)
		}
		if client == 0 && number%run.often == run.often-1 {
			if _, err := db.Exec(ctx, "CHECKPOINT"); err != nil {
				return err
			}
		}
	}
}

// A process is killed at any moment while its clients are in transactions of several statements. Of each transaction all is there or
// nothing. All that was acknowledged is there.
func TestKillInTransactions(t *testing.T) {
	killedRun{most: 3000, often: 16, rounds: 8}.test(t)
}

// The same holds where the host memory has no room for the tables, and changes are kept apart from their files. Columns come and go
// there, too.
func TestKillInTransactionsBeyondHostMemory(t *testing.T) {
	killedRun{filled: 8_000, memory: 110_000, most: 100, often: 4, alters: 3, rounds: 4}.test(t)
}

func (run killedRun) test(t *testing.T) {
	if dir := os.Getenv("STENCILDB_TEST_KILLED"); dir != "" {
		t.Fatal(run.process(dir))
	}
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "db")
	if run.filled > 0 {
		db := openFolder(t, dir)
		texts := []string{"CREATE TABLE t (id bigint PRIMARY KEY, client bigint, v bigint)", "CREATE TABLE u (LIKE t INCLUDING ALL)", "CREATE TABLE done AS SELECT client, -1 AS number FROM generate_series(0, 2) AS g(client)"}
		for first, n := 0, run.filled/4; first < run.filled; first, n = first+n, n-1 { // a file each, for it is smaller than the one before
			for _, of := range []string{"t", "u"} {
				texts = append(texts, fmt.Sprintf("INSERT INTO %s SELECT -x::bigint * 7919 * 1000003, 9, x::bigint * 1000003 * 7907 FROM generate_series(%d, %d) g(x)", of, first+1, min(first+n, run.filled)))
			}
			texts = append(texts, "CHECKPOINT")
		}
		for _, text := range texts {
			if _, err := db.Exec(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	altered := -1 // the last ALTER TABLE that was acknowledged
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var want [killedClients]killedRows
	var number [killedClients]int // of the last transaction that is there
	for client := range want {
		want[client], number[client] = killedRows{"t": {}, "u": {}}, -1
	}
	for range run.rounds {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), "STENCILDB_TEST_KILLED="+dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		acknowledged := number
		lines, commits := bufio.NewScanner(out), rng.IntN(12)
		for lines.Scan() {
			var client, of int
			if text := lines.Text(); text == "commits" {
				if commits--; commits == 0 {
					time.AfterFunc(time.Duration(rng.IntN(4000))*time.Microsecond, func() { _ = c.Process.Kill() })
				}
			} else if _, err := fmt.Sscanf(text, "committed %d %d", &client, &of); err == nil {
				acknowledged[client] = of
			} else if _, err := fmt.Sscanf(text, "altered %d", &of); err == nil {
				altered = of
			} else if text != "opens" {
				for lines.Scan() { // the process has failed, and says why
					text += "\n" + lines.Text()
				}
				t.Fatal(text)
			} else if commits == 0 {
				time.AfterFunc(time.Duration(rng.IntN(40))*time.Millisecond, func() { _ = c.Process.Kill() })
			}
		}
		_ = c.Wait()
		db, err := engine.Open(engine.Options{Backend: "cpu", Folder: dir, HostMemory: run.memory})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, "SELECT 1 FROM done"); err != nil { // none of the first transaction
			for _, of := range []string{"t", "u"} {
				if _, err := db.Exec(ctx, "SELECT 1 FROM "+of); err == nil {
					t.Fatalf("table %s is there, and done is not", of)
				}
			}
		} else {
			for client := range want {
				r, err := engine.Collect(db.Query(ctx, "SELECT number FROM done WHERE client = $1", client))
				if err != nil {
					t.Fatal(err)
				}
				last := int(r.Rows[0][0].I)
				unacknowledged := 0
				for number[client] < last {
					number[client]++
					if _, after := killedTransaction(client, number[client], want[client], run.most); after != nil {
						want[client] = after
						if number[client] > acknowledged[client] {
							unacknowledged++
						}
					}
				}
				if last < acknowledged[client] || unacknowledged > 1 {
					t.Fatalf("client %d: transaction %d is there, and %d was acknowledged", client, last, acknowledged[client])
				}
				for of, rows := range want[client] {
					r, err := engine.Collect(db.Query(ctx, fmt.Sprintf("SELECT id, v FROM %s WHERE client = %d", of, client)))
					if err != nil {
						t.Fatal(err)
					}
					got := map[int64]int64{}
					for _, row := range r.Rows {
						got[row[0].I] = row[1].I
					}
					if len(got) != len(r.Rows) || !maps.Equal(got, rows) {
						t.Fatalf("client %d after transaction %d: table %s has %d rows, want %d, or other values", client, last, of, len(got), len(rows))
					}
				}
			}
		}
		if altered >= 0 {
			r, err := engine.Collect(db.Query(ctx, "SELECT MIN(x), MAX(x), COUNT(*) FILTER (WHERE client = 9) FROM t"))
			if err != nil {
				t.Fatal(err)
			}
			if least, most := int(r.Rows[0][0].I), int(r.Rows[0][1].I); least != most || least < altered || r.Rows[0][2].I != int64(run.filled) {
				t.Fatalf("the values of a column are %d to %d, and the default of all rows was %d; %d rows nobody changes", least, most, altered, r.Rows[0][2].I)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("transactions up to %d, ALTER TABLE up to %d", number, altered)
	if found, err := storage.Verify(ctx, dir); err != nil || len(found.Problems) > 0 {
		t.Fatal(found, err)
	}
}
