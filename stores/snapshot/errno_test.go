package snapshot_test

import "syscall"

// errFull is what a system says when its disk is full.
const errFull = syscall.ENOSPC
