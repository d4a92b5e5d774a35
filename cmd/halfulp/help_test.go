package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/halfulp/halfulp/internal/testlength"
)

// exampleOperands are the files that examples in help texts read: A X = B for a positive definite
// A, C = A B, and points.
var exampleOperands = map[string]string{
	"A.csv": "4,1,0\n1,3,1\n0,1,2\n", "B.csv": "4,1,0\n1,3,1\n0,1,2\n", "C.csv": "17,7,1\n7,11,5\n1,5,5\n",
	"L.csv": "4,0,0\n1,3,0\n0,1,2\n", "U.csv": "4,1,0\n0,3,1\n0,0,2\n",
	"b.csv": "6\n10\n8\n", "x.csv": "1\n2\n3\n", "y.csv": "1\n3\n2\n", "x0.csv": "0\n0\n0\n",
	"points.csv": "one,x,y\n1,1,1\n1,2,3\n1,3,2\n",
	"dA.csv":     "0,.01,0\n0,0,0\n.01,0,0\n", "db.csv": "0\n0\n.01\n",
	"b.txt": "6\n10\n8\n", "x.txt": "1\n2\n3\n", "y.txt": "1\n3\n2\n", "w.txt": "1\n0.5\n1\n",
	"p.txt": "-2\n0\n1\n",
}

// TestHelp runs the examples in the help texts of all commands.
func TestHelp(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	operands := t.TempDir()
	for name, text := range exampleOperands {
		file := filepath.Join(operands, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		base, ok := strings.CutSuffix(file, ".csv")
		if !ok {
			continue
		}
		for _, kind := range []string{".mtx", ".mtx.gz", ".npy"} {
			if status := run([]string{"convert", file, "--out", base + kind}, nil, nil, os.Stderr); status != 0 {
				t.Fatalf("%s: exit status %d", base+kind, status)
			}
		}
	}
	parser, err := kong.New(new(grammar), kong.Vars{"version": ""}, kong.ExplicitGroups(flagGroups))
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{"info": true, "tune": true, "reproduce": true}
	for _, command := range parser.Model.Leaves(true) {
		if without[command.Path()] {
			continue
		}
		t.Run(command.Path(), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.CopyFS(".", os.DirFS(operands)); err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(command.Detail, "\nExample")
			_, text, _ = strings.Cut(text, "\n\n")
			text, _, _ = strings.Cut(text, "\n\n")
			if text == "" {
				t.Error("no examples")
			}
			for line := range strings.Lines(text) {
				if strings.Contains(line, "cuda:") && os.Getenv("HALFULP_WANT_GPU") == "" {
					continue
				}
				if args := strings.Fields(line); len(args) > 0 && args[0] == "halfulp" && !strings.ContainsAny(line, "#$&()*;<>?[]`{|}~'\"\\") {
					var out strings.Builder // no shell is needed, nor another process
					if status := run(args[1:], strings.NewReader(""), &out, &out); status != 0 {
						t.Errorf("%sexit status %d\n%s", line, status, &out)
					}
					continue
				}
				if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
					t.Errorf("%s%v\n%s", line, err, out)
				}
			}
		})
	}
}
