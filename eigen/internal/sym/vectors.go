package sym

import (
	"math"

	"github.com/halfulp/halfulp/internal/par"
)

// distances bounds, for each column j, the largest difference between an entry of the column of X +
// D and of an eigenvector x with xᵀ B x = 1, for D = X E of correction(bits). For the columns of a
// cluster of several it is the distance from the columns of a basis of the eigenvectors that is
// orthonormal, for B. Clusters that are not proved have no bound.
//
// An eigenvector to the eigenvalue λ is X (u + z), with u in the cluster and z outside of it. Row k
// of Xᵀ (A - λ B) X (u + z) = 0 is
//
//	D_kk z_k = -M_ku - (O z)_k,  D_kk = (1 - r_kk) (d_k - λ),
//
// in the notation of enclose, where ‖z‖ ≤ tilt. E has the entries -m_kj(d_j) / (d_k - d_j) instead,
// rounded. The norm of X (e_j + z) with z_j = r_jj/2, that is the root of (e_j + z)ᵀ (I - R) (e_j +
// z), differs from 1 by at most ‖z‖² (1 + ‖R‖) + 2 ‖r_j‖ ‖z‖: the terms of first order cancel. A
// row of X has a 2-norm of at most t.wide, so an entry of X times a vector is at most that times
// the norm of the vector. pull bounds ‖C (x' - x)‖ instead, for the column x' of X + D and a
// problem A = CᵀC. The results are nil if the matrices have to be on the host.
func (t *state) distances(bits int) (z, pull []size, err error) {
	n := t.n
	z, pull = make([]size, n), make([]size, n)
	cut := power(int64(2 - t.places)).add(power(int64(1 - bits)))
	var sums, pulls []size
	if t.away != nil {
		var ok bool
		if sums, pulls, ok, err = t.distancesThere(cut); err != nil || !ok {
			return nil, nil, err
		}
	}
	return z, pull, par.For(t.s.Ctx, t.s.Threads, n, func(_, j int) {
		c := &t.clusters[t.of[j]]
		if !c.proved {
			return
		}
		rad := c.radius
		if c.count() > 1 {
			rad = rad.add(c.spread.times(1.5))
		}
		var sum, own size
		if t.away != nil {
			sum, pull[j], own = sums[j], pulls[j], t.away.own[j]
		} else {
			var ok bool
			if sum, pull[j], ok = t.plainDistance(j, c, rad, cut); !ok {
				sum, pull[j] = t.distance(j, c, rad, cut)
			}
			own = t.boundR(j, j)
		}
		long := c.tilt.add(own) // ≥ ‖z‖ and ‖E_j‖
		row := t.rowR[j].add(own)
		norm := long.mul(long).times(1.25).add(row.mul(long).shifted(1))
		if c.count() > 1 {
			long = c.tilt.add(t.rowsOf(c))
			norm = long.mul(long).shifted(2)
		}
		rounding := long.shifted(int64(2 - bits))
		z[j] = sum.sqrt().add(norm).add(rounding).mul(t.wide)
		if t.image != nil {
			// ‖C x‖ ≤ ‖C x_j‖ + ‖C X‖ ‖E_j‖; the entries of D are rounded.
			pull[j] = pull[j].add(t.image[j].add(t.total.mul(long)).mul(norm)).add(rounding.mul(t.total).times(2 * math.Sqrt(float64(n))))
		}
	})
}

// distance returns the sums of distances for column j of cluster c: the squares of z, and the terms
// of pull.
func (t *state) distance(j int, c *cluster, rad, cut size) (sum, pull size) {
	most := t.dSize[j].add(rad)
	for k := range t.n {
		if t.of[k] == t.of[j] {
			continue
		}
		g := t.apart(j, k).lower(rad.shifted(1)).lower(t.dLost[k].times(2))
		g = g.lower(g.mul(t.alpha))
		if g.zero() {
			return power(0), t.total.shifted(2)
		}
		x := t.boundS(k, j).add(most.mul(t.boundR(k, j)))
		row := t.rowS[k].add(most.mul(t.rowR[k]))
		relative := cut.add(t.boundR(k, k).shifted(1)).add(rad.add(t.dLost[k]).over(g).shifted(1))
		v := row.mul(c.tilt).add(rad.mul(t.boundR(k, j))).add(t.lostIn(t.longS, t.lostS, j, k)).add(most.mul(t.lostIn(t.longR, t.lostR, j, k))).add(x.mul(relative)).over(g)
		sum = sum.add(v.mul(v))
		if t.image != nil {
			pull = pull.add(t.image[k].mul(v))
		}
	}
	return sum, pull
}

// rowsOf bounds the Frobenius norm of the rows of R of a cluster.
func (t *state) rowsOf(c *cluster) size {
	var sum size
	for p := c.first; p <= c.last; p++ {
		j := t.order[p]
		v, own := t.rowR[j], t.boundR(j, j)
		sum = sum.add(v.mul(v)).add(own.mul(own))
	}
	return sum.sqrt()
}
