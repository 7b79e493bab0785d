package timeword

import "time"

// hanDigits are the Chinese digits; 两 counts like 二.
var hanDigits = map[string]int{
	"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}

// hanNumber is the number from token i, in digits or below 100 in characters
// (三, 十二, 二十三), and how many tokens it takes; 0 if none.
func (p *parser) hanNumber(i int) (num, n int) {
	if t := p.tok(i); t.kind == number {
		return max(t.num, 0), 1
	}
	tens, ok := hanDigits[p.tok(i).word]
	if ok {
		n = 1
	}
	if !p.is(i+n, "十") {
		return tens, n
	}
	if !ok {
		tens = 1
	}
	n++
	if ones, ok := hanDigits[p.tok(i+n).word]; ok {
		return tens*10 + ones, n + 1
	}
	return tens * 10, n
}

// hanYear is a year before 年: four digits, in either writing.
func (p *parser) hanYear(i int) (y, n int) {
	if t := p.tok(i); t.kind == number && len(t.word) == 4 && plausible(t.num) && p.is(i+1, "年") {
		return t.num, 2
	}
	for k := range 4 {
		d, ok := hanDigits[p.tok(i+k).word]
		if !ok || p.is(i+k, "两") {
			return 0, 0
		}
		y = y*10 + d
	}
	if !p.is(i+4, "年") || !plausible(y) {
		return 0, 0
	}
	return y, 5
}

// hanYears are the words for years around this one.
var hanYears = map[string]int{"前": -2, "去": -1, "今": 0, "明": 1}

// hanYearWord is the year of 去年 and the like.
func (p *parser) hanYearWord(i int) (y, n int) {
	if p.is(i, "大") && p.is(i+1, "前") && p.is(i+2, "年") {
		return p.cal.now.Year() - 3, 3
	}
	offset, ok := hanYears[p.tok(i).word]
	if !ok || !p.is(i+1, "年") || p.is(i-1, "以", "之", "几", "多") || p.counted(i) {
		return 0, 0
	}
	return p.cal.now.Year() + offset, 2
}

// counted reports whether a number stands before token i: 三前年 is no word.
func (p *parser) counted(i int) bool {
	_, digit := hanDigits[p.tok(i-1).word]
	return digit || p.tok(i-1).kind == number || p.is(i-1, "十", "百")
}

// hanMonth is the month before 月; 三个月 is a length and none.
func (p *parser) hanMonth(i int) (m, n int) {
	m, n = p.hanNumber(i)
	if n == 0 || m < 1 || m > 12 || !p.is(i+n, "月") {
		return 0, 0
	}
	n++
	if p.is(i+n, "份") {
		n++
	}
	return m, n
}

// hanDay is the day before 日 or 号.
func (p *parser) hanDay(i int) (d, n int) {
	d, n = p.hanNumber(i)
	if n == 0 || d < 1 || d > 99 || !p.is(i+n, "日", "号", "號") {
		return 0, 0
	}
	return d, n + 1
}

// hanDate: 2023年5月2日, 二〇二三年五月, 去年5月, 5月2日, 5月, 2023年, 去年.
func (p *parser) hanDate(i int) (found, int) {
	y, n := p.hanYear(i)
	dated := n > 0
	if n == 0 {
		y, n = p.hanYearWord(i)
	}
	p0 := i + n
	if p.is(p0, "的") && n > 0 {
		p0++
	}
	m, k := p.hanMonth(p0)
	if k == 0 {
		if n == 0 || dated && p.is(i+n, "代", "级") {
			return found{}, 0
		}
		return found{Range: p.cal.year(y)}, n
	}
	if n == 0 && p.is(i-1, "第", "个") {
		return found{}, 0
	}
	at := p0 + k
	if d, k := p.hanDay(at); k > 0 {
		return p.dateOf(y, m, d, at+k-i)
	}
	if n == 0 {
		return found{Range: p.cal.latestMonth(m)}, at - i
	}
	return found{Range: p.cal.month(y, m)}, at - i
}

// hanWords are the days and months around now.
var hanWords = []struct {
	words  string
	unit   Unit
	offset int
}{
	{"大前天", Day, -3}, {"前天", Day, -2}, {"昨天", Day, -1}, {"昨日", Day, -1}, {"昨晚", Day, -1}, {"昨夜", Day, -1},
	{"今天", Day, 0}, {"今日", Day, 0}, {"今晚", Day, 0}, {"今早", Day, 0}, {"明天", Day, 1}, {"明日", Day, 1}, {"后天", Day, 2},
	{"上上个月", Month, -2}, {"上个月", Month, -1}, {"上月", Month, -1}, {"这个月", Month, 0}, {"本月", Month, 0},
	{"下个月", Month, 1}, {"下月", Month, 1}, {"本年", Year, 0},
}

// hanRelative: 昨天, 上个月, 上个月15号.
func (p *parser) hanRelative(i int) (found, int) {
	for _, w := range hanWords {
		n := p.spells(i, w.words)
		if n == 0 {
			continue
		}
		now := p.cal.now
		switch w.unit {
		case Day:
			return found{Range: p.cal.day(w.offset)}, n
		case Year:
			return found{Range: p.cal.year(now.Year() + w.offset)}, n
		}
		r := p.cal.month(now.Year(), int(now.Month())+w.offset)
		if d, k := p.hanDay(i + n); k > 0 {
			r, _ = p.cal.dayOf(r.From.Year(), int(r.From.Month()), d)
			return found{Range: r}, n + k
		}
		return found{Range: r}, n
	}
	return found{}, 0
}

// spells is how many tokens from i spell words, 0 if they do not.
func (p *parser) spells(i int, words string) int {
	n := 0
	for _, r := range words {
		if !p.is(i+n, string(r)) {
			return 0
		}
		n++
	}
	return n
}

// hanUnit is the unit of a length of time: 天, 周, 个星期, 个月, 年.
func (p *parser) hanUnit(i int) (Unit, int) {
	for _, u := range []struct {
		words string
		unit  Unit
	}{
		{"天", Day}, {"日", Day}, {"周", Week}, {"个星期", Week}, {"星期", Week}, {"个礼拜", Week}, {"礼拜", Week},
		{"个月", Month}, {"年", Year},
	} {
		if n := p.spells(i, u.words); n > 0 {
			return u.unit, n
		}
	}
	return "", 0
}

// hanAgo: 三天前, 两周之前, 2个月以前; 过去三天, 最近两周.
func (p *parser) hanAgo(i int) (found, int) {
	at := i
	rolling := max(p.spells(i, "过去"), p.spells(i, "最近"))
	if rolling > 0 {
		at += rolling
		if p.is(at, "的", "这") {
			at++
		}
	}
	num, n := p.hanNumber(at)
	if n == 0 || p.counted(i) || p.is(i-1, "第", "几", "多", "大") {
		return found{}, 0
	}
	unit, k := p.hanUnit(at + n)
	if k == 0 {
		return found{}, 0
	}
	at += n + k
	if rolling > 0 {
		r, _ := p.cal.last(num, unit)
		return found{Range: r}, at - i
	}
	if p.is(at, "之", "以") {
		at++
	}
	if !p.is(at, "前") {
		return found{}, 0
	}
	r, _ := p.cal.back(num, unit)
	return found{Range: r}, at + 1 - i
}

var hanWeekdays = map[string]time.Weekday{
	"日": 0, "天": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6,
}

// hanWeek: 上周, 这个星期, 上上周五, 周末, 上周末, 星期三.
func (p *parser) hanWeek(i int) (found, int) {
	offset, which := 0, 0
	switch {
	case p.is(i, "上") && p.is(i+1, "上"):
		offset, which = -2, 2
	case p.is(i, "上"):
		offset, which = -1, 1
	case p.is(i, "这", "本"):
		which = 1
	case p.is(i, "下") && p.is(i+1, "下"):
		offset, which = 2, 2
	case p.is(i, "下"):
		offset, which = 1, 1
	}
	at := i + which
	if which > 0 && p.is(at, "个", "一") {
		at++
	}
	n := max(p.spells(at, "周"), p.spells(at, "星期"), p.spells(at, "礼拜"))
	if n == 0 {
		return found{}, 0
	}
	at += n
	week := p.cal.week(p.cal.now, offset)
	d, ok := hanWeekdays[p.tok(at).word]
	if p.is(at, "一") && p.is(at+1, "直", "些", "样", "个", "起", "共", "次", "下") || p.is(at, "日") && p.is(at+1, "本") {
		ok = false // 上周一直, 上周日本
	}
	switch {
	case p.is(at, "末") && which > 0:
		return found{Range: p.cal.weekend(week)}, at + 1 - i
	case ok && which > 0:
		return found{Range: p.cal.weekday(week, d)}, at + 1 - i
	case ok && !p.is(i-1, "每", "个") && !p.counted(i):
		return found{Range: p.cal.weekdayBefore(d, true)}, at + 1 - i
	case which > 0:
		return found{Range: week}, at - i
	}
	return found{}, 0
}
