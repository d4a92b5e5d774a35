package gocuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/gocuda/testdata/sample"
	"github.com/halfulp/halfulp/internal/testseed"
)

// headers is the folder of the generated headers.
var headers = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "halfulp-gocuda-")
	for name, generate := range Files {
		var text []byte
		if err == nil {
			text, err = generate("../..")
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
	}
	return dir, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, _ := headers(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// run compiles a translation with a main that calls f for inputs from its input, runs it and
// returns what it writes.
func run(t *testing.T, text []byte, body string, input []byte) []byte {
	t.Helper()
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler")
	}
	dir := t.TempDir()
	main := fmt.Sprintf("%s\nint main()\n{\n%s\n}\n", text, body)
	file, binary := filepath.Join(dir, "main.cpp"), filepath.Join(dir, "main")
	shim, err := filepath.Abs("testdata/shim.h")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(main), 0o666); err != nil {
		t.Fatal(err)
	}
	generated, err := headers()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command(compiler, "-std=c++17", "-O1", "-ffp-contract=off", "-w", "-include", shim, "-I", generated, "-I", "../kernels/expansion", "-o", binary, file)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wild returns random bit patterns, numbers of moderate size and special values.
func wild(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -3, 0x1p-1074}[r.IntN(8)]
	}
	return math.Ldexp(r.Float64()-0.5, r.IntN(80)-40)
}

func bytesOf(x []float64) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, x)
	return b.Bytes()
}

func floatsOf(t *testing.T, b []byte) []float64 {
	x := make([]float64, len(b)/8)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, x); err != nil {
		t.Fatal(err)
	}
	return x
}

// compare reports the first number with other bits; all NaN are one.
func compare(t *testing.T, what string, input, got, want []float64, per int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			at := i / (len(want) * per / len(input)) * per
			t.Fatalf("%s of %x: number %d is %x, want %x", what, input[at:at+per], i, got[i], want[i])
		}
	}
}

