package admin

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// maxHealth bounds an answer of /readyz.
const maxHealth = 1 << 20

// Probe asks the door at addr, host:port, whether its process is ready; a host
// that stands for every address, such as 0.0.0.0 or none, is asked on this
// machine. An answer is no error, whatever it says; none within timeout (zero
// means 5 s) is Unavailable, and an answer of something else Incompatible. It
// is what a container without a shell is checked with.
func Probe(ctx context.Context, addr string, timeout time.Duration) (Health, error) {
	const op = "admin.Probe"
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return Health{}, memtypes.BadField(op, "admin.addr", addr, "host:port, such as 127.0.0.1:9464")
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return Health{}, memtypes.BadField(op, "admin.addr", addr, "host:port, such as 127.0.0.1:9464")
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: it is this machine
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return Health{}, memtypes.Errorf(op, memtypes.Unavailable, "admin.addr %q: found %w, wanted the answer of `vimbank upkeep` with that setting", addr, err)
	}
	defer resp.Body.Close()
	var h Health
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxHealth)).Decode(&h); err != nil || h.Status == "" {
		return Health{}, memtypes.Errorf(op, memtypes.Incompatible, "admin.addr %q: found an answer with status %d that is not of VIMBank, wanted one that is", addr, resp.StatusCode)
	}
	return h, nil
}
