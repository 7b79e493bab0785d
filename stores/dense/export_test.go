package dense

import "github.com/vimbank/vimbank/internal/kernel"

// UseKernel makes f search with k, which the machine must run.
func (f *Flat) UseKernel(k kernel.Kernel) { f.kernel = k }
