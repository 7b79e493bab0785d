package admit_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	base62 = digits + lower + upper
	hexes  = "0123456789abcdef"
)

// drawn makes a body as a maker of keys would, always the same. Whole keys are
// put together here and never written out, so that no scanner of repositories
// takes this file for a leak.
func drawn(alphabet string, n int) string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func rules(t testing.TB, o *admit.Options) *admit.Rules {
	t.Helper()
	r, err := admit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSecretsFound(t *testing.T) {
	r := rules(t, nil)
	for _, tt := range []struct{ name, before, secret, after string }{
		{"sk- API key", "use ", "sk-" + drawn(base62, 48), " for the demo"},
		{"sk- API key", "key=", "sk-proj-" + drawn(base62+"-_", 120), ""},
		{"AWS access key", "AWS id ", "AKIA" + drawn(upper+"234567", 16), "."},
		{"GitHub token", "git clone with ", "ghp_" + drawn(base62, 36), "!"},
		{"GitHub token", "", "github_pat_" + drawn(base62, 82), ""},
		{"GitLab token", "token: ", "glpat-" + drawn(base62, 20), "\n"},
		{"Slack token", "bot ", "xoxb-" + drawn(digits, 12) + "-" + drawn(digits, 13) + "-" + drawn(base62, 24), ""},
		{"Slack webhook", "https://hooks.slack.com/services/T" + drawn(upper, 8) + "/B" + drawn(upper, 8) + "/", drawn(base62, 24), ""},
		{"Stripe key", "my ", "sk_" + "live_" + drawn(base62, 24), " leaked"},
		{"Google API key", "maps?key=", "AIza" + drawn(base62, 35), "&q=x"},
		{"npm token", "//registry/:_authToken=", "npm_" + drawn(base62, 36), ""},
		{"Hugging Face token", "login with ", "hf_" + drawn(base62, 34), ""},
		{"SendGrid key", "", "SG." + drawn(base62, 22) + "." + drawn(base62, 43), ""},
		{"Telegram bot token", "bot", " " + drawn(digits, 10) + ":AA" + drawn(base62, 33), ""},
		{"DigitalOcean token", "", "dop_v1_" + drawn(hexes, 64), ""},
		{"JSON web token", "Cookie: ", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + drawn(base62, 43), ";"},
		{"bearer token", "Authorization: Bearer ", drawn(base62, 40), "\r\n"},
		{"named key", "api_key = \"", drawn(hexes, 32), "\""},
		{"named key", "my client secret is ", drawn(base62, 32), ", keep it"},
		{"named key", "API Key: ", "3f2b8c1e-77aa-4d02-9c55-0b6f1a2d9e10", ""},
		{"named key", "我的 API key 是 ", drawn(base62, 24), "，别告诉别人"},
		{"password", "password: ", "hunter2x", ""},
		{"password", "Wifi password: ", "sunflower", "\nsee you"},
		{"password", "The login is anna, password: ", "Tr0ub4dor&3", " - keep it safe"},
		{"password", "DB_PASSWORD=", "s3cr3t-pg-pass", "\nDB_HOST=x"},
		{"password", `{"user": "bob", "password": "`, "qwerty123!", `"}`},
		{"password", "My bank password is ", "Blue-42-Whale", ", he said."},
		{"password", "pwd=", "123456789", ";"},
		{"password", "家里无线网的密码是", "88886666", "，记一下"},
		{"password", "密码：", "abc12345", "。"},
		{"password in an address", "postgres://app:", "pg9Secret", "@db.internal:5432/x"},
		{"card number", "my visa is ", "4111 1111 1111 1111", " exp 12/27"},
		{"card number", "pay with ", "5555-5555-5555-4444", ""},
		{"card number", "amex ", "378282246310005", ""},
		{"card number", "银行卡号", "6212345678901232", "，别外传"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.before + tt.secret + tt.after
			found := r.Scan(text)
			if len(found) != 1 || found[0].Name != tt.name {
				t.Fatalf("Scan(%q) = %+v, want one %s", text, found, tt.name)
			}
			if got := text[found[0].Start:found[0].End]; got != strings.TrimSpace(tt.secret) {
				t.Errorf("found %q in %q, want %q", got, text, tt.secret)
			}
		})
	}
}

