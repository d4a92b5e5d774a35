// Functions compares the elementary functions of package expansion with MPFR: the largest relative
// error of each function and format, on the arguments that the package's own tests take too.
package main

/*
#cgo LDFLAGS: -lmpfr -lgmp
#include <mpfr.h>
#include <stdlib.h>

typedef int (*unary)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
typedef int (*binary)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static const struct { const char *name; unary one; binary two; } table[] = {
	{"exp", mpfr_exp}, {"expm1", mpfr_expm1}, {"exp2", mpfr_exp2},
	{"log", mpfr_log}, {"log1p", mpfr_log1p}, {"log2", mpfr_log2}, {"log10", mpfr_log10},
	{"pow", 0, mpfr_pow}, {"cbrt", mpfr_cbrt}, {"hypot", 0, mpfr_hypot},
	{"sin", mpfr_sin}, {"cos", mpfr_cos}, {"tan", mpfr_tan},
	{"asin", mpfr_asin}, {"acos", mpfr_acos}, {"atan", mpfr_atan}, {"atan2", 0, mpfr_atan2},
	{"sinh", mpfr_sinh}, {"cosh", mpfr_cosh}, {"tanh", mpfr_tanh},
	{"asinh", mpfr_asinh}, {"acosh", mpfr_acosh}, {"atanh", mpfr_atanh},
};

// look finds a function by name, -1 for none.
static int look(const char *name) {
	for (int i = 0; i < (int)(sizeof table / sizeof table[0]); i++) {
		const char *s = table[i].name, *t = name;
		while (*s && *s == *t) s++, t++;
		if (*s == *t) return i;
	}
	return -1;
}

static void sum(mpfr_t z, const double *x, int w) {
	mpfr_set_d(z, x[0], MPFR_RNDN);
	for (int k = 1; k < w; k++) mpfr_add_d(z, z, x[k], MPFR_RNDN);
}

// error is |z - f(x, y)| / |f(x, y)| in units of 2^(-53 w), 0 if the difference is below 2^-1070;
// less than 0 if z is infinite.
static double error(int f, int w, const double *x, const double *y, const double *z) {
	mpfr_t a, b, c, d;
	mpfr_inits2(2300, a, b, d, (mpfr_ptr)0);
	mpfr_init2(c, 320);
	sum(a, x, w);
	sum(b, y, w);
	sum(d, z, w);
	if (table[f].one) table[f].one(c, a, MPFR_RNDN);
	else table[f].two(c, a, b, MPFR_RNDN);
	double e;
	if (mpfr_inf_p(d)) {
		mpfr_set_d(b, 0x1.ffffffffffffp+1023, MPFR_RNDN);
		e = mpfr_cmpabs(c, b) >= 0 && mpfr_sgn(c) == mpfr_sgn(d) ? 0 : -1;
	} else {
		mpfr_sub(d, d, c, MPFR_RNDN);
		mpfr_set_ui_2exp(b, 1, -1070, MPFR_RNDN);
		if (mpfr_cmpabs(d, b) < 0) e = 0;
		else {
			mpfr_div(d, d, c, MPFR_RNDN);
			mpfr_mul_2si(d, d, 53 * w, MPFR_RNDN);
			e = mpfr_get_d(d, MPFR_RNDN);
			if (e < 0) e = -e;
		}
	}
	mpfr_clears(a, b, c, d, (mpfr_ptr)0);
	return e;
}
*/
import "C"

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/funtest"
)

// figure is the largest error of one function in one format.
type figure struct {
	Function  string    `json:"function"`
	Words     int       `json:"words"`
	Arguments int       `json:"arguments"`
	Largest   float64   `json:"largest_error"` // in units of 2^(-53 words)
	Bound     float64   `json:"bound"`
	X         []float64 `json:"x"`
	Y         []float64 `json:"y,omitempty"`
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	MPFR    string          `json:"mpfr"`
	Seed    uint64          `json:"seed"`
	Figures []figure        `json:"figures"`
}

func main() {
	n := flag.Int("n", 100000, "arguments a function and format")
	seed := flag.Uint64("seed", 1, "seed of the arguments")
	path := flag.String("json", "", "`file` for the figures")
	flag.Parse()
	if err := run(*n, *seed, *path); err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}

func run(n int, seed uint64, path string) error {
	r := results{
		Command: "go run ./cmd/functions " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), MPFR: C.GoString(C.mpfr_get_version()), Seed: seed,
	}
	r.Commit, r.Dirty = record.Commit()
	functions := expansion.Functions()
	r.Figures = make([]figure, 3*len(functions))
	errs := make([]error, len(r.Figures))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range r.Figures {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r.Figures[i], errs[i] = measure(functions[i/3], 2+i%3, n, seed)
		})
	}
	group.Wait()
	for i, f := range r.Figures {
		if errs[i] != nil {
			return errs[i]
		}
		fmt.Printf("%-6s %d words: largest error %8.3g, bound %4g, in units of 2^-%d, of %d arguments\n", f.Function, f.Words, f.Largest, f.Bound, 53*f.Words, f.Arguments)
	}
	return record.Write(path, r)
}

// measure takes n arguments of f that are no special ones.
func measure(f expansion.Function, words, n int, seed uint64) (figure, error) {
	name := f.String()
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	number := C.look(cName)
	if number < 0 {
		return figure{}, fmt.Errorf("no function of MPFR for %q", name)
	}
	largest := figure{Function: name, Words: words, Arguments: n, Bound: f.Bound(words)}
	rng := rand.New(rand.NewPCG(seed, uint64(number)<<8|uint64(words)))
	for done := 0; done < n; {
		x, y := funtest.Arguments(rng, name, words)
		if !funtest.Regular(name, x, y) {
			continue
		}
		done++
		z := value(f, x, y)
		if e := float64(C.error(number, C.int(words), (*C.double)(&x[0]), (*C.double)(&y[0]), (*C.double)(&z[0]))); !(e >= 0 && e <= largest.Bound) {
			return largest, fmt.Errorf("%s(%x, %x) = %x: error %g, bound %g", name, x, y, z, e, largest.Bound)
		} else if e > largest.Largest {
			largest.Largest, largest.X, largest.Y = e, x, nil
			if f.Arity() == 2 {
				largest.Y = y
			}
		}
	}
	return largest, nil
}

// value calls the method of the function's name.
func value(f expansion.Function, x, y []float64) []float64 {
	number := func(x []float64) reflect.Value {
		switch len(x) {
		case 2:
			return reflect.ValueOf(expansion.DD(x))
		case 3:
			return reflect.ValueOf(expansion.TD(x))
		}
		return reflect.ValueOf(expansion.QD(x))
	}
	name := f.String()
	method := number(x).MethodByName(strings.ToUpper(name[:1]) + name[1:])
	var arguments []reflect.Value
	if f.Arity() == 2 {
		arguments = append(arguments, number(y))
	}
	result := method.Call(arguments)[0]
	z := make([]float64, result.Len())
	for k := range z {
		z[k] = result.Index(k).Float()
	}
	return z
}
