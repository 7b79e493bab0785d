package qdrant_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

// TestKey: a wrong key is said to be one, and is not shown.
func TestKey(t *testing.T) {
	const right, wrong = "right-and-secret", "wrong-and-secret"
	s := qdranttest.New(t, &qdranttest.Options{APIKey: right})
	o := qdrant.Options{Prefix: "keyed", APIKey: right}
	ix := made(t, open(t, s.Addr, o), "one")
	must(t, ix.Upsert(t.Context(), docs(t, 2)))
	for key, says := range map[string]string{wrong: "refuses the key", "": "refuses a request without a key"} {
		o.APIKey = key
		store := open(t, s.Addr, o)
		_, err := store.Open(t.Context(), "one")
		wantError(t, err, memtypes.Unavailable, "qdrant at "+s.Addr, says, "dense.api_key")
		_, err = store.Live(t.Context())
		wantError(t, err, memtypes.Unavailable, says)
		for _, err := range each(t, store.Serving()) {
			wantError(t, err, memtypes.Unavailable, says)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the key: %v", err)
			}
		}
		last := store.Inspect(t.Context())
		if f := last[len(last)-1]; f.OK || f.Check != "permissions" || !strings.Contains(f.Mend, "dense.api_key") {
			t.Errorf("finding %+v, want the key's", f)
		}
	}
	wantLen(t, ix, 2)
}

// TestTLS: who cannot prove to be the server is not spoken to, and the error
// names the setting.
func TestTLS(t *testing.T) {
	cert, ca := certificate(t, "db.example")
	_, stranger := certificate(t, "db.example")
	enc := qdranttest.New(t, &qdranttest.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}).Addr
	plain := qdranttest.New(t, nil).Addr
	for _, tt := range []struct {
		name string
		addr string
		tls  *qdrant.TLS
		says []string // nil: it works
	}{
		{"right", enc, &qdrant.TLS{CAFile: ca, ServerName: "db.example"}, nil},
		{"another name", enc, &qdrant.TLS{CAFile: ca}, []string{"dense.tls.server_name"}},
		{"another authority", enc, &qdrant.TLS{CAFile: stranger, ServerName: "db.example"}, []string{"dense.tls.ca_file"}},
		{"the machine's authorities", enc, &qdrant.TLS{ServerName: "db.example"}, []string{"dense.tls.ca_file"}},
		{"not encrypted to one who does", enc, nil, []string{"dense.tls.enabled"}},
		{"encrypted to one who does not", plain, &qdrant.TLS{CAFile: ca}, []string{"dense.tls.enabled"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := qdrant.Open(t.Context(), &qdrant.Options{Addr: tt.addr, TLS: tt.tls, Dim: densetest.Dim, Retry: never})
			must(t, err)
			t.Cleanup(func() { s.Close() })
			_, err = s.Open(t.Context(), "one")
			if tt.says == nil {
				must(t, err)
				return
			}
			wantError(t, err, memtypes.Unavailable, append(tt.says, "qdrant at "+tt.addr)...)
		})
	}
	no := filepath.Join(t.TempDir(), "empty.pem")
	must(t, os.WriteFile(no, []byte("nothing"), 0o600))
	_, err := qdrant.Open(t.Context(), &qdrant.Options{Addr: enc, TLS: &qdrant.TLS{CAFile: no}, Dim: 8})
	wantError(t, err, memtypes.Invalid, "tls.ca_file", "without a certificate")
}

// certificate is one for host, and the file with what vouches for it.
func certificate(t *testing.T, host string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<36, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	must(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
