package admit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
)

var t0 = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

const vaccine = `The vaccine is stored at -70 degrees and has to be thawed in a refrigerator before use. ` +
	`Once it is thawed it can be kept at 2 to 8 degrees for 31 days, and it must not be frozen again. ` +
	`Each vial holds 6 doses, which are given in 2 shots at an interval of 21 days by the staff of the clinic.`

const river = `长江全长约6300公里，发源于青藏高原唐古拉山脉的格拉丹东雪山，流经青海、西藏、四川、云南、重庆、湖北、湖南、江西、安徽、江苏、上海等地，最后注入东海。` +
	`它是世界第三长河，流域面积达180万平方公里，约占中国陆地总面积的五分之一。`

func scope(t testing.TB) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", "anna", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// known makes the active memory of d.
func known(t testing.TB, d memtypes.Draft) memtypes.Memory {
	t.Helper()
	m, err := memtypes.New(d, t0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each text beside one that is known already: what a person would call the
// same is refused, and what adds or changes anything is let in.
func TestDuplicateTexts(t *testing.T) {
	r := rules(t, nil)
	swap := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the text has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, tt := range []struct {
		name, known, text string
		want              admit.Code
	}{
		{"the same", vaccine, vaccine, admit.Duplicate},
		{"other case, spaces and signs", vaccine, strings.ToUpper(strings.ReplaceAll(vaccine, ", ", " , ")) + "!!", admit.Duplicate},
		{"full-width forms", "上映时间：2001年", "上映时间：２００１年。", admit.Duplicate},
		{"an article less", vaccine, swap(vaccine, "by the staff", "by staff"), admit.NearDuplicate},
		{"a 也 has meaning, a 的 has not", river, swap(river, "达180万", "达180万的"), admit.NearDuplicate},
		{"hours written together", "Dinner is at 7 pm on Friday", "Dinner is at 7pm on Friday", admit.Duplicate},
		{"a place moved in a long text", vaccine + " The first truck goes from Lisbon to Oslo.", vaccine + " The first truck goes from Oslo to Lisbon.", admit.OK},
		{"another number", vaccine, swap(vaccine, "31 days", "30 days"), admit.OK},
		{"another sign", vaccine, swap(vaccine, "-70", "70"), admit.OK},
		{"a decimal point", vaccine, swap(vaccine, "6 doses", "6.5 doses"), admit.OK},
		{"a negation less", vaccine, swap(vaccine, "must not be", "must be"), admit.OK},
		{"a negation more", vaccine, swap(vaccine, "can be kept", "can not be kept"), admit.OK},
		{"another name", vaccine, swap(vaccine, "clinic", "Charité"), admit.OK},
		{"another preposition", "The flight leaves from Lisbon to Oslo on the third of May", "The flight leaves to Lisbon from Oslo on the third of May", admit.OK},
		{"another tense", vaccine, swap(vaccine, "is stored", "was stored"), admit.OK},
		{"the other way round", "Brazil beat Italy in the final", "Italy beat Brazil in the final", admit.OK},
		{"a sentence more", vaccine, vaccine + " It was licensed first in December.", admit.OK},
		{"a sentence less", vaccine, vaccine[:strings.LastIndex(vaccine, "Each")], admit.OK},
		{"another Chinese number", river, swap(river, "6300", "6400"), admit.OK},
		{"a Chinese negation", river, swap(river, "它是世界", "它不是世界"), admit.OK},
		{"another triple of the same head", "我是山姆 类型 家庭", "我是山姆 类型 亲情", admit.OK},
		{"signs only, the same", "???", "???", admit.Duplicate},
		{"signs only, others", "???", "!!!", admit.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := known(t, memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: tt.known, Part: 1})
			v := r.Check(memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: tt.text}, admit.Facts{Similar: []memtypes.Memory{m}})
			if v.Code != tt.want {
				t.Fatalf("%s (%s), want %s", v.Code, v.Reason, tt.want)
			}
			if tt.want != admit.OK && (v.Action != admit.Refuse || v.Of != m.ID || v.Similarity < 1 || !strings.Contains(v.Reason, string(m.ID))) {
				t.Errorf("verdict %+v, want refuse, of %s, the similarity, and a reason naming it", v, m.ID)
			}
			if same := admit.Fingerprint(tt.known) == admit.Fingerprint(tt.text); tt.want != admit.OK && !same {
				t.Error("a duplicate has another fingerprint, want the same")
			}
		})
	}
}

