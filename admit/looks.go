package admit

import (
	"math"
	"strings"
	"unicode"

	"github.com/vimbank/vimbank/memtypes"
)

// entropy is Shannon's, in bits a byte, of the bytes of s.
func entropy(s string) float64 {
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	h := 0.
	for _, n := range count {
		if n > 0 {
			p := n / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// random reports whether s looks drawn and not written: a long run without a
// separator, with letters and digits of many kinds in it, and no filler. A
// hyphened word with a year does not.
func random(s, after string) bool {
	longest := ""
	for _, run := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("-_.~/+=:", c) }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return len(s) >= 16 && len(longest) >= 12 && strings.ContainsAny(longest, "0123456789") && entropy(longest) >= 3 && notPlaceholder(s, after)
}

// randomOrUUID is for a value that was called a key by name.
func randomOrUUID(s, after string) bool {
	_, err := memtypes.ParseID(strings.ToLower(s))
	return err == nil || random(s, after)
}

// notPlaceholder is false for what stands where a secret would: "<password>",
// "${TOKEN}", "********", "your-key-here", "EXAMPLE".
func notPlaceholder(s, _ string) bool {
	if strings.ContainsAny(s, "<>{}[]…") || strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%") || strings.HasPrefix(s, "!") {
		return false
	}
	low := strings.ToLower(s)
	for _, w := range []string{"example", "placeholder", "your", "xxxx", "****", "....", "changeme", "redacted", "dummy"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	return !isTalk(low) && strings.Trim(low, "*x•.-_#") != ""
}

// isTalk is true for the words that people and forms write after "password:"
// without giving one away.
func isTalk(low string) bool {
	switch low {
	case "password", "passwd", "pass", "secret", "token", "test", "user", "admin", "string", "text", "hidden", "none", "null", "nil",
		"true", "false", "required", "optional", "missing", "unknown", "invalid", "incorrect", "wrong", "expired", "reset", "changed",
		"forgotten", "forgot", "protected", "encrypted", "hashed", "weak", "strong", "same", "yes", "no", "ok", "okay", "n/a", "tbd", "later":
		return true
	}
	return false
}

// isPassword judges the value after "password:": one with letters and digits
// or a symbol, a number of six digits or more, or a plain word that ends the
// line.
func isPassword(s, after string) bool {
	s = strings.TrimRight(s, ".!?)")
	switch {
	case isMixed(s, after):
		return true
	case len(s) < 6 || !notPlaceholder(s, after) || isAddress(s):
		return false
	case strings.Trim(s, "0123456789") == "":
		return true
	}
	word := !strings.ContainsFunc(s, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') })
	rest, _, _ := strings.Cut(after, "\n")
	return word && strings.Trim(rest, " \t\r.!\"'`”」") == ""
}

// isMixed reports whether s has letters, and digits or a symbol that neither
// words nor addresses have.
func isMixed(s, after string) bool {
	s = strings.TrimRight(s, ".!?)")
	if len(s) < 6 || !notPlaceholder(s, after) || isAddress(s) || strings.ContainsAny(s, "()") {
		return false
	}
	ascii := !strings.ContainsFunc(s, func(c rune) bool { return c > unicode.MaxASCII })
	return ascii && strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsAny(s, "0123456789!@#$%^&*+=?~|")
}

// isChinesePassword judges the ASCII that follows 密码: it stands out from the
// text around it by itself, so digits alone will do.
func isChinesePassword(s, after string) bool {
	return notPlaceholder(s, after) && !isAddress(s) && strings.ContainsAny(s, "0123456789!@#$%^&*")
}

// isAddress is true for an address of mail or of the web.
func isAddress(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	return strings.Contains(s, "://") || ok && name != "" && strings.Contains(host, ".")
}
