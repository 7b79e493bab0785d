package admit_test

import (
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
)

// BenchmarkScan times the longest text of one memory, plain and made to be slow.
func BenchmarkScan(b *testing.B) {
	r := rules(b, nil)
	for name, s := range map[string]string{
		"prose":        "Melanie went to the lake with her two children on a sunny day in May, and they talked about the old days. ",
		"han":          "我昨天和朋友去看了一部电影，名字叫我是山姆，讲的是一位父亲的故事。",
		"passwords":    "password: aaaaaa ",
		"digits":       "1 1-1 1 ",
		"cards":        "4111 1111 1111 1111, ",
		"begin":        "-----BEGIN PRIVATE KEY----- ",
		"tokens":       "eyJaaaaaaaaa.eyJaaaaaaaaa.aaaaaaaaaaaaaaaaa ",
		"named":        "api key: aaaaaaaaaaaaaaaaaaaaaaa ",
		"one password": "password:a",
		"letters":      "a",
	} {
		text := strings.Repeat(s, memtypes.MaxText/len(s))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Scan(text)
			}
		})
	}
}
