package configs_test

import (
	"testing"

	"github.com/vimbank/vimbank/configs"
)

// BenchmarkLoad is part of every start of the command.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := configs.Load(configs.Sources{}); err != nil {
			b.Fatal(err)
		}
	}
}
