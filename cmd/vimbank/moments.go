package main

import (
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// timeForms are how a flag may write a moment.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

const wantedTime = "2026-03-15, \"2026-03-15 09:30\", 2026-03-15T09:30:00Z, or an offset from now such as -7d or +12h"

// parseTime reads a moment, UTC unless it says otherwise; empty is the zero
// time. field names it in an error.
func parseTime(field, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, f := range timeForms {
		if t, err := time.Parse(f, s); err == nil {
			return t, nil
		}
	}
	if s == "now" {
		return now, nil
	}
	if s[0] == '-' || s[0] == '+' {
		if d, ok := parseSpan(s[1:]); ok {
			if s[0] == '-' {
				d = -d
			}
			return now.Add(d), nil
		}
	}
	return time.Time{}, wrong(field, s, wantedTime)
}

// parseSpan reads a duration that may count days and weeks: 7d, 2w, 36h, 1d12h.
func parseSpan(s string) (time.Duration, bool) {
	var sum time.Duration
	for unit, size := range map[string]time.Duration{"w": 7 * day, "d": day} {
		i := strings.Index(s, unit)
		if i < 0 {
			continue
		}
		start := strings.LastIndexFunc(s[:i], func(r rune) bool { return r < '0' || r > '9' }) + 1
		n, err := strconv.Atoi(s[start:i])
		if err != nil || n > 100_000 {
			return 0, false
		}
		sum += time.Duration(n) * size
		s = s[:start] + s[i+1:]
	}
	if s == "" {
		return sum, true
	}
	d, err := time.ParseDuration(s)
	return sum + d, err == nil && d >= 0
}
