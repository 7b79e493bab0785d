package admit

import "strings"

// cards finds payment card numbers: digits in the groups in which cards are
// printed or in one piece, with the prefix and length of a brand and a right
// check digit (ISO/IEC 7812, Luhn). One number in ten passes the check by
// chance, so the prefix, the length and the groups must all agree.
//
// A date or a code may stand beside the number, but no further group of four
// digits: then it is a row of a table.
func cards(text string) []span {
	var found []span
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		groups := run(text, i)
		i = groups[len(groups)-1].end
		for a := range groups {
			for b := len(groups); b > a; b-- {
				beside := a > 0 && groups[a-1].len() == 4 || b < len(groups) && groups[b].len() == 4
				s := span{groups[a].start, groups[b-1].end}
				if !beside && alone(text, s) && isCard(text[s.start:s.end]) {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// run gives the groups of digits from start on that single spaces or hyphens
// part, at most eight: no card has more than five.
func run(text string, start int) []span {
	var groups []span
	for i := start; ; i++ {
		s := span{i, i}
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		s.end = i
		groups = append(groups, s)
		if i+1 >= len(text) || text[i] != ' ' && text[i] != '-' || !isDigit(text[i+1]) || len(groups) == 8 {
			return groups
		}
	}
}

// alone is false for digits that are part of a word, a decimal or a longer code.
func alone(text string, s span) bool {
	start, end := s.start, s.end
	if start > 0 && (isWord(text[start-1]) || strings.IndexByte(".,/-+", text[start-1]) >= 0) {
		return false
	}
	if end < len(text) && isWord(text[end]) {
		return false
	}
	return end+1 >= len(text) || strings.IndexByte(".,/-", text[end]) < 0 || !isWord(text[end+1])
}

func isCard(s string) bool {
	groups := strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == '-' })
	digits := strings.Join(groups, "")
	return isBrand(digits) && inGroups(groups, len(digits)) && luhn(digits)
}

// inGroups accepts one piece, 4-4-4-4, 4-4-4-4-3, and 4-6-5 or 4-6-4.
func inGroups(groups []string, n int) bool {
	if len(groups) == 1 {
		return true
	}
	for i, g := range groups {
		want := 4
		switch {
		case n <= 15 && i == 1:
			want = 6
		case n == 15 && i == 2:
			want = 5
		case n == 19 && i == 4:
			want = 3
		}
		if len(g) != want {
			return false
		}
	}
	return true
}

// isBrand knows the lengths that go with a prefix: Visa, Mastercard, American
// Express, Diners, Discover, JCB and UnionPay.
func isBrand(d string) bool {
	if len(d) < 13 {
		return false
	}
	two, four := d[:2], d[:4]
	switch len(d) {
	case 13:
		return d[0] == '4'
	case 14:
		return two == "36" || two == "38" || two == "39"
	case 15:
		return two == "34" || two == "37"
	case 16:
		return d[0] == '4' || two >= "51" && two <= "55" || four >= "2221" && four <= "2720" || two == "35" || two == "62" || two == "65" || four == "6011"
	case 19:
		return d[0] == '4' || two == "62" || two == "65"
	}
	return false
}

// luhn checks the last digit.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
