package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitSpeaker takes "Name:" off a line of talk; also "<name>", "**Name:**"
// and the full-width colon. Strict asks that the name looks like one, for logs
// in which nothing but the name tells a new turn from a sentence with a colon.
func splitSpeaker(s string, strict bool) (name, text string, ok bool) {
	s = strings.TrimSpace(s)
	if inner, rest, found := strings.Cut(strings.TrimPrefix(s, "<"), ">"); found && strings.HasPrefix(s, "<") && isName(inner, strict) {
		return inner, strings.TrimSpace(rest), true
	}
	bold := strings.HasPrefix(s, "**")
	s = strings.TrimPrefix(s, "**")
	i := strings.IndexAny(s, ":：")
	if i < 0 {
		return "", "", false
	}
	_, width := utf8.DecodeRuneInString(s[i:])
	name, text = strings.TrimSpace(s[:i]), s[i+width:]
	if bold {
		name, text = strings.TrimSuffix(name, "**"), strings.TrimPrefix(text, "**")
	}
	// "10:30" and "https://" hold a colon too.
	if text != "" && width == 1 && (text[0] == '/' || text[0] == '\\' || text[0] >= '0' && text[0] <= '9') {
		return "", "", false
	}
	return name, strings.TrimSpace(text), isName(name, strict)
}

// particles may stand in a name in small letters.
const particles = " de da di del der den la le van von bin al el of the and "

// isName reports whether s can be who speaks.
func isName(s string, strict bool) bool {
	if n := utf8.RuneCountInString(s); n == 0 || n > 48 || strings.ContainsAny(s, "!?;,/\\\"{}=<>|。，！？；、") {
		return false
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	if !strict {
		return true
	}
	words := strings.Fields(s)
	if len(words) > 4 || unicode.IsDigit(firstRune(s)) {
		return false
	}
	for _, w := range words {
		if len(words) > 1 && unicode.IsLower(firstRune(w)) && !strings.Contains(particles, " "+w+" ") {
			return false
		}
	}
	return true
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// leftOut are what chat programs write where a picture or a call was.
var leftOut = []string{
	"<Media omitted>", "image omitted", "video omitted", "audio omitted", "sticker omitted", "GIF omitted", "document omitted",
	"<Medien ausgeschlossen>", "[图片]", "[视频]", "[语音]", "[表情]", "[动画表情]",
}

// isLeftOut reports whether a turn holds nothing but a chat program's placeholder.
func isLeftOut(text string) bool {
	text = strings.Trim(text, "\u200e \t\n")
	for _, w := range leftOut {
		if strings.EqualFold(text, w) {
			return true
		}
	}
	return false
}
