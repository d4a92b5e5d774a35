package conformance

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Println(CPU().Summary())
	os.Exit(code)
}

func TestCPU(t *testing.T) {
	if err := isa.CheckEnv(); err != nil {
		t.Fatal(err)
	}
	Run(t, CPU())
}

// TestGPU needs the first NVIDIA GPU. The environment variable HALFULP_WANT_GPU makes its
// absence a failure.
func TestGPU(t *testing.T) {
	gpus, err := cuda.Devices()
	if len(gpus) == 0 {
		if os.Getenv("HALFULP_WANT_GPU") != "" {
			t.Fatalf("no GPU: %v", err)
		}
		t.Skipf("no GPU: %v", err)
	}
	Run(t, CUDA(0))
	every := 2
	if testing.Short() {
		every = 40
	}
	t.Run("Resident", func(t *testing.T) { RunSome(t, Resident(0), every) })
	if len(gpus) > 1 {
		t.Run("Several", func(t *testing.T) { RunSome(t, CUDA(0, 1), every) })
		t.Run("Parts", func(t *testing.T) { RunSome(t, Resident(0, 1), every) })
	}
}

// digest multiplies in the child processes of TestEnvironment.
func digest(t *testing.T) string {
	r := testseed.Rand(t, 7, 7)
	n := 60
	a, c := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.MP(106), n, n)
	for j := range n {
		for i := range n {
			a.SetFloat64(i, j, r.NormFloat64()*math.Exp2(float64(r.IntN(40))))
		}
	}
	var st halfulp.Stats
	err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), c, &halfulp.Options{Method: "residue", Stats: &st})
	if err != nil {
		t.Fatal(err)
	}
	s := new(big.Int)
	for j := range n {
		for i := range n {
			x := realOf(c.At(i, j))
			s.Mul(s, big.NewInt(1_000_003)).Add(s, x.n).Add(s, big.NewInt(x.e))
			s.Mod(s, new(big.Int).Lsh(one.n, 128))
		}
	}
	return fmt.Sprintf("level %v kernel %s digest %x", isa.Level(), st.Kernel, s)
}

func TestDigest(t *testing.T) {
	if os.Getenv("HALFULP_CONFORMANCE_CHILD") == "" {
		t.Skip("runs in the child processes of TestEnvironment")
	}
	fmt.Println(digest(t))
}

// TestEnvironment runs this binary under every value of HALFULP_LEVEL.
func TestEnvironment(t *testing.T) {
	testlength.SkipEmulated(t, "no program starts another there")
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	var digests []string
	for _, l := range isa.Levels() {
		cmd := exec.Command(self, "-test.run=^TestDigest$", "-test.v")
		cmd.Env = append(os.Environ(), isa.Env+"="+l.String(), "HALFULP_CONFORMANCE_CHILD=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("level %v: %v\n%s", l, err, out)
		}
		_, line, found := strings.Cut(string(out), "level "+l.String()+" kernel ")
		if !found {
			t.Fatalf("the level %v of the environment was not in force:\n%s", l, out)
		}
		line, _, _ = strings.Cut(line, "\n")
		t.Logf("level %v kernel %s", l, line)
		_, d, _ := strings.Cut(line, "digest ")
		digests = append(digests, d)
		if d != digests[0] {
			t.Errorf("level %v: digest %s, level %v: %s", l, d, isa.Best(), digests[0])
		}
	}
}

// TestOracle checks the oracle against the rounding of the machine and of math/big.
func TestOracle(t *testing.T) {
	testlength.SkipRace(t, "no goroutines meet in the oracle")
	r := testseed.Rand(t, 1, 2)
	for range testlength.Of(4000, 8000, 20000) {
		x, y := math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			y = math.Ldexp(x, r.IntN(120)-60) * (1 + r.Float64())
		}
		check := func(op string, got real, want float64) {
			t.Helper()
			g := round(got, halfulp.Float64)
			if g.float() != want && (want == want || g.class != notANumber) || want == 0 && math.Signbit(want) != g.negative() {
				t.Fatalf("%x %s %x = %x, oracle %v", x, op, y, want, g.real)
			}
		}
		check("+", sum([]real{ofFloat(x), ofFloat(y)}), x+y)
		check("*", ofFloat(x).times(ofFloat(y)), x*y)
		check("fma", sum([]real{ofFloat(x).times(ofFloat(y)), ofFloat(1)}), math.FMA(x, y, 1))
		f := round(ofFloat(x), halfulp.Float32)
		if want := float64(float32(x)); f.float() != want && want == want {
			t.Fatalf("float32(%x) = %x, oracle %v", x, want, f.real)
		}
		if v := ofFloat(math.Abs(x)); v.class == finite {
			g := round(v.root(big.NewInt(1), fine(halfulp.Float64, v.top()/2+1)), halfulp.Float64)
			if g.float() != math.Sqrt(math.Abs(x)) {
				t.Fatalf("sqrt(%x): oracle %v", math.Abs(x), g.real)
			}
			n := 1 + r.Int64N(1000)
			g = round(v.ratio(big.NewInt(n), fine(halfulp.Float64, v.top()-10)), halfulp.Float64)
			if g.float() != math.Abs(x)/float64(n) {
				t.Fatalf("%x/%d: oracle %v", math.Abs(x), n, g.real)
			}
		}
		p := uint(2 + r.IntN(200))
		a := number(r, 1+r.IntN(300), r.Int64N(100))
		want := new(big.Float).SetPrec(p).SetMode(big.ToNearestEven).Set(bigOf(a))
		if g := round(a, halfulp.MP(p)); bigOf(g.real).Cmp(want) != 0 {
			t.Fatalf("%v to %d bits: oracle %v", a, p, g.real)
		}
	}
	// Compare sums by clusters with whole sums.
	for range 300 {
		var ts []real
		for range 2 + r.IntN(5) {
			x := number(r, 1+r.IntN(90), r.Int64N(2)*200000*r.Int64N(3)+r.Int64N(70))
			ts = append(ts, x)
			if r.IntN(2) == 0 {
				ts = append(ts, x.negated())
			}
		}
		got, want := sum(ts), wholeSum(ts)
		for _, f := range formats {
			if !round(got, f).same(round(want, f).real) {
				t.Fatalf("sum to %v of %v: %v, want %v", f, ts, got, want)
			}
		}
	}
	// The terms of expansions are canonical, and their sum is the rounded number.
	for range 3000 {
		x := sum([]real{number(r, 1+r.IntN(300), 0), pow2(sign(r), -r.Int64N(1100))})
		for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
			z := round(x, f)
			rest := z.real
			for k, w := range z.terms {
				if h := round(rest, halfulp.Float64); rest.class == finite && h.float() != w {
					t.Fatalf("%v to %v: term %d of %x is not the nearest", x, f, k, z.terms)
				}
				rest = sum([]real{rest, ofFloat(w).negated()})
			}
			if rest.class != zero {
				t.Fatalf("%v to %v: terms %x do not sum to %v", x, f, z.terms, z.real)
			}
		}
	}
}
