package factors

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// An attempt encloses factors of format f in some bits.
type attempt struct {
	s    *call.Run
	f    num.Format
	bits int
	u    *ziv.Unknown   // the entries that must be decided
	e    *ziv.Enclosure // of these entries, nil if there is none yet
}

// Open reports whether the factors are not enclosed.
func (p *attempt) Open() bool { return p.e == nil }

// small reports whether an elimination computes factors of order n faster than the given way, which
// begins with a seed, and the context does not force that way.
func (p *attempt) small(n int, way string) bool {
	return n < seed.Fewest && !call.Forced(p.s.Ctx, way)
}

// farApart reports whether the factors of c must be enclosed by interval arithmetic.
func (p *attempt) farApart(c num.Mat) (bool, error) {
	if call.Forced(p.s.Ctx, call.ByIntervals) {
		return true, nil
	}
	return byIntervals(p.s, c, p.f, p.bits)
}

// decide decides all entries of factors by the ways of a table. Each attempt tries the ways in
// order. The last way encloses all entries in the bits that theory requires.
func decide[P interface{ Open() bool }](p P, at *attempt, table []call.Way[P], theory ziv.Theory) error {
	return ziv.DecideFactors(at.s, at.f, theory, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		at.bits, at.e = bits, nil
		err := call.Try(at.s.Ctx, table, p)
		return at.u, at.e, err
	})
}

// countOverflow counts the entries of factors that became infinite.
func countOverflow(s *call.Run, factors ...num.Mat) {
	for _, z := range factors {
		counts := make([]int64, z.Cols)
		_ = par.Each(context.Background(), s.Threads, z.Cols, func(j int) {
			for i := range z.Rows {
				if z.Arr.Class(z.At(i, j)) == num.Inf {
					counts[j]++
				}
			}
		})
		for _, n := range counts {
			s.Stats.Overflow += n
		}
	}
}

// LDLTFactors holds L, D, pivots and blocks, and a copy of A where A lives.
type LDLTFactors struct {
	P, Blocks []int
	L, D, A   num.Mat
}

// unknown returns the list of the entries of the factors of c = P A P^T.
func (z *LDLTFactors) unknown(c num.Mat) *ziv.Unknown {
	n := c.Rows
	u := ziv.NewUnknown(c, n, z.Blocks, n*(n+1)/2)
	for _, w := range u.Lower() {
		u.Want(ziv.OfL, w[0], w[1], z.L, w[0], w[1])
	}
	b := 0
	for _, size := range z.Blocks {
		for i := b; i < b+size; i++ {
			ziv.SetOne(z.L, i, i)
			for j := i; j < b+size; j++ {
				u.Want(ziv.OfU, i, j, z.D, i, j) // and D[j,i]
			}
		}
		b += size
	}
	return u
}

// LUFactors holds L, U and pivots, and a copy of A where A lives.
type LUFactors struct {
	P       []int
	L, U, A num.Mat
}

// Keep copies the factored matrix a to copied, at the place where a lives, and moves the factors
// there. After an error it frees everything at the place.
func Keep(s *call.Run, a num.Mat, copied *num.Mat, factors ...*num.Mat) error {
	err := func() (err error) {
		p := place.Of(a.Arr)
		for _, m := range factors {
			here := *m
			if place.Label(place.Of(here.Arr)) == place.Label(p) {
				continue
			}
			*m = num.Mat{}
			if *m, err = place.Moved(p, here); err != nil {
				return err
			}
		}
		if a.OnHost() {
			*copied = call.Copy(s, a)
			return nil
		}
		*copied, err = place.On(p, a)
		return err
	}()
	if err != nil {
		for _, m := range factors {
			if m.Arr != nil {
				m.Free()
			}
		}
	}
	return err
}

// Unknown returns the list of the entries of the factors of c = P A.
func (z *LUFactors) Unknown(c num.Mat) *ziv.Unknown {
	m, n := c.Dims()
	k := min(m, n)
	u := ziv.NewUnknown(c, k, ziv.Ones(k), k*(m+n-k))
	for j := range k {
		ziv.SetOne(z.L, j, j)
		for i := j + 1; i < m; i++ {
			u.Want(ziv.OfL, i, j, z.L, i, j)
		}
	}
	for i := range k {
		for j := i; j < n; j++ {
			u.Want(ziv.OfU, i, j, z.U, i, j)
		}
	}
	return u
}

// QRFactors holds Q, R and the order of columns, and a copy of A where A lives.
type QRFactors struct {
	P       []int
	Q, R, A num.Mat
}

// unknown returns the list of the entries of the factors; they are entries of L diag(U)^(1/2).
func (z *QRFactors) unknown(c num.Mat) *ziv.Unknown {
	m, n := c.Dims()
	u := ziv.NewUnknown(c, n, ziv.Ones(n), n*(n+1)/2+z.Q.Rows*n)
	for j := range n {
		for i := j; i < m; i++ {
			z.want(u, i, j)
		}
	}
	return u
}

// want adds entry (i, j) of the matrix R^T above Q to u.
func (z *QRFactors) want(u *ziv.Unknown, i, j int) {
	if n := z.R.Rows; i < n {
		u.Want(ziv.OfRoot, i, j, z.R, j, i)
	} else {
		u.Want(ziv.OfRoot, i, j, z.Q, i-n, j)
	}
}
