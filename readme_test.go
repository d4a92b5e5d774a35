package halfulp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs what README.md shows: the program in its go block, whose output
// is the text block after it, and the commands of its console blocks, which are
// followed by their output. A line "..." stands for any lines.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"go", "sh", "seq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	bin, work := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	runIn(t, ".", "go", "build", "-o", bin+string(os.PathSeparator), "./cmd/...")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	var program, session int
	var output string
	for _, block := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1) {
		language, text := block[1], block[2]
		switch language {
		case "go":
			file := filepath.Join(bin, "main.go")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			output = runIn(t, ".", "go", "run", file)
			program++
		case "text":
			compareLines(t, "the program", output, text)
		case "console":
			for _, entry := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(entry, "\n")
				session++
				got := runIn(t, work, "sh", "-c", strings.Replace(command, "go run ./cmd/halfulp", "halfulp", 1))
				compareLines(t, command, got, want)
			}
		}
	}
	if program == 0 || session == 0 {
		t.Errorf("README.md shows %d programs and %d commands", program, session)
	}
}

// TestExamples runs the programs in examples, whose output their pages show.
func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	pages, err := filepath.Glob("examples/*/README.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown := regexp.MustCompile("(?ms)^```text\n(.*?)^```$").FindSubmatch(text)
		if shown == nil {
			t.Errorf("%s shows no output", page)
			continue
		}
		program := "./" + filepath.ToSlash(filepath.Dir(page))
		compareLines(t, program, runIn(t, ".", "go", "run", program), string(shown[1]))
	}
}

// runIn returns what a command prints.
func runIn(t *testing.T, dir, name string, arg ...string) string {
	t.Helper()
	c := exec.Command(name, arg...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, arg, err, out)
	}
	return string(out)
}

func compareLines(t *testing.T, what, got, want string) {
	t.Helper()
	pattern := regexp.QuoteMeta(strings.TrimRight(want, "\n"))
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(pattern, `(?s:.*?)`)
	if !regexp.MustCompile(`\A` + pattern + `\z`).MatchString(strings.TrimRight(got, "\n")) {
		t.Errorf("%s prints\n%s\nREADME.md says\n%s", what, got, want)
	}
}
