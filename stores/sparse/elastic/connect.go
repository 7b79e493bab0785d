package elastic

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

func ordinal(i int) string { return strconv.Itoa(i + 1) }

func badClient(op string, err error) error {
	return memtypes.Errorf(op, memtypes.Invalid, "the client of Elasticsearch: %w", err)
}

// transport makes the connections.
func (o *Options) transport(op string) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: o.Timeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   o.Conns,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   o.Timeout,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, memtypes.Errorf(op, memtypes.Invalid, "ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, memtypes.BadField(op, "ca_file", o.CAFile, "a file with certificates as PEM")
		}
		t.TLSClientConfig.RootCAs = roots
	}
	if o.CertFingerprint != "" {
		t.TLSClientConfig.InsecureSkipVerify = true // in favour of:
		t.TLSClientConfig.VerifyConnection = func(c tls.ConnectionState) error { return pinned(c.PeerCertificates, o.CertFingerprint) }
	}
	return t, nil
}

var errPin = errors.New("the server's certificate does not fit sparse.cert_fingerprint")

// pinned accepts a chain whose first certificate has the fingerprint, or was
// signed by one of the chain that has it. That the latter merely is in the
// chain would prove nothing: an authority's certificate is no secret.
func pinned(chain []*x509.Certificate, want string) error {
	var others, root = x509.NewCertPool(), x509.NewCertPool()
	found := false
	for i, c := range chain {
		sum := sha256.Sum256(c.Raw)
		switch {
		case hex.EncodeToString(sum[:]) != want:
			others.AddCert(c)
		case i == 0:
			return nil
		default:
			root.AddCert(c)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%w: none of the %d it showed has it", errPin, len(chain))
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: root, Intermediates: others}); err != nil {
		return fmt.Errorf("%w: %w", errPin, err)
	}
	return nil
}
