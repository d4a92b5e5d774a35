package gocuda

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/funtest"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPublished runs the translated arithmetic of expansion.PublishedDD and PublishedQD beside its
// own.
func TestPublished(t *testing.T) {
	text, err := Published("../..")
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	body.WriteString("\tdouble x[8];\n\twhile (fread(x, sizeof x, 1, stdin) == 1) {\n")
	for _, f := range []struct {
		name  string
		words int
	}{{"DD", 2}, {"QD", 4}} {
		fmt.Fprintf(&body, "\t{\n\tnum<%d> a, b, z;\n\tmemcpy(&a, x, sizeof a);\n\tmemcpy(&b, x + 4, sizeof b);\n", f.words)
		for i, method := range publishedMethods {
			args := "a"
			if i < 4 {
				args = "a, b"
			}
			fmt.Fprintf(&body, "\tz = Published%s_%s(%s);\n\tfwrite(&z, sizeof z, 1, stdout);\n", f.name, method, args)
		}
		body.WriteString("\t}\n")
	}
	body.WriteString("\t}")
	r := testseed.Rand(t, 1, 4)
	names := []string{"exp", "log", "sin", "cos"}
	var input, want []float64
	for i := range 4000 {
		var v [2]expansion.PublishedQD
		for k := range v {
			x := wild(r)
			if i%2 == 0 {
				a, _ := funtest.Arguments(r, names[i/2%len(names)], 4)
				copy(v[k][:], a)
			} else {
				copy(v[k][:], funtest.Extend(r, x, 4))
			}
			if i%3 == 0 && k > 0 {
				y := expansion.QD(v[0]).Neg().Add(expansion.QDOf(v[0][0] * math.Ldexp(1, -r.IntN(230))))
				v[k] = expansion.PublishedQD(y)
			}
			input = append(input, v[k][:]...)
		}
		d := [2]expansion.PublishedDD{{v[0][0], v[0][1]}, {v[1][0], v[1][1]}}
		for i, method := range publishedMethods {
			want = append(want, call(d[0], method, d[1], i < 4)...)
		}
		for i, method := range publishedMethods {
			want = append(want, call(v[0], method, v[1], i < 4)...)
		}
	}
	compare(t, "published", input, floatsOf(t, run(t, text, body.String(), bytesOf(input))), want, 8)
}

// call are the words of x.method(y), or x.method().
func call(x any, method string, y any, binary bool) []float64 {
	var args []reflect.Value
	if binary {
		args = append(args, reflect.ValueOf(y))
	}
	z := reflect.ValueOf(x).MethodByName(method).Call(args)[0]
	list := make([]float64, z.Len())
	for i := range list {
		list[i] = z.Index(i).Float()
	}
	return list
}
