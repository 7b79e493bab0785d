package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on standard error, for people: at a terminal and without
// --json only. A nil progress shows nothing.
type progress struct {
	bar  *progressbar.ProgressBar
	name string
}

// newProgress makes a bar up to total, which may be 0 for not known.
func newProgress(a *app, name string, total int64) *progress {
	if a.flags.json || !newShow(a.err, true).terminal {
		return nil
	}
	if total <= 0 {
		total = -1
	}
	return &progress{name: name, bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(a.err), progressbar.OptionSetDescription(name), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(80*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionEnableColorCodes(false),
		progressbar.OptionSetPredictTime(true),
	)}
}

// Write counts bytes that were read. A bar that cannot be drawn is no error.
func (p *progress) Write(b []byte) (int, error) {
	if p != nil {
		_ = p.bar.Add(len(b))
	}
	return len(b), nil
}

// items says how many items are safe.
func (p *progress) items(n int) {
	if p != nil {
		p.bar.Describe(fmt.Sprintf("%s: %s", p.name, plural(n, "item", "items")))
	}
}

// to moves the bar to done of total.
func (p *progress) to(done, total int) {
	if p == nil {
		return
	}
	if total > 0 {
		p.bar.ChangeMax(total)
	}
	_ = p.bar.Set(done)
}

// clear takes the bar off the screen, before something else is written there.
func (p *progress) clear() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