// The same words are no duplicate where anything around them is news.
func TestDuplicateSurroundings(t *testing.T) {
	r := rules(t, nil)
	other, err := memtypes.NewScope("", "ben", "", "")
	if err != nil {
		t.Fatal(err)
	}
	base := memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: vaccine, Title: "Storage", Part: 3}
	for _, tt := range []struct {
		name   string
		change func(d *memtypes.Draft, m *memtypes.Memory)
		want   admit.Code
	}{
		{"nothing else", func(d *memtypes.Draft, m *memtypes.Memory) {}, admit.Duplicate},
		{"a thought", func(d *memtypes.Draft, m *memtypes.Memory) {
			d.Layer, m.Layer, d.Kind, m.Kind = memtypes.Thought, memtypes.Thought, memtypes.Dialogue, memtypes.Dialogue
		}, admit.Duplicate},
		{"a thought beside the raw text", func(d *memtypes.Draft, m *memtypes.Memory) { d.Layer = memtypes.Thought }, admit.OK},
		{"the title left out", func(d *memtypes.Draft, m *memtypes.Memory) { d.Title = "" }, admit.Duplicate},
		{"another title", func(d *memtypes.Draft, m *memtypes.Memory) { d.Title = "Handling" }, admit.OK},
		{"another event time", func(d *memtypes.Draft, m *memtypes.Memory) { d.Event, m.Event = t0, t0.Add(time.Hour) }, admit.OK},
		{"an event time at last", func(d *memtypes.Draft, m *memtypes.Memory) { d.Event = t0 }, admit.OK},
		{"the event time left out", func(d *memtypes.Draft, m *memtypes.Memory) { m.Event = t0 }, admit.Duplicate},
		{"more trusted", func(d *memtypes.Draft, m *memtypes.Memory) { d.Source.Trust = memtypes.Verified }, admit.OK},
		{"less trusted", func(d *memtypes.Draft, m *memtypes.Memory) { m.Source.Trust = memtypes.Verified }, admit.Duplicate},
		{"another triple", func(d *memtypes.Draft, m *memtypes.Memory) {
			d.Triple, m.Triple = &memtypes.Triple{Head: "a", Relation: "is", Tail: "b"}, &memtypes.Triple{Head: "a", Relation: "is", Tail: "c"}
		}, admit.OK},
		{"the same triple", func(d *memtypes.Draft, m *memtypes.Memory) {
			d.Triple, m.Triple = &memtypes.Triple{Head: "A", Relation: "is", Tail: "b"}, &memtypes.Triple{Head: "a", Relation: "is", Tail: "b"}
		}, admit.Duplicate},
		{"another scope", func(d *memtypes.Draft, m *memtypes.Memory) { d.Scope = other }, admit.OK},
		{"a retired memory", func(d *memtypes.Draft, m *memtypes.Memory) { m.State = memtypes.Retired }, admit.OK},
		{"said in talk", func(d *memtypes.Draft, m *memtypes.Memory) { d.Kind, m.Kind = memtypes.Dialogue, memtypes.Dialogue }, admit.OK},
		{"done as a task", func(d *memtypes.Draft, m *memtypes.Memory) { d.Kind, m.Kind = memtypes.TaskKind, memtypes.TaskKind }, admit.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, m := base, known(t, base)
			tt.change(&d, &m)
			d.Part = 0
			f := admit.Facts{Similar: []memtypes.Memory{m}}
			if v := r.Check(d, f); v.Code != tt.want {
				t.Errorf("%s (%s), want %s", v.Code, v.Reason, tt.want)
			}
			if tt.want == admit.Duplicate && !r.WantsSimilar(&d) {
				t.Error("WantsSimilar = false for a draft that has a duplicate")
			}
			f.ID = m.ID
			if v := r.Check(d, f); v.Code != admit.OK {
				t.Errorf("the draft's own memory speaks against it: %s", v.Code)
			}
			lenient := rules(t, &admit.Options{Duplicates: admit.Allow})
			if v := lenient.Check(d, admit.Facts{Similar: f.Similar}); v.Code != admit.OK || lenient.WantsSimilar(&d) {
				t.Errorf("duplicates allowed: %s, WantsSimilar %v, want ok and false", v.Code, lenient.WantsSimilar(&d))
			}
		})
	}
}

// A lower Similarity trades order for reach, and names the nearest of several.
func TestSimilarity(t *testing.T) {
	sentences := strings.SplitAfter(vaccine, ". ")
	moved := sentences[1] + sentences[0] + sentences[2]
	muddled := strings.Join(slices.Sorted(slices.Values(strings.Fields(vaccine))), " ")
	m := known(t, memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: moved})
	far := known(t, memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: muddled})
	d := memtypes.Draft{Scope: scope(t), Kind: memtypes.Knowledge, Text: vaccine}
	for _, tt := range []struct {
		share float64
		want  memtypes.ID
	}{{0, ""}, {.95, ""}, {.8, m.ID}, {.0001, m.ID}} {
		v := rules(t, &admit.Options{Similarity: tt.share}).Check(d, admit.Facts{Similar: []memtypes.Memory{far, m}})
		if v.Of != tt.want || tt.want != "" && (v.Code != admit.NearDuplicate || v.Similarity < .8 || v.Similarity >= 1) {
			t.Errorf("at %v: %s of %q, similarity %.3f, want near_duplicate of %q", tt.share, v.Code, v.Of, v.Similarity, tt.want)
		}
	}
}
