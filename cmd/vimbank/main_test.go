package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vimbank/vimbank/internal/faults"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vimbank": func() {
		at, err := faults.KillAt(os.Getenv("VIMBANK_FAILPOINT"))
		if err != nil {
			panic(err)
		}
		os.Exit(vimbank(at))
	}})
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// TestScript runs the command as people do; each script says what it shows.
func TestScript(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(embed))
	t.Cleanup(server.Close)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("VECTORS", server.URL)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "mount":
				return mayMount(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// setid NAME [FILE] keeps the first id of the last output, or of a file, in a variable.
			"setid": func(ts *testscript.TestScript, neg bool, args []string) {
				file := "stdout"
				if len(args) > 1 {
					file = args[1]
				}
				id := idPattern.FindString(ts.ReadFile(file))
				if neg || len(args) == 0 || id == "" {
					ts.Fatalf("setid NAME [FILE]: no id in %s", file)
				}
				ts.Setenv(args[0], id)
			},
			// code N TEXT ARGS... runs vimbank, which must end with exit code N and one line of error that holds TEXT.
			"code": func(ts *testscript.TestScript, _ bool, args []string) { runWithCode(ts, args) },
			// biggen N FILE writes a text of N bytes.
			"biggen": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Repeat("word ", n/5+1)[:n-1]+"x"), 0o600))
			},
			// itemgen N FILE writes N items.
			"itemgen": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, `{"id":"%d","kind":"knowledge","text":"item number %d of a long list with many words in each line"}`+"\n", i, i)
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
			},
			// longitem TEXT FILE makes an item of talk of a text.
			"longitem": func(ts *testscript.TestScript, _ bool, args []string) {
				line := fmt.Sprintf(`{"kind":"dialogue","text":%q}`+"\n", ts.ReadFile(args[0]))
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(line), 0o600))
			},
			// chop FILE N takes the last N bytes off, as a download that broke off does.
			"chop": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(len(ts.ReadFile(args[0]))-n)))
			},
			// mount DIR SIZE puts a small file system there; mounted again, it has
			// the new size, or with "ro" for a size it cannot be written.
			"mount": func(ts *testscript.TestScript, _ bool, args []string) { mount(ts, ts.MkAbs(args[0]), args[1]) },
			// runid NAME FILE keeps the id of a decay run.
			"runid": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], regexp.MustCompile(`decay-[0-9TZ]+-[0-9a-f]{8}`).FindString(ts.ReadFile(args[1])))
			},
			// empty DIR fails if there is something in it.
			"empty": func(ts *testscript.TestScript, _ bool, args []string) {
				entries, err := os.ReadDir(ts.MkAbs(args[0]))
				ts.Check(err)
				if len(entries) > 0 {
					ts.Fatalf("%s holds %s, want nothing", args[0], entries[0].Name())
				}
			},
			// newer DIR makes the bank in DIR one of a later version.
			"newer": func(ts *testscript.TestScript, _ bool, args []string) { makeNewer(ts, ts.MkAbs(args[0])) },
			// samememories A B compares two exports, but for what a ledger counts itself.
			"samememories": func(ts *testscript.TestScript, _ bool, args []string) {
				if d := cmp.Diff(exported(ts, args[0]), exported(ts, args[1])); d != "" {
					ts.Fatalf("the exports differ (-%s +%s):\n%s", args[0], args[1], d)
				}
			},
		},
	})
}
