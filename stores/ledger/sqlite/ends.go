package sqlite

import (
	"database/sql"

	driver "modernc.org/sqlite"

	"github.com/vimbank/vimbank/stores/ledger"
)

// saveEvery is after how many entries of the log the ends of the trails are
// written to the tenants' rows: not with each, because that would be one page
// more to sync. What is newer is read from the log itself.
const saveEvery = 1024

// ends is what the writer knows of the end of the log and of each tenant's
// trail in it. The zero ends knows nothing and reads it when it must.
type ends struct {
	known   bool
	version uint32 // of the file, as of the last commit
	last    uint64 // the newest number
	saved   uint64 // the tenants' rows are true up to here
	heads   map[int64]*head
	filed   uint64                // no memory up to here is loose
	loose   map[ledger.Key]uint64 // the loose ones, and some that another process filed: their entry
}

// head is the end of one tenant's trail.
type head struct {
	name    string
	seq     uint64
	hash    []byte
	unsaved bool
}

// refresh brings e up to date under the write lock: other processes write, too.
func (e *ends) refresh(c *sql.Conn, s *statements) error {
	v, err := fileVersion(c)
	full := len(e.heads) > maxCached
	if err != nil || e.known && v == e.version && !full {
		return err
	}
	if !e.known || full {
		*e = ends{heads: map[int64]*head{}, loose: map[ledger.Key]uint64{}}
		if err := s.saved.QueryRow().Scan(&e.saved); err != nil {
			return err
		}
		if err := s.filing.QueryRow().Scan(&e.filed); err != nil {
			return err
		}
		e.last = min(e.saved, e.filed)
	}
	rows, err := s.newer.Query(e.last)
	if err != nil {
		return err
	}
	news, err := collect(rows, scanNews)
	if err != nil {
		return err
	}
	for _, n := range news {
		h, err := e.head(n.tenant, s)
		if err != nil {
			return err
		}
		h.seq, h.hash, h.unsaved = n.seq, n.hash, true
		e.last = n.seq
		if n.loose != nil {
			e.loose[ledger.Key(n.loose)] = n.seq
		}
	}
	e.known = true
	return e.trim(s)
}

// news is an entry that another process wrote.
type news struct {
	seq    uint64
	tenant int64
	hash   []byte
	loose  []byte // the ID of a memory that no index has
}

func scanNews(scan func(...any) error) (n news, err error) {
	err = scan(&n.seq, &n.tenant, &n.hash, &n.loose)
	return n, err
}

func (e *ends) head(tenant int64, s *statements) (*head, error) {
	if h := e.heads[tenant]; h != nil {
		return h, nil
	}
	h := &head{}
	if err := s.head.QueryRow(tenant).Scan(&h.name, &h.seq, &h.hash); err != nil {
		return nil, err
	}
	e.heads[tenant] = h
	return h, nil
}

// advance makes n, which is in the log now, the end of h and of the log.
func (e *ends) advance(h *head, n *entry) {
	h.seq, h.hash, h.unsaved, e.last = n.Seq, n.hash[:], true, n.Seq
}

// save writes the ends to the tenants' rows if it is time.
func (e *ends) save(s *statements) error {
	if e.last < e.saved+saveEvery {
		return nil
	}
	for no, h := range e.heads {
		if !h.unsaved {
			continue
		}
		if _, err := s.setHead.Exec(h.seq, h.hash, no); err != nil {
			return err
		}
		h.unsaved = false
	}
	e.saved = e.last
	return nil
}

// committed notes the version that the own commit gave the file.
func (e *ends) committed(c *sql.Conn) {
	v, err := fileVersion(c)
	e.version, e.known = v, err == nil
}

// fileVersion is a number that changes with every commit, whoever does it.
// It is what this connection saw when its transaction began or ended.
func fileVersion(c *sql.Conn) (v uint32, err error) {
	err = c.Raw(func(conn any) error {
		v, err = conn.(driver.FileControl).FileControlDataVersion("main")
		return err
	})
	return v, err
}
