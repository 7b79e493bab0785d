package elastic

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// noAnswer is a request that got none, or only a part of it.
type noAnswer struct{ err error }

func (e *noAnswer) Error() string { return brief(e.err.Error()) }
func (e *noAnswer) Unwrap() error { return e.err }

// hopeless reports whether the next attempt must end the same way.
func (e *noAnswer) hopeless() bool {
	_, cert := errors.AsType[*tls.CertificateVerificationError](e.err)
	_, record := errors.AsType[tls.RecordHeaderError](e.err)
	return cert || record || errors.Is(e.err, errPin) || strings.Contains(e.err.Error(), "HTTP response to HTTPS client")
}

// strange is an answer that is not Elasticsearch's.
type strange struct {
	what string
	err  error
}

func (e *strange) Error() string {
	return "found " + e.what + ", wanted the JSON of Elasticsearch: is a proxy in between, and is sparse.urls right?"
}
func (e *strange) Unwrap() error { return e.err }

// refusal is an error that Elasticsearch answered with.
type refusal struct {
	status int
	kind   string // "index_not_found_exception"
	reason string
}

func (e *refusal) Error() string {
	if e.kind == "" {
		return fmt.Sprintf("status %d: %s", e.status, e.reason)
	}
	return fmt.Sprintf("status %d, %s: %s", e.status, e.kind, e.reason)
}

// cause is an error in an answer: an object, or a string with the words alone.
type cause struct {
	Type   string
	Reason string
	Root   []cause `json:"root_cause"`
	Caused *cause  `json:"caused_by"`
}

func (c *cause) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Reason)
	}
	type plain cause
	return json.Unmarshal(b, (*plain)(c))
}

// deepest is the cause that says most: an outer one is often "all shards failed".
func (c *cause) deepest() *cause {
	if c.Type == "search_phase_execution_exception" && len(c.Root) > 0 {
		return c.Root[0].deepest()
	}
	return c
}

func (c *cause) refusal(status int) *refusal {
	d := c.deepest()
	reason := d.Reason
	if d.Caused != nil && d.Caused.Reason != "" && !strings.Contains(reason, d.Caused.Reason) {
		reason += ": " + d.Caused.Reason
	}
	return &refusal{status, d.Type, brief(reason)}
}

func newRefusal(status int, h http.Header, body []byte) error {
	var answer struct{ Error *cause }
	if err := json.Unmarshal(body, &answer); err == nil && answer.Error != nil {
		return answer.Error.refusal(status)
	}
	if strings.Contains(h.Get("Content-Type"), "json") { // 404 of a document: {"found": false}
		return &refusal{status: status, reason: brief(string(body))}
	}
	return &refusal{status: status, reason: "found " + describe(h, body) + ": is a proxy in between, and is sparse.urls right?"}
}

// busy reports whether the cluster may take the same request a little later.
func (e *refusal) busy() bool {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.kind != blocked
	}
	return false
}

// The errors that have a meaning here.
const (
	noIndex      = "index_not_found_exception"
	exists       = "resource_already_exists_exception"
	blocked      = "cluster_block_exception"
	tooManyParts = "validation_exception"
	invalidItems = "action_request_validation_exception" // such as an ID of more than 512 bytes
	strict       = "strict_dynamic_mapping_exception"
	badShape     = "query_shard_exception"
)

// refused gives the refusal behind err; nil if there is none.
func refused(err error) *refusal {
	r, _ := errors.AsType[*refusal](err)
	return r
}

// isKind reports whether Elasticsearch answered with that error.
func isKind(err error, kind string) bool {
	r := refused(err)
	return r != nil && r.kind == kind
}

func isStatus(err error, status int) bool {
	r := refused(err)
	return r != nil && r.status == status
}

// verdict says what a failed request means for the caller, and what mends it.
// late is the error of the request's own deadline.
func (s *Store) verdict(a ask, d time.Duration, late, err error) error {
	at := s.where()
	if a.index != "" {
		at += ", index " + a.index
	}
	if r := refused(err); r != nil {
		code, words := s.judge(r)
		return memtypes.Errorf(a.op, code, "%s: %w%s", at, err, words)
	}
	if late != nil {
		return memtypes.Errorf(a.op, memtypes.Unavailable, "%s: no answer within %v (sparse.timeout)", at, d)
	}
	return memtypes.Errorf(a.op, memtypes.Unavailable, "%s: %w%s", at, err, hint(err))
}

// judge gives the code of a refusal and the words about what mends it.
func (s *Store) judge(r *refusal) (memtypes.Code, string) {
	switch {
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden && r.kind != blocked:
		return memtypes.Unavailable, "; it came with " + s.credential() +
			"; wanted an account that may read, write and make " + s.opt.Prefix + ".*: see sparse.api_key, sparse.user and sparse.password"
	case r.kind == blocked && strings.Contains(r.reason, "disk usage exceeded"):
		return memtypes.Full, "; free space on its disks: it takes writes again by itself"
	case r.kind == blocked:
		return memtypes.Unavailable, "; take the block off with the setting index.blocks of that index"
	case r.kind == tooManyParts && strings.Contains(r.reason, "maximum normal shards open"):
		return memtypes.Full, "; raise cluster.max_shards_per_node, add a node, or set sparse.tenancy: shared"
	case r.kind == noIndex:
		return memtypes.Unavailable, "; `vimbank rebuild` makes it again from the ledger"
	case r.kind == strict || r.kind == badShape || strings.Contains(r.reason, "No mapping found for"):
		return memtypes.Incompatible, "; the mapping is not VIMBank's any more: `vimbank rebuild` makes a new index from the ledger"
	case r.status == http.StatusRequestEntityTooLarge:
		return memtypes.Invalid, "; wanted less than http.max_content_length there"
	case r.status == http.StatusRequestTimeout:
		return memtypes.Unavailable, "; shards of it are nowhere: see its cluster health"
	case r.status == http.StatusTooManyRequests:
		return memtypes.Unavailable, "; the cluster takes in no more for now"
	case r.status == http.StatusBadRequest:
		return memtypes.Invalid, ""
	case r.status/100 == 4:
		return memtypes.Incompatible, "; wanted Elasticsearch 8 at sparse.urls"
	}
	return memtypes.Unavailable, ""
}

// credential says what was shown to the server, without showing it.
func (s *Store) credential() string {
	switch {
	case s.opt.APIKey != "":
		return "an API key"
	case s.opt.Username != "":
		return "the name " + s.opt.Username
	}
	return "no name or key"
}

// hint names the setting behind a connection that cannot be made.
func hint(err error) string {
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, dns := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errPin):
		return ": see sparse.cert_fingerprint"
	case host:
		return ": see the name in sparse.urls, or pin the certificate with sparse.cert_fingerprint"
	case cert:
		return ": see sparse.ca_file and sparse.cert_fingerprint"
	case record || strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return ": the server does not encrypt: wanted http:// in sparse.urls"
	case errors.Is(err, syscall.ECONNREFUSED) || dns:
		return ": is it running, and is sparse.urls right?"
	case strings.HasSuffix(err.Error(), "EOF"):
		return ": if the server encrypts, wanted https:// in sparse.urls"
	}
	return ""
}

// brief shortens what a server says to what fits a line.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
