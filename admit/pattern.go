package admit

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// pattern is one form in which secrets are written down.
type pattern struct {
	name string
	// hints are strings of which a text must hold one, before the expression
	// is tried at all; in lower case where fold is set.
	hints []string
	fold  bool
	// re finds the form. The secret is its first group, or all of it if it has none.
	re *regexp.Regexp
	// real, if given, tells a secret from what only looks like one; after is
	// the text that follows it.
	real func(secret, after string) bool
}

// patterns makes the table. Where a maker of keys gives them a prefix of their
// own, prefix, alphabet and length tell; a form without one needs a name in
// front ("password:") and a value that looks drawn at random.
func patterns() []pattern {
	prefixed := func(name, hints, re string) pattern {
		return pattern{name: name, hints: strings.Fields(hints), re: regexp.MustCompile(`\b` + re), real: random}
	}
	const open, shut = "[\"'`“「]?", "\"'`”」,;，；。"
	return []pattern{
		{name: "private key", hints: []string{"PRIVATE KEY"}, re: regexp.MustCompile(
			`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|\z)`)},
		{name: "age secret key", hints: []string{"AGE-SECRET-KEY-1"}, re: regexp.MustCompile(`AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}`)},
		{name: "JSON web token", hints: []string{"eyJ"}, re: regexp.MustCompile(`\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}`), real: isJWT},
		{name: "AWS access key", hints: []string{"AKIA", "ASIA"}, re: regexp.MustCompile(`\bA[KS]IA[A-Z2-7]{16}\b`), real: notPlaceholder},
		prefixed("sk- API key", "sk-", `sk-[\w-]{20,}`),
		prefixed("Alibaba Cloud key", "LTAI", `LTAI[A-Za-z0-9]{16,24}\b`),
		prefixed("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `gh[pousr]_[A-Za-z0-9]{36,}`),
		prefixed("GitHub token", "github_pat_", `github_pat_\w{60,}`),
		prefixed("GitLab token", "glpat-", `glpat-[\w-]{20,}`),
		prefixed("Slack token", "xox", `xox[abeoprs]-[\w-]{20,}`),
		prefixed("Slack webhook", "hooks.slack.com", `hooks\.slack\.com/services/T\w{6,}/B\w{6,}/(\w{16,})`),
		prefixed("Stripe key", "k_live_", `[sr]k_live_[A-Za-z0-9]{16,}`),
		prefixed("Google API key", "AIza", `AIza[\w-]{35}`),
		prefixed("Google OAuth secret", "GOCSPX-", `GOCSPX-[\w-]{20,}`),
		prefixed("npm token", "npm_", `npm_[A-Za-z0-9]{36}`),
		prefixed("PyPI token", "pypi-AgE", `pypi-AgE[\w-]{50,}`),
		prefixed("Hugging Face token", "hf_", `hf_[A-Za-z0-9]{30,}`),
		prefixed("Docker token", "dckr_pat_", `dckr_pat_[\w-]{20,}`),
		prefixed("DigitalOcean token", "dop_v1_", `dop_v1_[a-f0-9]{64}`),
		prefixed("SendGrid key", "SG.", `SG\.[\w-]{20,24}\.[\w-]{39,50}`),
		prefixed("Shopify token", "shpat_ shpca_ shppa_ shpss_", `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`),
		prefixed("Vault token", "hvs.", `hvs\.[\w-]{24,}`),
		prefixed("Databricks token", "dapi", `dapi[a-f0-9]{32}\b`),
		prefixed("Telegram bot token", ":AA", `\d{8,10}:AA[\w-]{33}\b`),
		{name: "password in an address", hints: []string{"://"}, real: notPlaceholder,
			re: regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`)},
		{name: "bearer token", hints: []string{"bearer"}, fold: true, real: random,
			re: regexp.MustCompile(`(?i)\bbearer\s+([\w.~+/-]{20,}=*)`)},
		{name: "named key", hints: []string{"key", "token", "secret"}, fold: true, real: randomOrUUID,
			re: regexp.MustCompile(`(?i)(?:api|secret|access|auth|account|private|client|refresh|encryption)[ _-]?(?:key|token|secret)[` + shut + `]?` +
				`\s*(?:[:=：]|=>|is|是|为)\s*` + open + `([\w.~+/-]{16,}=*)`)},
		{name: "password", hints: []string{"pass", "pwd"}, fold: true, real: isPassword,
			re: regexp.MustCompile(`(?i)(?:password|passwd|passphrase|passcode|(?:\b|_)pwd)[` + shut + `]?\s*[:=：]\s*` + open + `([^\s` + shut + `]{4,})`)},
		{name: "password", hints: []string{"pass"}, fold: true, real: isMixed,
			re: regexp.MustCompile(`(?i)\b(?:password|passwd|passphrase|passcode)\s+(?:is|was)\s+(?:now\s+|set\s+to\s+)?` + open + `([^\s` + shut + `]{6,})`)},
		{name: "password", hints: []string{"密码", "口令"}, real: isChinesePassword,
			re: regexp.MustCompile(`(?:密码|口令)\s*(?:是|为|改成|改为|设为|设成|[:：=])\s*` + open + `([\x21-\x7e]{4,})`)},
	}
}

// isJWT decodes the header: a real one is a JSON object that names its algorithm.
func isJWT(s, _ string) bool {
	head, _, _ := strings.Cut(s, ".")
	b, err := base64.RawURLEncoding.DecodeString(head)
	var h struct {
		Alg string `json:"alg"`
	}
	return err == nil && json.Unmarshal(b, &h) == nil && h.Alg != ""
}
