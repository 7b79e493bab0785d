//go:build !linux

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func mayMount(*testing.T) bool { return false }

func mount(ts *testscript.TestScript, _, _ string) { ts.Fatalf("mount: only on Linux") }