// TestSample runs a translation of all constructs beside the Go code.
func TestSample(t *testing.T) {
	text, err := Translate(Config{Dir: "testdata/sample", Files: []string{"sample.go"}, Roots: []string{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	r := testseed.Rand(t, 1, 1)
	var input, want []float64
	for range 20000 {
		x, y := wild(r), wild(r)
		input, want = append(input, x, y), append(want, sample.All(x, y))
	}
	body := `	double x[2], z;
	while (fread(x, sizeof x, 1, stdin) == 1) {
		z = All(x[0], x[1]);
		fwrite(&z, sizeof z, 1, stdout);
	}`
	text = append([]byte("#include \"expansionnum.cuh\"\n"), text...)
	compare(t, "All", input, floatsOf(t, run(t, text, body, bytesOf(input))), want, 2)
}

// TestExpansion runs the translated arithmetic of package expansion beside its own.
func TestExpansion(t *testing.T) {
	text, err := Expansion("../..")
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Builder{}
	body.WriteString("\tdouble x[12];\n\twhile (fread(x, sizeof x, 1, stdin) == 1) {\n")
	formats := []struct {
		name  string
		words int
	}{{"DD", 2}, {"TD", 3}, {"QD", 4}}
	for _, f := range formats {
		fmt.Fprintf(&body, "\t{\n\tnum<%d> a, b, c, z;\n\tmemcpy(&a, x, sizeof a);\n\tmemcpy(&b, x + 4, sizeof b);\n\tmemcpy(&c, x + 8, sizeof c);\n", f.words)
		for _, call := range []string{"Add(a, b)", "Sub(a, b)", "Mul(a, b)", "Div(a, b)", "Sqrt(a)", "FMA(a, b, c)"} {
			fmt.Fprintf(&body, "\tz = %s_%s;\n\tfwrite(&z, sizeof z, 1, stdout);\n", f.name, call)
		}
		body.WriteString("\t}\n")
	}
	body.WriteString("\t}")
	r := testseed.Rand(t, 1, 2)
	var input, want []float64
	for i := range 20000 {
		var v [3]expansion.QD
		for k := range v {
			x := wild(r)
			v[k] = expansion.QDOf(x).Mul(expansion.QDOf(1 + r.Float64())).Add(expansion.QDOf(x * 0x1p-120 * r.Float64()))
			if i%3 == 0 && k > 0 {
				v[k] = v[k-1].Neg().Add(expansion.QDOf(v[k-1][0] * math.Ldexp(1, -r.IntN(230))))
			}
			input = append(input, v[k][:]...)
		}
		q, d, h := v, [3]expansion.DD{}, [3]expansion.TD{}
		for k := range v {
			copy(d[k][:], v[k][:])
			copy(h[k][:], v[k][:])
		}
		for _, z := range []expansion.DD{d[0].Add(d[1]), d[0].Sub(d[1]), d[0].Mul(d[1]), d[0].Div(d[1]), d[0].Sqrt(), d[0].FMA(d[1], d[2])} {
			want = append(want, z[:]...)
		}
		for _, z := range []expansion.TD{h[0].Add(h[1]), h[0].Sub(h[1]), h[0].Mul(h[1]), h[0].Div(h[1]), h[0].Sqrt(), h[0].FMA(h[1], h[2])} {
			want = append(want, z[:]...)
		}
		for _, z := range []expansion.QD{q[0].Add(q[1]), q[0].Sub(q[1]), q[0].Mul(q[1]), q[0].Div(q[1]), q[0].Sqrt(), q[0].FMA(q[1], q[2])} {
			want = append(want, z[:]...)
		}
	}
	compare(t, "arithmetic", input, floatsOf(t, run(t, text, body.String(), bytesOf(input))), want, 12)
}

// TestFunctions runs the translated functions of package expansion beside its own.
func TestFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("a C++ compiler takes seconds for all functions")
	}
	text := []byte("#include \"expansionfunctions.cuh\"\n")
	formats := []string{2: "DD", 3: "TD", 4: "QD"}
	var body strings.Builder
	body.WriteString("\tdouble x[8];\n\twhile (fread(x, sizeof x, 1, stdin) == 1) {\n")
	for w := 2; w <= 4; w++ {
		for _, f := range expansion.Functions() {
			args := "&z, &a"
			if f.Arity() == 2 {
				args += ", &b"
			}
			fmt.Fprintf(&body, "\t{\n\tblock a, b, z;\n\tfor (int k = 0; k < 4; k++)\n\t\ta[k][0] = x[k], b[k][0] = x[4 + k], z[k][0] = 0;\n\tevaluator_%v<%d>(%s);\n\tauto s = stored%s(wordsOf<%d>(&z));\n\tfwrite(&s, 8, %d, stdout);\n\t}\n", f, w, args, formats[w], w, w)
		}
	}
	body.WriteString("\t}")
	r := testseed.Rand(t, 1, 3)
	var input, want []float64
	for i := range 3000 {
		var v [2]expansion.QD
		for k := range v {
			x := wild(r)
			if i%2 == 0 {
				x = math.Ldexp(r.Float64()*2-1, r.IntN(14)-4)
			}
			v[k] = expansion.QDOf(x).Mul(expansion.QDOf(1 + r.Float64())).Add(expansion.QDOf(x * 0x1p-120 * r.Float64()))
			if i%7 == 0 {
				v[k] = expansion.QDOf(float64(r.IntN(20)-10) / 2)
			}
			input = append(input, v[k][:]...)
		}
		for _, f := range expansion.Functions() {
			x, y := expansion.DD(v[0][:2]), expansion.DD(v[1][:2])
			want = append(want, words(f, x, y)...)
		}
		for _, f := range expansion.Functions() {
			x, y := expansion.TD(v[0][:3]), expansion.TD(v[1][:3])
			want = append(want, words(f, x, y)...)
		}
		for _, f := range expansion.Functions() {
			want = append(want, words(f, v[0], v[1])...)
		}
	}
	compare(t, "functions", input, floatsOf(t, run(t, text, body.String(), bytesOf(input))), want, 8)
}

// words returns the words of f(x), or f(x, y), by the method of the name of f, as arrays store
// them.
func words(f expansion.Function, x, y any) []float64 {
	name := f.String()
	args := []reflect.Value{reflect.ValueOf(y)}[:f.Arity()-1]
	z := reflect.ValueOf(x).MethodByName(strings.ToUpper(name[:1]) + name[1:]).Call(args)[0]
	z = z.MethodByName("Canonical").Call(nil)[0]
	list := make([]float64, z.Len())
	for i := range list {
		list[i] = z.Index(i).Float()
	}
	return list
}

// TestRefused checks the errors for code that cannot be translated: a product that Go may fuse,
// loops without bounds, and functions that do not exist.
func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		"func f(x, y, z float64) float64 { return x*y + z }":         "fuse",
		"func f(x, y, z float64) float64 { z -= (x * y); return z }": "fuse",
		"func f(x []float64) float64 { return x[0] }":                "type []float64",
		"func f(x float64) float64 { return math.Sin(x) }":           "call",
		"func g() {}": "no function f",
	} {
		dir := t.TempDir()
		text := "package p\n\nimport \"math\"\n\nvar _ = math.Pi\n\n" + source + "\n"
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Translate(Config{Dir: dir, Files: []string{"p.go"}, Roots: []string{"f"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}

// TestShared checks the text of a shared method, and that its results have to be parameters.
func TestShared(t *testing.T) {
	const source = `package p

type evaluator struct{ w, n int }

func (e *evaluator) swap(x, y *float64, k int) { *x, *y = *y, *x }

func (e *evaluator) twice(x, y *float64) { e.swap(x, y, 1); e.swap(x, y, 2) }
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	c := Config{Dir: dir, Files: []string{"p.go"}, Template: "evaluator", Roots: []string{"evaluator.twice"}}
	c.Shared = map[string]string{"evaluator_swap": "&x &y"}
	text, err := Translate(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"__forceinline__ void evaluator_swap_inlined(double * x, double * y, int k)\n",
		"struct evaluator_swap_results {\n\tdouble x;\n\tdouble y;\n};\n",
		"__noinline__ evaluator_swap_results<W> evaluator_swap_called(double x, double y, int k)\n{\n\tevaluator_swap_inlined<W>(&x, &y, k);\n\treturn {x, y};\n}\n",
		"\tauto called = evaluator_swap_called<W>(*x, *y, k);\n\t*x = called.x;\n\t*y = called.y;\n}\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c.Shared["evaluator_swap"] = "x z"
	if _, err := Translate(c); err == nil || !strings.Contains(err.Error(), "results x z") {
		t.Errorf("results that are no parameters: %v", err)
	}
}
