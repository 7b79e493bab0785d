package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// typed turns what a source gave into a value of type t. Files give typed
// values, which are taken strictly: 1.5 is no whole number and 30 no duration.
// Environment and flags give strings. The error says what is wanted.
func typed(raw any, t reflect.Type) (any, error) {
	s, isText := raw.(string)
	switch t {
	case reflect.TypeFor[time.Duration]():
		if d, err := parseDuration(s); isText && err == nil {
			return d, nil
		}
		return nil, errors.New("a duration such as 30s, 24h, 7d or forever")
	case reflect.TypeFor[Secret]():
		if isText {
			return NewSecret(s), nil
		}
		return nil, errors.New("text in quotes")
	}
	switch t.Kind() {
	case reflect.String:
		if isText {
			return s, nil
		}
		return nil, errors.New("text; put quotes around it if it looks like a number")
	case reflect.Bool:
		if b, ok := raw.(bool); ok {
			return b, nil
		}
		if s == "true" || s == "false" {
			return s == "true", nil
		}
		return nil, errors.New("true or false")
	case reflect.Int:
		if n, ok := raw.(int); ok {
			return n, nil
		}
		if n, err := strconv.Atoi(s); isText && err == nil {
			return n, nil
		}
		return nil, errors.New("a whole number")
	case reflect.Float64:
		return typedFloat(raw)
	}
	panic("configs: a setting of type " + t.String())
}

func typedFloat(raw any) (any, error) {
	switch x := raw.(type) {
	case int:
		return float64(x), nil
	case float64:
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x, nil
		}
	case string:
		if f, err := strconv.ParseFloat(x, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return nil, errors.New("a number")
}

// parseDuration is time.ParseDuration with whole days in front (7d, 1d12h),
// and "forever".
func parseDuration(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	days, rest, found := strings.Cut(s, "d")
	if !found {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(days, 10, 32)
	if err != nil || n < 0 || n > 100_000 {
		return 0, fmt.Errorf("%q days", days)
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("%q after the days", rest)
	}
	return d + more, nil
}

// formatDuration writes what parseDuration reads, without parts that are zero.
func formatDuration(d time.Duration) string {
	if d == Forever {
		return "forever"
	}
	days := d / (24 * time.Hour)
	if days <= 0 {
		return shortDuration(d)
	}
	s := strconv.FormatInt(int64(days), 10) + "d"
	if rest := d - days*24*time.Hour; rest > 0 {
		s += shortDuration(rest)
	}
	return s
}

// shortDuration is String without the zero minutes and seconds that it ends with.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
