package admit_test

import (
	"testing"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
)

const (
	flight = "My flight to Lisbon leaves on the third of May at nine in the morning."
	violin = "I started to learn the violin when my grandmother gave me hers."
	movie  = "我昨天和朋友去看了一部电影，名字叫《我是山姆》，讲的是一位父亲的故事。"
)

func heard() []admit.Recalled {
	said := time.Date(2024, 2, 11, 9, 0, 0, 0, time.UTC)
	at := t0.Add(-10 * time.Minute)
	return []admit.Recalled{
		{ID: "m1", Text: flight, Speaker: "Anna", When: said, At: at},
		{ID: "m2", Text: violin, Speaker: "Anna", When: said.AddDate(0, 0, 3), At: at},
		{ID: "m3", Text: movie, Speaker: "小明", When: said, At: at},
		{ID: "m4", Text: "Thanks!", Speaker: "Ben", When: said, At: at},
		{ID: "m5", Text: "How are you today, Anna?", Speaker: "Ben", When: said, At: at},
		{ID: "m6", Text: "2023-05-01 The whole team met in the main office to talk about the budget", When: said, At: at},
	}
}

func TestEcho(t *testing.T) {
	r := rules(t, nil)
	for _, tt := range []struct {
		name, text string
		want       memtypes.ID // the memory echoed; empty: let in
	}{
		{"verbatim", flight, "m1"},
		{"up to case and signs", "my flight to LISBON leaves on the third of May, at nine in the morning", "m1"},
		{"Chinese", movie, "m3"},
		{"a context block", "Relevant memories:\n- [2024-02-11 09:00] Anna: " + flight + "\n- [2024-02-14] Anna: " + violin, "m1"},
		{"numbered", "1. " + violin + "\n2. " + flight, "m1"},
		{"a role before it", "Assistant: " + flight, "m1"},
		{"a Chinese context block", "记忆：\n- 2024-02-11 小明：" + movie, "m3"},
		{"two in one line", flight + " " + violin, "m1"},
		{"with a date of its own", "2023-05-01 The whole team met in the main office to talk about the budget.", "m6"},

		{"short talk comes back by itself", "Thanks!", ""},
		{"so does small talk", "How are you today, Anna?", ""},
		{"denied", "No longer true: " + flight, ""},
		{"denied by a bracket", "[cancelled] " + flight, ""},
		{"denied in Chinese", "其实不对：" + movie, ""},
		{"with news behind", flight + " It is flight TP 571.", ""},
		{"with a number behind", violin + " 12", ""},
		{"another number in it", "My flight to Lisbon leaves on the fourth of May at nine in the morning.", ""},
		{"one sentence of two", "My flight to Lisbon leaves on the third of May.", ""},
		{"another day before it", "2024-03-01 " + flight, ""},
		{"another day for the same", "2024-05-01 The whole team met in the main office to talk about the budget", ""},
		{"another speaker, whom nobody recalled", "Carla: " + flight, ""},
		{"nothing of the kind", "I bought a new violin today, and it sounds better than the old one.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := r.Check(memtypes.Draft{Scope: scope(t), Kind: memtypes.Dialogue, Text: tt.text}, admit.Facts{Now: t0, Recalled: heard()})
			if v.Of != tt.want || (v.Code == admit.Echo) != (tt.want != "") {
				t.Fatalf("%s of %q (%s), want an echo of %q", v.Code, v.Of, v.Reason, tt.want)
			}
			if want := "this text was recalled 10m0s ago as " + string(v.Of) + " and only comes back"; tt.want != "" && v.Reason != want {
				t.Errorf("reason = %q, want %q", v.Reason, want)
			}
		})
	}
}

func TestEchoSurroundings(t *testing.T) {
	r := rules(t, nil)
	for _, tt := range []struct {
		name   string
		change func(d *memtypes.Draft, f *admit.Facts)
		want   admit.Code
	}{
		{"nothing else", func(d *memtypes.Draft, f *admit.Facts) {}, admit.Echo},
		{"said after the recall", func(d *memtypes.Draft, f *admit.Facts) { d.Event = t0 }, admit.Echo},
		{"said before the recall, as in an old log", func(d *memtypes.Draft, f *admit.Facts) { d.Event = t0.AddDate(-1, 0, 0) }, admit.OK},
		{"recalled two days ago", func(d *memtypes.Draft, f *admit.Facts) { f.Now = t0.Add(48 * time.Hour) }, admit.OK},
		{"recalled later, by the clock", func(d *memtypes.Draft, f *admit.Facts) { f.Now = t0.Add(-time.Hour) }, admit.OK},
		{"a task done again", func(d *memtypes.Draft, f *admit.Facts) { d.Kind = memtypes.TaskKind }, admit.OK},
		{"a title of its own", func(d *memtypes.Draft, f *admit.Facts) { d.Kind, d.Title = memtypes.Knowledge, "Travel plans" }, admit.OK},
		{"a triple handed in", func(d *memtypes.Draft, f *admit.Facts) { d.Triple = &memtypes.Triple{Head: "Anna"} }, admit.OK},
		{"the very same memory again", func(d *memtypes.Draft, f *admit.Facts) { f.ID = "m1" }, admit.OK},
		{"it was the question", func(d *memtypes.Draft, f *admit.Facts) {
			for i := range f.Recalled {
				f.Recalled[i].Query = flight
			}
		}, admit.OK},
		{"another question", func(d *memtypes.Draft, f *admit.Facts) {
			for i := range f.Recalled {
				f.Recalled[i].Query = "When does my flight leave?"
			}
		}, admit.Echo},
		{"nothing was recalled", func(d *memtypes.Draft, f *admit.Facts) { f.Recalled = nil }, admit.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := memtypes.Draft{Scope: scope(t), Kind: memtypes.Dialogue, Text: flight}
			f := admit.Facts{Now: t0, Recalled: heard()}
			tt.change(&d, &f)
			if v := r.Check(d, f); v.Code != tt.want {
				t.Errorf("%s (%s), want %s", v.Code, v.Reason, tt.want)
			}
			if v := rules(t, &admit.Options{Echoes: admit.Allow}).Check(d, f); v.Code != admit.OK {
				t.Errorf("echoes allowed: %s, want ok", v.Code)
			}
		})
	}
}
