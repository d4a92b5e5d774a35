package halfulp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs what README.md and the pages of examples show: the program in README.md's go
// block, whose output is the text block after it, and the commands of console blocks, which are
// followed by their output. A line "..." stands for any lines.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"go", "sh", "seq", "grep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin := t.TempDir()
	runIn(t, ".", "go", "build", "-o", bin+string(os.PathSeparator), "./cmd/...")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	pages, err := filepath.Glob("examples/*/README.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, "examples/README.md", "README.md") {
		t.Run(filepath.ToSlash(page), func(t *testing.T) { runPage(t, page, bin) })
	}
}

// runPage runs what a page shows.
func runPage(t *testing.T, page, bin string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	var programs, commands int
	var output string
	for _, block := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		language, text := block[1], block[2]
		switch language {
		case "go":
			file := filepath.Join(bin, "main.go")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			output = runIn(t, ".", "go", "run", file)
			programs++
		case "text":
			compareLines(t, "the program", output, text)
		case "console":
			for _, entry := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(entry, "\n")
				commands++
				dir := work
				if strings.HasPrefix(command, "go run ./examples/") {
					dir = "."
				}
				got := runIn(t, dir, "sh", "-c", strings.Replace(command, "go run ./cmd/halfulp", "halfulp", 1))
				compareLines(t, command, got, want)
			}
		}
	}
	if commands == 0 || page == "README.md" && programs == 0 {
		t.Errorf("%s shows %d programs and %d commands", page, programs, commands)
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
		t.Errorf("%s prints\n%s\nthe page says\n%s", what, got, want)
	}
}
