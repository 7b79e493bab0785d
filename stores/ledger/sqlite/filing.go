package sqlite

import "strings"

// The memories of the newest entries are loose: no index has them, so that a
// commit writes the end of the log and nothing else. They are filed many at
// once, which touches each page of an index once for many of them. Whoever looks
// for memories looks at the indexes and at the loose rows in one query: see
// both. The writer, which must know whether an ID is taken, keeps those of the
// loose rows in memory: see ends.
const (
	maxLoose = 4096 // entries that may be loose after a commit
	fewLoose = 512  // the same, where this process looked for memories since the last filing: it reads them each time
)

// both makes a query of the memories that meet cond: of those that are filed,
// through an index, and of the loose ones. order and limit are those of the
// whole; they name the columns by number. columns may be rowColumns.
func both(columns, index, cond, order string) string {
	filed := columns + strings.Replace(fromRows, "log m", "log m INDEXED BY "+index, 1) + " WHERE m.filed = 1 AND "
	loose := columns + strings.Replace(fromRows, "log m", "log m NOT INDEXED", 1) + " WHERE " + isLoose + " AND "
	return filed + cond + " UNION ALL " + loose + cond + order
}

// isLoose is what a loose row m meets; NOT INDEXED it is searched by its number.
const isLoose = "m.seq > (SELECT seq FROM filing) AND m.filed = 0"

// file has the indexes take the loose memories if limit entries may hold some,
// or all that there are.
func (e *ends) file(s *statements, all bool, limit uint64) error {
	if e.last < e.filed+limit && (!all || len(e.loose) == 0) {
		return nil
	}
	if _, err := s.file.Exec(e.filed); err != nil {
		return err
	}
	if _, err := s.setFiling.Exec(e.last); err != nil {
		return err
	}
	e.filed = e.last
	clear(e.loose)
	return nil
}

// trim forgets the loose rows that another process filed.
func (e *ends) trim(s *statements) error {
	was := e.filed
	if err := s.filing.QueryRow().Scan(&e.filed); err != nil || e.filed == was {
		return err
	}
	for id, seq := range e.loose {
		if seq <= e.filed {
			delete(e.loose, id)
		}
	}
	return nil
}
