package halfulp_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/halfulp/halfulp/internal/testlength"
)

// sized maps lines of sh blocks that need a GPU, a network or too much time to the command that the
// test runs instead, or to nothing.
var sized = map[string]string{
	"pip install ./bindings/python mpmath gmpy2 python-flint": "",
	"python bench/python/peers.py --json FILE":                "",
	// Runs this test.
	"go test ./...": "go list ./...",
	// Needs a network; the console block after it runs.
	"git clone https://github.com/halfulp/halfulp && cd halfulp && go run ./cmd/halfulp gemv examples/pascal.mtx examples/pi.mtx --compare": "",
	// The same.
	"go install github.com/halfulp/halfulp/cmd/halfulp@v0.1.0": "",
	// Installs Debian packages.
	"cd bench && ./setup.sh && go run ./cmd/peers": "",
	// Needs a network.
	"make site": "",
	// Needs a C compiler; bindings/c/test builds the library.
	"make lib": "",
	// The same, and bindings/python/tests run the package.
	"pip install ./bindings/python": "",
	// Needs R, Octave and OpenBLAS.
	"bindings/blas/examples/compare.sh dist/lib": "",

	// TestProcesses of cmd/halfulp runs commands like these.
	"pip install mpich": "",
	"mpiexec -n 4 halfulp gemm A.mtx B.mtx --format mp:424 --out C.mtx":               "",
	"mpiexec -n 6 halfulp syrk A.npz --format mp:1000 --grid 2x3 --out C.npz --stats": "",

	// TestProcesses of examples/bootstrap runs commands like these.
	"go build ./examples/bootstrap":      "go list ./examples/bootstrap", // the page runs it, too
	"mpiexec -n 4 ./bootstrap":           "",
	"mpiexec -n 4 ./bootstrap -scale 20": "",

	"halfulp gen random 4000 4000 --out A.npy":                       "halfulp gen random 40 40 --out A.npy",
	"halfulp gemm A.npy A.npy --device cpu --out cpu.npy":            "halfulp gemm A.npy A.npy --device cpu --out cpu.npy",
	"halfulp gemm A.npy A.npy --device cuda:0 --stats --out gpu.npy": "halfulp gemm A.npy A.npy --device cpu --stats --out gpu.npy",
	"cmp cpu.npy gpu.npy":                                            "cmp cpu.npy gpu.npy",

	"halfulp bench gemm --size 300 --format f64,mp:424 --save before.json":                    "halfulp bench gemm --size 20 --runs 1 --format f64 --save before.json",
	"halfulp bench gemm --size 300 --format f64,mp:424 --against before.json --plot gemm.svg": "halfulp bench gemm --size 20 --runs 1 --format f64 --against before.json --plot gemm.svg",

	// The scripts of reproduce/cmd/halfulp-reproduce run experiments.
	"halfulp reproduce mpres-sum --out sum":              "halfulp reproduce mpres-sum --help",
	"halfulp reproduce mpres-gemv --out gemv":            "halfulp reproduce mpres-gemv --help",
	"halfulp reproduce all --out report":                 "halfulp reproduce all --help",
	"halfulp reproduce all --out report --device cuda:0": "halfulp reproduce all --help",
	"halfulp reproduce all --out report --paper-size":    "halfulp reproduce all --help",
}

// TestReadme runs the blocks of README.md, the documents and the pages of examples, in the order of
// a page and in one folder. The text block after a program in a go or python block is its output.
// In console blocks, output follows each command. Lines of sh blocks are replaced according to
// sized. A line "..." stands for any lines; at the end of a line it stands for the rest of the
// line.
func TestReadme(t *testing.T) {
	testlength.SkipEmulated(t, "no program starts another there")
	if testing.Short() {
		t.Skip("the compiler and the linker take a minute")
	}
	for _, tool := range []string{"go", "sh", "seq", "grep", "awk", "sort", "tac", "split"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GOBIN", bin) // go install on a page need not link the program again
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w")
	runIn(t, ".", "go", "install", "./cmd/halfulp")
	// In a workspace both programs have the same compiled packages, with -trimpath as well.
	workspace := "GOWORK=" + filepath.Join(bin, "go.work")
	runIn(t, ".", "env", workspace, "go", "work", "init", ".", "reproduce")
	runIn(t, "reproduce", "env", workspace, "go", "install", "./cmd/halfulp-reproduce")
	t.Setenv("LC_ALL", "C")
	shown := map[string]bool{} // commands of sh blocks
	var programs []string      // of go blocks
	lists := map[string][][]string{}
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "examples/") || page == "README.md" {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			lists[page] = blocks.FindAllStringSubmatch(string(text), -1)
			for _, block := range lists[page] {
				switch block[1] {
				case "sh":
					for _, line := range shellLines(block[2]) {
						shown[line] = true
					}
				case "go":
					programs = append(programs, block[2])
				}
			}
		}
	}
	link(t, workspace, bin, programs)
	for _, page := range pages(t) {
		if list, ok := lists[page]; ok {
			t.Run(page, func(t *testing.T) { runPage(t, list, bin, programs) })
		}
	}
	for line := range sized {
		if !shown[line] {
			t.Errorf("no page has the command %q", line)
		}
	}
}

