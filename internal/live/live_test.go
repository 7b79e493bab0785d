package live

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// echo is a server that answers each line with itself.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// say sends a line over a new connection and waits at most a while for it to come back.
func say(t *testing.T, addr string, wait time.Duration) error {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	_, err = bufio.NewReader(c).ReadString('\n')
	return err
}

func TestLink(t *testing.T) {
	l := Between(t, echo(t))
	works := func(when string) {
		t.Helper()
		if err := say(t, l.Addr, 10*time.Second); err != nil {
			t.Fatalf("%s: %v, want an answer", when, err)
		}
	}
	works("at first")
	l.Hold(t)
	if err := say(t, l.Addr, 200*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("held: %v, want no answer", err)
	}
	l.Heal(t)
	works("after holding")
	l.Reset(t)
	if err := say(t, l.Addr, 10*time.Second); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("resetting: %v, want a broken connection", err)
	}
	l.Heal(t)
	l.Cut(t, 3)
	if err := say(t, l.Addr, 10*time.Second); !errors.Is(err, io.EOF) {
		t.Errorf("cut: %v, want an answer that ends early", err)
	}
	l.Heal(t)
	works("after cutting")
	l.Slow(t, 300*time.Millisecond)
	start := time.Now()
	works("slow")
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("slow: answered after %v", took)
	}
	l.Heal(t)
	l.Down()
	if err := say(t, l.Addr, time.Second); err == nil {
		t.Error("down: there was an answer")
	}
	l.Up(t)
	works("up again")
}

func TestOwn(t *testing.T) {
	s := Own(t, "qdrant")
	reached := func() bool {
		c, err := net.Dial("tcp", s.Addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	if !reached() {
		t.Fatalf("nobody at %q", s.Addr)
	}
	s.Kill(t)
	if reached() {
		t.Error("killed, and it answers")
	}
	s.Keep(t)
	mark := filepath.Join(s.data(t), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Rewind(t)
	if _, err := os.Stat(mark); err == nil {
		t.Error("rewound, and what came later is there")
	}
	s.Resume(t)
	if !reached() {
		t.Error("resumed, and nobody answers")
	}
}
