package halfulp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A task of docs/guide/tasks.md: variables that its Go columns set, err aside, and their numbers.
// Each prints as %.10g.
type task struct{ set, want string }

var tasks = []task{
	{"d", "[32]"}, {"c", "[7 9 11 7]"}, {"c", "[0 0.5 1 0]"}, {"c", "[0.3 -0.1 -0.2 0.4]"}, {"c", "[1 2]"}, {"d", "[10]"}, {"", ""}, {"c", "[4 1 2 3]"},
	{"v", "[2]"}, {"a", "[4 2 2 3]"},
}

// The programs that run the columns: what comes before the tasks.
const (
	tasksOurs = `package main

import (
	"fmt"
	"log"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
)

func rows(r ...[]float64) *halfulp.Matrix { return halfulp.FromRows(halfulp.Float64, r) }

var x, y = rows([]float64{1}, []float64{2}, []float64{3}).Col(0), rows([]float64{4}, []float64{5}, []float64{6}).Col(0)

func use(what ...any) {
	for _, w := range what {
		var list []float64
		switch w := w.(type) {
		case error:
			log.Fatal(w)
		case halfulp.Scalar:
			list = append(list, w.Float64())
		case *halfulp.Matrix:
			for i := range w.Rows() {
				for j := range w.Cols() {
					list = append(list, w.Float64(i, j))
				}
			}
		default:
			continue
		}
		fmt.Printf("%.10g\n", list)
	}
}
`
	tasksGonum = `package main

import (
	"fmt"
	"log"
	"os"

	"gonum.org/v1/gonum/mat"
)

func rows(r ...[]float64) *mat.Dense {
	m := mat.NewDense(len(r), len(r[0]), nil)
	for i, row := range r {
		m.SetRow(i, row)
	}
	return m
}

var x, y = mat.NewVecDense(3, []float64{1, 2, 3}), mat.NewVecDense(3, []float64{4, 5, 6})
var _ = os.ReadFile

func use(what ...any) {
	for _, w := range what {
		var list []float64
		switch w := w.(type) {
		case error:
			log.Fatal(w)
		case float64:
			list = append(list, w)
		case mat.Dense:
			use(&w)
			continue
		case *mat.Dense:
			list = w.RawMatrix().Data
		default:
			continue
		}
		for i := range list { // the results of this arithmetic have rounding errors
			if -1e-14 < list[i] && list[i] < 1e-14 {
				list[i] = 0
			}
		}
		fmt.Printf("%.10g\n", list)
	}
}
`
	tasksData = `
var a, b = rows([]float64{4, 1}, []float64{2, 3}), rows([]float64{1, 2}, []float64{3, 1})
var t, r = rows([]float64{1, 0}, []float64{1, 1}, []float64{1, 2}), rows([]float64{1}, []float64{3}, []float64{5})
`
)

// TestTasks runs the Go columns of docs/guide/tasks.md, and compares their results and lengths.
func TestTasks(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("docs/guide/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	if len(sections) != len(tasks) {
		t.Fatalf("%d tasks, want %d", len(sections), len(tasks))
	}
	declares := regexp.MustCompile(`(?m)\berr :?=`)
	programs := []string{tasksOurs + tasksData, tasksGonum + tasksData}
	calls, want := "\nfunc main() {\n", ""
	for i, s := range sections {
		name, _, _ := strings.Cut(s, "\n")
		columns := blocks.FindAllStringSubmatch(s, -1)
		if len(columns) != 3 || columns[0][1] != "golang" || columns[1][1] != "golang" || columns[2][1] != "py" {
			t.Fatalf("%s: %d columns", name, len(columns))
		}
		lines := func(k int) int { return strings.Count(columns[k][2], "\n") }
		if lines(0) > lines(1)+1 {
			t.Errorf("%s takes %d lines, with gonum %d", name, lines(0), lines(1))
		}
		call := "task" + string(rune('a'+i))
		calls += "\t" + call + "()\n"
		for k := range programs {
			body := columns[k][2]
			var used []string
			if declares.MatchString(body) {
				used = append(used, "err")
			}
			if tasks[i].set != "" {
				used = append(used, tasks[i].set)
			}
			programs[k] += "\nfunc " + call + "() {\n" + body + "use(" + strings.Join(used, ", ") + ")\n}\n"
		}
		if tasks[i].want != "" {
			want += tasks[i].want + "\n"
		}
	}
	dir := t.TempDir()
	for k, p := range programs {
		file := filepath.Join(dir, []string{"ours.go", "gonum.go"}[k])
		if err := os.WriteFile(file, []byte(p+calls+"}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		program := strings.TrimSuffix(file, ".go")
		runIn(t, ".", "go", "build", "-o", program, file)
		got := runIn(t, dir, program)
		// The last task prints.
		for _, line := range []string{"4 2\n2 3\n", "⎡4  2⎤\n⎣2  3⎦\n"} {
			got = strings.ReplaceAll(got, line, "")
		}
		if got != want {
			t.Errorf("%s prints\n%swant\n%s", filepath.Base(program), got, want)
		}
	}
}
