package ziv

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/residue"
)

// TestDecide checks which numbers of bits Decide tries, and how it ends.
func TestDecide(t *testing.T) {
	errSingular, errFailed := errors.New("singular"), errors.New("failed")
	need := func(n Need) Theory { return Theory{Need: func() Need { return n }} }
	always := func(missing int) func(int) (int, error) { return func(int) (int, error) { return missing, nil } }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		name    string
		loop    Loop
		attempt func(bits int) (int, error)
		bits    []int
		err     error
	}{
		{"first", Loop{First: 100}, always(Done), []int{100}, nil},
		{"missing", Loop{First: 100}, func(bits int) (int, error) { // 0 is no end
			return map[int]int{100: 7, 107: 0, 214: -1, 428: Unenclosed, 856: Done}[bits], nil
		}, []int{100, 107, 214, 428, 856}, nil},
		{"most", Loop{First: 100, Most: 300}, always(100), []int{100, 200, 300}, nil},
		{"most of all", Loop{First: bound.MaxBits / 2}, always(Double), []int{bound.MaxBits / 2, bound.MaxBits}, call.ErrMemory},
		{"fails", Loop{First: 100}, func(bits int) (int, error) { return Double, errFailed }, []int{100}, errFailed},
		{"cancelled", Loop{First: 100}, func(bits int) (int, error) { cancel(); return Double, nil }, []int{100}, context.Canceled},
		{"theory", Loop{First: 100, Theory: need(Need{3000, 6000})}, always(2000), []int{100, 2100, 4100, 6100}, residue.ErrHardware},
		{"no enclosure", Loop{First: 100, Theory: need(Need{3000, 6000})}, always(Unenclosed), []int{100, 200, 400, 800, 1600, 3200}, residue.ErrHardware},
		{"theory is late", Loop{First: 100, Theory: need(Need{200, 200})}, always(2000), []int{100, 2100, 4100}, residue.ErrHardware},
		{"singular", Loop{First: 100, Theory: Theory{Need: func() Need { return Need{} }, Regular: func() error { return errSingular }}},
			always(4000), []int{100, 4100}, errSingular},
	} {
		s, tried := &call.Run{Call: call.Call{Run: par.Run{Ctx: context.Background()}}}, []int(nil)
		if errors.Is(c.err, context.Canceled) {
			s.Ctx = ctx
		}
		err := Decide(s, c.loop, func(bits int) (int, error) {
			tried = append(tried, bits)
			return c.attempt(bits)
		})
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || !slices.Equal(tried, c.bits) {
			t.Errorf("%s: %v bits, error %v", c.name, tried, err)
		}
	}
}
