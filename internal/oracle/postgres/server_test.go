package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresql is the server of this process.
var postgresql *server

// TestMain starts the server.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		var err error
		if postgresql, err = startServer(); err != nil {
			fmt.Fprintln(os.Stderr, "starting PostgreSQL:", err)
			return 1
		}
		defer postgresql.stop()
		return m.Run()
	}())
}

// server is a PostgreSQL server that only this process knows.
type server struct {
	folder string
	cmd    *exec.Cmd
	done   chan error
}

// startServer makes a data folder and starts a server over it. Text sorts by its bytes and has the
// upper and lower case of Unicode, as here.
func startServer() (_ *server, err error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, errors.New("there is none in /usr/lib/postgresql: install it (Debian: apt-get install postgresql-15; make setup does)")
	}
	slices.Sort(found)
	bin := filepath.Dir(found[len(found)-1])
	folder, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &server{folder: folder, done: make(chan error, 1)}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	attr, err := notRoot(folder)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	create := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "--lc-collate=C", "--lc-ctype=C.UTF-8", "-E", "UTF8", "-A", "trust", "--no-sync")
	create.SysProcAttr, create.Dir = attr, folder
	if out, err := create.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"-D", data, "-k", folder, "-h", ""}
	for _, setting := range []string{"fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off", "shared_buffers=16MB",
		"max_connections=8", "max_wal_senders=0", "wal_level=minimal", "jit=off", "timezone=UTC", "max_parallel_workers_per_gather=0", "statement_timeout=20s"} {
		args = append(args, "-c", setting)
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), args...)
	s.cmd.SysProcAttr, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = attr, folder, log, log
	started := make(chan error)
	go func() { // on a thread that stays: the server ends with the thread that starts it
		runtime.LockOSThread()
		err := s.cmd.Start()
		if started <- err; err == nil {
			s.done <- s.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	for {
		c, err := s.connect()
		if err == nil {
			return s, c.Close(context.Background())
		}
		select {
		case ended := <-s.done:
			s.done <- ended
			text, _ := os.ReadFile(filepath.Join(folder, "log"))
			return nil, fmt.Errorf("the server ended: %v\n%s", ended, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// notRoot gives the folder to a user that may run the server, and says how to run as that user. The server
// ends with this process.
func notRoot(folder string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(folder, uid, gid)
}

// connect opens a connection.
func (s *server) connect() (*pgconn.PgConn, error) {
	return pgconn.Connect(context.Background(), "host="+s.folder+" user=postgres dbname=postgres sslmode=disable")
}

// stop ends the server at once and takes its folder away.
func (s *server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.done
	}
	os.RemoveAll(s.folder)
}
