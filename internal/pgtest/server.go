package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable names the environment variable with the URL of a server to use, as a superuser.
const Variable = "PLUMB_TEST_POSTGRES"

// errNone says what to do where there is no PostgreSQL.
var errNone = errors.New("there is no PostgreSQL here: run `make test`, or install the Debian package postgresql, or set " + Variable)

// Start starts a server of its own in dir, which must be empty, on a free port of the loopback interface. Settings are
// like "fsync=off". The server ends with stop, or with this process. A programme that runs as root starts it as the
// user postgres, because PostgreSQL refuses to be root.
func Start(dir string, settings ...string) (address string, stop func(), err error) {
	bin, err := binaries()
	if err != nil {
		return "", nil, err
	}
	s := server{bin: bin, data: filepath.Join(dir, "data"), password: rand.Text()}
	if s.attr, err = identity(dir); err != nil {
		return "", nil, err
	}
	if err := s.init(dir); err != nil {
		return "", nil, err
	}
	// Somebody may take the free port before the server does: then another one is.
	for range 5 {
		if stop, err = s.run(settings); err == nil {
			return s.address(), stop, nil
		}
	}
	return "", nil, err
}

// binaries finds the newest PostgreSQL: on Debian its programs are not in the path.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	newest, dir := -1, ""
	for _, f := range found {
		version, err := strconv.Atoi(strings.Split(f, "/")[4])
		if err == nil && version > newest {
			newest, dir = version, filepath.Dir(f)
		}
	}
	if dir != "" {
		return dir, nil
	}
	if f, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(f), nil
	}
	return "", errNone
}

// identity is as whom the server runs, and gives dir to that user.
func identity(dir string) (*syscall.SysProcAttr, error) {
	// A process group of its own keeps an interrupt at the terminal from the server until it is told to stop.
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL cannot run as root, and there is no user postgres: %w", err)
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, errors.Join(errUID, errGID, os.Chown(dir, uid, gid))
}

type server struct {
	bin, data string
	password  string
	port      int
	attr      *syscall.SysProcAttr
}

func (s *server) address() string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", s.password), Path: "/postgres",
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), RawQuery: "sslmode=disable"}
	return u.String()
}

func (s *server) init(dir string) error {
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	if c := s.attr.Credential; c != nil {
		if err := os.Chown(secret, int(c.Uid), int(c.Gid)); err != nil {
			return err
		}
	}
	cmd := exec.Command(filepath.Join(s.bin, "initdb"), "-D", s.data, "-U", "postgres", "-A", "scram-sha-256",
		"--pwfile", secret, "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.attr.Credential}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return os.Remove(secret)
}

// run starts the server on a free port and waits until it answers.
func (s *server) run(settings []string) (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return nil, err
	}
	args := []string{"-D", s.data, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-c", "unix_socket_directories=", "-c", "max_connections=200"}
	for _, set := range settings {
		args = append(args, "-c", set)
	}
	log, err := os.Create(s.data + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = filepath.Dir(s.data), log, log, s.attr
	ended, err := startLocked(cmd)
	if err != nil {
		return nil, err
	}
	stop = func() {
		// The server may have ended by itself. SIGINT asks it to close its connections and go.
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-ended
	}
	if err := s.answers(ended); err != nil {
		stop()
		said, _ := os.ReadFile(s.data + ".log")
		return nil, fmt.Errorf("PostgreSQL does not start: %w\n%s", err, said)
	}
	return stop, nil
}

// startLocked starts a command from a thread that lives as long as the command: a parent's death, for the kernel, is
// the death of the thread that made the child.
func startLocked(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	started, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how a server ends that was told to is of no interest
		}
	}()
	return done, <-started
}

// answers waits until the server accepts connections, or has ended.
func (s *server) answers(ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.address())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return err
		case <-retry.C:
		}
	}
}