func TestPrivateKeyBlockFoundWhole(t *testing.T) {
	r := rules(t, nil)
	for _, kind := range []string{"", "RSA ", "OPENSSH ", "EC "} {
		block := "-----BEGIN " + kind + "PRIVATE KEY-----\n" + drawn(base62, 64) + "\n" + drawn(base62, 64) + "\n-----END " + kind + "PRIVATE KEY-----"
		text := "here is the deploy key:\n" + block + "\nthanks"
		found := r.Scan(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != block {
			t.Errorf("Scan of a %qPRIVATE KEY block = %+v, want the whole block", kind, found)
		}
		if cut := r.Scan(text[:len(text)/2]); len(cut) != 1 {
			t.Errorf("Scan of a block that is cut off = %+v, want it found all the same", cut)
		}
	}
}

func TestNotSecrets(t *testing.T) {
	r := rules(t, nil)
	for _, text := range []string{
		"I forgot my password again, can you help?",
		"Password: required, at least 8 characters",
		"The password is wrong.",
		"password: ********",
		"password: <your password>",
		"password: ${DB_PASSWORD}",
		`"password": "string"`,
		"Passwords: longer is better than complicated",
		"password is case-sensitive and expires in 90 days",
		"if password == other { return }",
		`password := os.Getenv("DB_PASSWORD")`,
		"mail the password to anna@example.org please",
		"the password is anna@firm.org's first dog",
		"密码是什么？我忘记了",
		"密码：请联系管理员",
		"密码为6位数字",
		"set SEARCH_API_KEY to your key, like sk-your-key-goes-here-0000",
		"api_key: YOUR_API_KEY_GOES_HERE_1234",
		"AKIAIOSFODNN7EXAMPLE is the key in the manual",
		"the task-oriented-dialogue-systems-of-2023 survey",
		"scikit-learn and sk-learn-contrib are names, sk-based-on-a-long-name-2023 too",
		"Bearer of bad news: internationalization is hard",
		"The secret is: internationalization",
		"git commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b fixes it",
		"id 0f8fad5b-d9cb-869f-8165-70867728950e",
		"sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"https://example.org:8080/path?token=short",
		"https://user:password@example.org",
		"order 4111 1111 1111 1112 is no card: its check digit is wrong",
		"years 2017 2018 2019 2020",
		"rows 4111 1111 1111 1111 4242 of a table",
		"ISBN 978-3-16-148410-0, phone +49 170 1234567",
		"p = 0.4111111111111111",
		"timestamp 1700000000000000",
		"call me on 13800138000, 身份证 110105194912310021",
		"eyJust a word.eyJust another.word that is long enough",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"He passed: brilliantly. The compass: north.",
		"我们在3月5日见面，房间号1204，票号4000123",
	} {
		if found := r.Scan(text); len(found) != 0 {
			t.Errorf("Scan(%q) = %+v, want nothing", text, found)
		}
	}
}

func TestSecretIsRefusedRedactedOrAllowed(t *testing.T) {
	token := "ghp_" + drawn(base62, 36)
	d := memtypes.Draft{Kind: memtypes.TaskKind, Text: "push with " + token + " and password: hunter2x", Meta: map[string]string{"note": token},
		Task: &memtypes.Task{Commands: []memtypes.Command{{Name: "run", Args: []string{"git", token}, Result: "pushed by " + token}}}}

	refused := rules(t, nil).Check(d, admit.Facts{})
	if refused.Action != admit.Refuse || refused.Code != admit.Secret || memtypes.CodeOf(refused.Err()) != memtypes.Refused {
		t.Errorf("by default: %s %s %v, want refuse, secret, Refused", refused.Action, refused.Code, refused.Err())
	}
	var fields []string
	for _, f := range refused.Findings {
		fields = append(fields, f.Field)
	}
	if want := []string{"text", "text", "meta.note", "task.commands.0.result", "task.commands.0.args.1"}; !slices.Equal(fields, want) {
		t.Errorf("found in %v, want %v", fields, want)
	}
	if want := "GitHub token found in text at byte 10, and 4 more"; refused.Reason != want {
		t.Errorf("reason = %q, want %q", refused.Reason, want)
	}

	redacted := rules(t, &admit.Options{Secrets: admit.Redact}).Check(d, admit.Facts{})
	if redacted.Action != admit.Redact || redacted.Err() != nil {
		t.Fatalf("redacting: %s, %v, want redact and no error", redacted.Action, redacted.Err())
	}
	c := redacted.Draft.Task.Commands[0]
	got := []string{redacted.Draft.Text, redacted.Draft.Meta["note"], c.Result, c.Args[1]}
	want := []string{"push with [GitHub token removed] and password: [password removed]", "[GitHub token removed]", "pushed by [GitHub token removed]", "[GitHub token removed]"}
	if !slices.Equal(got, want) {
		t.Errorf("redacted to %q, want %q", got, want)
	}
	if d.Meta["note"] != token || d.Task.Commands[0].Args[1] != token {
		t.Error("redacting changed the caller's own draft")
	}

	allowed := rules(t, &admit.Options{Secrets: admit.Allow}).Check(d, admit.Facts{})
	if allowed.Action != admit.Allow || len(allowed.Findings) != 5 || allowed.Draft.Text != d.Text {
		t.Errorf("allowing: %s with %d findings, want allow, all 5 reported, the text as it was", allowed.Action, len(allowed.Findings))
	}
}

// Whatever the text, redacting removes what scanning finds, keeps the rest and
// leaves nothing to find; and no verdict repeats the secret.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{"password: hunter2x", "4111 1111 1111 1111", "密码是88886666", "ghp_" + drawn(base62, 36), "-----BEGIN PRIVATE KEY-----\nx",
		"https://a:b4cdef@c", "0", "1-2-3", "\xff password:\xff\xff\xff\xff", "bearer bearer " + drawn(base62, 30)} {
		f.Add(s)
	}
	r := rules(f, &admit.Options{Secrets: admit.Redact})
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, x := range r.Scan(s) {
			if x.Start < end || x.End <= x.Start || x.End > len(s) {
				t.Fatalf("finding %+v after byte %d of %d: out of order, empty or outside", x, end, len(s))
			}
			end = x.End
		}
		v := r.Check(memtypes.Draft{Kind: memtypes.Dialogue, Text: s}, admit.Facts{})
		if again := r.Scan(v.Draft.Text); v.Action == admit.Redact && len(again) > 0 {
			t.Fatalf("%q redacted to %q, in which %+v is found", s, v.Draft.Text, again)
		}
		for _, x := range v.Findings {
			if secret := s[x.Start:x.End]; len(secret) > 12 && (strings.Contains(v.Reason, secret) || strings.Contains(v.Draft.Text, secret) && strings.Count(s, secret) == 1) {
				t.Fatalf("secret %q is still in the verdict %+v", secret, v)
			}
		}
	})
}
