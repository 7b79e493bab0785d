package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

// HTTP asks a server as somebody with a terminal would: method and path on
// Elasticsearch at url. It fails unless the answer is good.
func HTTP(t testing.TB, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if bytes.HasSuffix([]byte(req.URL.Path), []byte("/_bulk")) {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: status %d, %v: %.300s", method, url, res.StatusCode, err, b)
	}
	return string(b)
}

// DropCollection removes a collection of the Qdrant at addr, and with it the
// aliases that lead to it.
func DropCollection(t testing.TB, addr, name string) {
	t.Helper()
	rpc(t, addr, "/qdrant.Collections/Delete", field(1, []byte(name)))
}

// DropAlias removes an alias of the Qdrant at addr.
func DropAlias(t testing.TB, addr, name string) {
	t.Helper()
	action := field(3, field(1, []byte(name))) // AliasOperations.delete_alias
	rpc(t, addr, "/qdrant.Collections/UpdateAliases", field(1, action))
}

// field is a field of a protobuf message that holds bytes.
func field(number byte, b []byte) []byte {
	return slices.Concat(binary.AppendUvarint([]byte{number<<3 | 2}, uint64(len(b))), b)
}

// rpc calls a method without the client's library, which belongs to the store:
// gRPC is HTTP/2 with a length before each message and the verdict in the trailer.
func rpc(t testing.TB, addr, method string, message []byte) {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	framed := slices.Concat(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+method, bytes.NewReader(framed))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	res, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	status, why := res.Trailer.Get("Grpc-Status"), res.Trailer.Get("Grpc-Message")
	if status == "" { // an answer without a body
		status, why = res.Header.Get("Grpc-Status"), res.Header.Get("Grpc-Message")
	}
	if res.StatusCode != http.StatusOK || status != "0" {
		t.Fatal(fmt.Errorf("%s: status %d, gRPC status %s: %s", method, res.StatusCode, status, why))
	}
}