// link makes one program of all programs, which runs the one whose number it gets: linking each of
// them takes a second. Each becomes a package whose function Main was main.
func link(t *testing.T, workspace, bin string, programs []string) {
	t.Helper()
	dir := filepath.Join(bin, "pages")
	imports, cases := "", ""
	files := map[string]string{"go.mod": "module pages\n\ngo 1.26\n"}
	for i, text := range programs {
		name := fmt.Sprintf("page%d", i)
		text = strings.Replace(text, "package main\n", "package "+name+"\n", 1)
		files[name+"/page.go"] = strings.Replace(text, "\nfunc main() {\n", "\nfunc Main() {\n", 1)
		imports += fmt.Sprintf("\t%q\n", "pages/"+name)
		cases += fmt.Sprintf("\tcase %q:\n\t\t%s.Main()\n", fmt.Sprint(i), name)
	}
	files["main.go"] = "package main\n\nimport (\n\t\"os\"\n\n" + imports + ")\n\nfunc main() {\n\tswitch os.Args[1] {\n" + cases + "\t}\n}\n"
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	runIn(t, ".", "env", workspace, "go", "work", "use", dir)
	runIn(t, dir, "env", workspace, "go", "build", "-o", filepath.Join(bin, "programs"), ".")
}

// pages returns the Markdown files for readers.
func pages(t *testing.T) (list []string) {
	for _, folder := range []string{"docs", "examples", "bench", "bindings"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".md" {
				list = append(list, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return append(list, "CHANGELOG.md", "CONTRIBUTING.md", "README.md")
}

var blocks = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// shellLines returns the commands of a block, without trailing comments.
func shellLines(text string) (list []string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// runPage runs the blocks of a page. The last two strings of a block are its language and its text.
func runPage(t *testing.T, list [][]string, bin string, programs []string) {
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	var output string
	last := ""
	for _, block := range list {
		language, text := block[1], block[2]
		switch language {
		case "go":
			if _, err := os.Stat(filepath.Join(work, "go.work")); err != nil {
				output = runIn(t, ".", filepath.Join(bin, "programs"), fmt.Sprint(slices.Index(programs, text)))
				break
			}
			file := filepath.Join("mine", "main.go")
			if err := os.WriteFile(filepath.Join(work, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			output = runIn(t, work, "go", "run", file)
		case "python":
			if strings.HasPrefix(text, ">>> ") {
				break // test_pages.py of bindings/python runs sessions
			}
			python := os.Getenv("HALFULP_PYTHON")
			if python == "" {
				python = "python3"
			}
			if exec.Command(python, "-c", "import numpy").Run() != nil {
				t.Skip("the rest of the page: no NumPy; HALFULP_PYTHON names a Python that has it")
			}
			output = runIn(t, work, python, "-c", text)
		case "text":
			if last == "c" {
				break
			}
			if last != "go" && last != "python" {
				t.Errorf("no program prints\n%s", text)
			}
			compareLines(t, "the program", output, text)
		case "console":
			for _, entry := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(entry, "\n")
				compareLines(t, command, runLine(t, work, bin, command), want)
			}
		case "sh":
			for _, line := range shellLines(text) {
				command, ok := sized[line]
				if !ok {
					t.Errorf("nothing says how to test the command %q", line)
				} else if command != "" {
					runLine(t, work, bin, command)
				}
			}
		case "c", "golang", "julia", "py":
			// TestGuide of bindings/c/test runs the programs in C, TestTasks the columns of
			// docs/guide/tasks.md. No Julia, no PyTorch.
		default:
			t.Errorf("a listing in the language %q, which no test runs:\n%s", language, text)
		}
		last = language
	}
}

// runLine returns the output of a command of a page, run in the folder work, or in the clone if it
// builds or runs one of its packages.
func runLine(t *testing.T, work, bin, command string) string {
	t.Helper()
	if strings.HasPrefix(command, "go run ./cmd/halfulp ") {
		command = strings.TrimPrefix(command, "go run ./cmd/")
	} else if regexp.MustCompile(`^([A-Z_0-9]+=\S+ )*go (run|build|install|list) `).MatchString(command) {
		work = "."
		command = strings.Replace(command, " -o halfulp ", " -o "+filepath.Join(bin, "another")+" ", 1)
	} else if strings.HasPrefix(command, "go work init ") {
		clone, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		command = strings.Replace(command, " ./halfulp ", " '"+clone+"' ", 1)
	}
	return runIn(t, work, "sh", "-c", command)
}

// runIn returns the output of a command.
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
	pattern = regexp.MustCompile(`(?m) \\\.\\\.\\\.$`).ReplaceAllString(pattern, `.*`)
	if !regexp.MustCompile(`\A` + pattern + `\z`).MatchString(strings.TrimRight(got, " \n")) {
		t.Errorf("%s prints\n%s\nthe page says\n%s", what, got, want)
	}
}

// TestLinks finds links of the pages to files and headings that do not exist.
func TestLinks(t *testing.T) {
	headings := map[string][]string{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(blocks.ReplaceAllString(string(text), ""), -1) {
			headings[page] = append(headings[page], slug(m[1]))
		}
	}
	links := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		plain := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(blocks.ReplaceAllString(string(text), ""), "")
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(plain, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(headings[target], anchor) {
				t.Errorf("%s: link to %s: its headings are %q", page, m[1], headings[target])
			}
		}
	}
	if links < 100 {
		t.Errorf("the pages have %d links", links)
	}
}

// slug returns the anchor of a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}
