package openai

import (
	"errors"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

func TestAdmitAddress(t *testing.T) {
	for _, tt := range []struct {
		host, address string
		ok            bool
	}{
		{"models.example", "93.184.216.34:443", true},
		{"localhost", "127.0.0.1:8080", true},
		{"nas", "192.168.1.20:8080", true}, // a server at home is what this is for
		{"models.example", "169.254.169.254:80", false},
		{"models.example", "[::ffff:169.254.169.254]:80", false},
		{"models.example", "[fe80::1%eth0]:80", false},
		{"models.example", "[fd00:ec2::254]:80", false},
		{"models.example", "100.100.100.200:80", false},
		{"models.example", "0.0.0.0:80", false},
		{"models.example", "224.0.0.1:80", false},
		{"169.254.10.1", "169.254.10.1:80", true}, // named in the configuration
		{"169.254.10.1", "169.254.169.254:80", false},
	} {
		if err := admitAddress(tt.host, tt.address); (err == nil) != tt.ok {
			t.Errorf("%s at %s: got %v, want admitted %v", tt.host, tt.address, err, tt.ok)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    map[string]string
		want time.Duration
		ok   bool
	}{
		{"nothing said", nil, 0, false},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second, true},
		{"broken seconds", map[string]string{"Retry-After": "soon"}, 0, false},
		{"negative", map[string]string{"Retry-After": "-3"}, 0, true},
		{"no number", map[string]string{"Retry-After": "NaN"}, 0, true},
		{"beyond all time", map[string]string{"Retry-After": "1e300"}, 365 * 24 * time.Hour, true},
		{"milliseconds win", map[string]string{"Retry-After": "7", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond, true},
		{"a date, by the server's clock", map[string]string{
			"Date": "Mon, 02 Mar 1998 10:00:00 GMT", "Retry-After": "Mon, 02 Mar 1998 10:00:09 GMT",
		}, 9 * time.Second, true},
		{"a date without a clock", map[string]string{"Retry-After": "Mon, 02 Mar 1998 10:00:09 GMT"}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tt.h {
				h.Set(k, v)
			}
			if got, ok := retryAfter(h); got != tt.want || ok != tt.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestExplanation(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no","code":"bad_key"}}`: "no (bad_key)",
		`{"error":{"message":"no","code":7}}`:         "no",
		`{"error":"no model"}`:                        "no model",
		`{"detail":"too long"}`:                       "too long",
		`{"detail":[{"loc":"body"}]}`:                 `{"detail":[{"loc":"body"}]}`,
		`{"message":"wait"}`:                          "wait",
		"<html>\n  down\n</html>":                     "<html> down </html>",
		"":                                            "",
	} {
		if got := explanation([]byte(body)); got != want {
			t.Errorf("explanation(%s) = %q, want %q", body, got, want)
		}
	}
}

// A library may decode what JSON cannot hold; the check does not rely on JSON.
func TestNormalise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{{}, {0, 0}, {1, nan}, {inf, 1}, {-inf, 0}} {
		if normalise(v) {
			t.Errorf("normalise(%v) = true, want false", v)
		}
	}
	for _, v := range [][]float32{{3, 4}, {math.MaxFloat32, math.MaxFloat32}, {1e-30, 0}} {
		if !normalise(v) || math.Abs(math.Hypot(float64(v[0]), float64(v[1]))-1) > 1e-6 {
			t.Errorf("got %v, want length 1", v)
		}
	}
}

func TestClassifyKeepsACode(t *testing.T) {
	err := classify(t.Context(), "openai.Embed", memtypes.Errorf("x", memtypes.Full, "%w", errors.New("full")))
	if got := memtypes.CodeOf(err); got != memtypes.Full {
		t.Errorf("got code %q, want %q", got, memtypes.Full)
	}
	if err := classify(t.Context(), "openai.Embed", nil); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}
