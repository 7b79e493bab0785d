package elastic

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"
	"time"
)

// certificate makes one, signed by parent with its key, or by itself.
func certificate(t *testing.T, name string, ca bool, parent *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: ca, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if parent == nil {
		parent, key = template, own
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, own
}

// TestPinned: the pin of an authority holds for what it signed, and not for who
// merely shows its certificate.
func TestPinned(t *testing.T) {
	print := func(c *x509.Certificate) string {
		sum := sha256.Sum256(c.Raw)
		return hex.EncodeToString(sum[:])
	}
	ca, caKey := certificate(t, "authority", true, nil, nil)
	between, betweenKey := certificate(t, "between", true, ca, caKey)
	direct, _ := certificate(t, "node 1", false, ca, caKey)
	deeper, _ := certificate(t, "node 2", false, between, betweenKey)
	thief, _ := certificate(t, "thief", false, nil, nil)
	for name, tt := range map[string]struct {
		chain []*x509.Certificate
		pin   string
		ok    bool
	}{
		"the node's own":              {[]*x509.Certificate{direct}, print(direct), true},
		"its authority's":             {[]*x509.Certificate{direct, ca}, print(ca), true},
		"with one between":            {[]*x509.Certificate{deeper, between, ca}, print(ca), true},
		"that between":                {[]*x509.Certificate{deeper, between}, print(between), true},
		"the authority is only shown": {[]*x509.Certificate{thief, ca}, print(ca), false},
		"the node is only shown":      {[]*x509.Certificate{thief, direct}, print(direct), false},
		"another's":                   {[]*x509.Certificate{direct, ca}, print(thief), false},
		"no certificate":              {nil, print(ca), false},
	} {
		if err := pinned(tt.chain, tt.pin); (err == nil) != tt.ok || err != nil && !errors.Is(err, errPin) {
			t.Errorf("%s: got %v, want it accepted: %v", name, err, tt.ok)
		}
	}
}
