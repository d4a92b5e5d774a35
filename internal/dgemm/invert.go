package dgemm

import "context"

// InvertLower stores the inverse of the unit lower triangle L of an n x n matrix in X, of leading
// dimension n. On entry column j of X must be 0 from row j - Strip on. Each column is computed by
// substitution, as in SolveLower.
func InvertLower(ctx context.Context, threads, n int, l, x []float64) error {
	w := newFactorWorker(ctx, threads)
	defer w.free()
	t, z := matrix{n, n, max(n, 1), l}, matrix{n, n, max(n, 1), x}
	if n > fewPanels*whole {
		setOnes(z)
		return w.byColumns(t, z, false, true)
	}
	return w.invertLower(t, z)
}

// setOnes sets the diagonal of a square matrix to 1.
func setOnes(x matrix) {
	for j := range x.cols {
		x.data[j+j*x.ld] = 1
	}
}

// Strip is the number of rows of a triangle that are multiplied at a time. Zeros beside them are
// skipped.
const Strip = 128

func (w *worker) invertLower(l, x matrix) error {
	n := l.rows
	if n <= block {
		setOnes(x)
		return w.lower(l, x)
	}
	half := halfOf(n)
	first, below, second := x.view(0, half, 0, half), x.view(half, n, 0, half), x.view(half, n, half, n)
	if err := w.invertLower(l.view(0, half, 0, half), first); err != nil {
		return err
	}
	for k := 0; k < half; k += Strip {
		to := min(k+Strip, half)
		if err := w.subtract(below.view(0, n-half, 0, to), l.view(half, n, k, to), first.view(k, to, 0, to)); err != nil {
			return err
		}
	}
	if err := w.lower(l.view(half, n, half, n), below); err != nil {
		return err
	}
	return w.invertLower(l.view(half, n, half, n), second)
}

// InvertUpper is like InvertLower for the upper triangle U, including the diagonal, of leading
// dimension ldu. On entry column j of X must be 0 up to row j + Strip.
func InvertUpper(ctx context.Context, threads, n int, u []float64, ldu int, x []float64) error {
	w := newFactorWorker(ctx, threads)
	defer w.free()
	t, z := matrix{n, n, max(ldu, 1), u}, matrix{n, n, max(n, 1), x}
	if n > fewPanels*whole {
		setOnes(z)
		return w.byColumns(t, z, true, true)
	}
	return w.invertUpper(t, z)
}

func (w *worker) invertUpper(u, x matrix) error {
	n := u.rows
	if n <= block {
		setOnes(x)
		return w.upper(u, x)
	}
	half := halfOf(n)
	first, above, second := x.view(0, half, 0, half), x.view(0, half, half, n), x.view(half, n, half, n)
	if err := w.invertUpper(u.view(half, n, half, n), second); err != nil {
		return err
	}
	for k := 0; k < n-half; k += Strip {
		to := min(k+Strip, n-half)
		if err := w.subtract(above.view(0, half, k, n-half), u.view(0, half, half+k, half+to), second.view(k, to, k, n-half)); err != nil {
			return err
		}
	}
	if err := w.upper(u.view(0, half, 0, half), above); err != nil {
		return err
	}
	return w.invertUpper(u.view(0, half, 0, half), first)
}
