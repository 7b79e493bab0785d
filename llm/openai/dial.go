package openai

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/vimbank/vimbank/llm"
)

// transport connects to the configured host only in ways that are meant. The
// address is looked at when the connection is made, so a name that resolves
// differently the second time gains nothing.
func transport(host string) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return admitAddress(host, address)
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// admitAddress refuses the addresses at which clouds hand credentials to
// whoever asks from inside (link-local, and two of fixed number), multicast and
// the unspecified address, unless the configuration names that very address.
func admitAddress(host, address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := ap.Addr().Unmap().WithZone("")
	named, err := netip.ParseAddr(host)
	if err == nil && named.Unmap().WithZone("") == ip {
		return nil
	}
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() ||
		ip == netip.AddrFrom4([4]byte{100, 100, 100, 200}) || ip == netip.MustParseAddr("fd00:ec2::254") {
		return llm.Final(fmt.Errorf("%s leads to %s, which only a base_url that names the address may reach", host, ip))
	}
	return nil
}
