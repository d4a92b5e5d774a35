package call

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/counted"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
)

// ErrRange is wrapped by errors about numbers whose exact products do not fit in any format.
var ErrRange = errors.New("exact products would be too wide")

// ErrSingular is wrapped by errors about matrices that are proved to be singular.
var ErrSingular = errors.New("singular matrix")

// SingularError is the error about a matrix that is proved to be singular. It wraps ErrSingular.
type SingularError struct {
	N    int // order of the matrix
	Rank int // its rank
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("singular matrix: its rank is %d, its order %d (proved)", e.Rank, e.N)
}

func (e *SingularError) Unwrap() error { return ErrSingular }

// ErrNotSymmetric is wrapped by errors about matrices that must be symmetric and are not.
var ErrNotSymmetric = errors.New("matrix is not symmetric")

// ErrMemory is wrapped by errors about products and numbers that do not fit in memory.
var ErrMemory = residue.ErrMemory

// ErrNotFinite is wrapped by errors about infinities and NaN.
var ErrNotFinite = errors.New("infinity or NaN")

// Finite returns an error that wraps ErrNotFinite if a matrix has an infinity or a NaN. name is the
// name of the matrix in the error.
func Finite(name string, m num.Mat) error {
	v := m
	for j := range v.Cols {
		// The usual cases.
		if at := v.At(0, j); v.Arr.Kind == num.F64 && v.RS == 1 && v.Rows > 0 && LargestOf(v.Arr.F64[0][at:at+v.Rows]) <= math.MaxFloat64 {
			continue
		}
		for i, at := 0, v.At(0, j); i < v.Rows; i, at = i+1, at+v.RS {
			if v.Arr.Kind == num.MP && v.Arr.Cls[at].Class() == num.Finite {
				continue
			}
			if c := v.Arr.Class(at); c == num.Inf || c == num.NaN {
				return counted.New(ErrNotFinite, func(first int) string {
					return fmt.Sprintf("%s[%d,%d]: %v", name, i+first, j+first, ErrNotFinite)
				})
			}
		}
	}
	return nil
}

// FiniteOn is Finite on several threads.
func FiniteOn(threads int, name string, m num.Mat) error {
	if m.Cols < 64 {
		return Finite(name, m)
	}
	var suspect atomic.Bool
	_ = par.Each(context.Background(), threads, m.Cols, func(j int) {
		if !suspect.Load() && Finite(name, m.Slice(0, m.Rows, j, j+1)) != nil {
			suspect.Store(true)
		}
	})
	if suspect.Load() {
		return Finite(name, m) // names the first such entry
	}
	return nil
}

// Measure converts a bound to float64 for statistics.
func Measure(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

// Contradiction returns the error of a routine that has found a result which a theorem excludes,
// because a product was wrong. It wraps residue.ErrHardware.
func Contradiction(found string) error {
	return fmt.Errorf("%s, which contradicts theory: hardware or a bug: %w", found, residue.ErrHardware)
}
