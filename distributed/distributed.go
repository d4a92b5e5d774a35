// Package distributed makes the processes of an MPI program a device of package halfulp, on which
// matrices live and routines run as on any other: its name is "mpi:PxQ" for a grid of P x Q
// processes.
//
//	func main() {
//		comm, err := distributed.Init() // once, in every process
//		if err != nil { ... }
//		defer mpi.Exit(0)
//		grid := distributed.Device(0, 0)
//		a, err := x.On(grid) // this process keeps its blocks of x, which all processes have
//		...
//		st, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, nil)
//		z, err := c.Host() // all processes get all of c
//	}
//
// Started by mpiexec -n N, all processes run the same program and call the same routines in the
// same order. Operands of the host have to be the same in all of them; a matrix that lives on the
// grid is dealt out in blocks of 32 x 32 entries, row by row and column by column (ScaLAPACK's 2-D
// block-cyclic distribution), as every process keeps those of its row and column of the grid.
// [Read] reads such a matrix from a file and [Write] writes it to one, each process a part of it,
// so that no process needs memory for all of it.
//
// Results have the bits that one process has, for any grid and number of processes: every
// entry is computed by one process from all that it depends on, exactly and rounded once, or from
// exact sums of parts.
//
// Products of matrices, products with vectors and reductions are shared by the processes, for
// operands of the host as well ([halfulp.Options] names the device then): each process computes a
// part of the result, which they all get. For products on a grid a process gets those rows of A and
// columns of B that its part of C needs, so it takes memory for these as well, and multiplies where
// [Use] says: on its CPUs or on a GPU.
//
// For matrices that live on a grid, package linsolve's Solve, Inverse, Cholesky, LU, QR without
// pivoting, Det, LogDet and LeastSquares (of tall matrices, without weights) are products, which
// are shared, from float64 inverses or factors that the first process computes. Of Trsm each
// process solves some of the columns, for which it gets all of the triangle. What these leave to
// the host, ties, say, and singular matrices, and all other routines, every process computes as it
// does alone but for products of matrices: right, and hardly faster. So it is with systems of up to
// 53 bits for few processes on CPUs, which would take longer together.
//
// An error in one process is an error in all that take part in the same call. A process that ends,
// or calls [mpi.Comm.Abort], ends the others. A process whose context ends leaves them at the next
// step of a routine that they share, or in its midst: calls of the others fail with [mpi.ErrLeft]
// then, if their contexts go on, and so do all later ones in every process. One that gives up
// elsewhere calls [mpi.Comm.Leave].
package distributed

import (
	"context"
	"fmt"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/mpi"
)

var joined = sync.OnceValues(func() (*mpi.Comm, error) {
	c, err := mpi.Init()
	if err != nil {
		return nil, err
	}
	if local.Team, err = grid.Machine(context.Background(), c); err != nil {
		return nil, err
	}
	grid.Register(c, &local)
	return c, nil
})

// local is where this process computes.
var local grid.Local

// Use says where this process computes its parts of products of matrices from now on, while they
// stay in its memory: Auto, which is the default, on its CPUs or on a GPU, whichever should take
// less time; "cpu" on its CPUs; GPUs, such as "cuda:0", "cuda:0,2" or "cuda:all", on those. The
// GPUs named, or for Auto all, are those of this process's machine and are divided among the
// processes there, in their order; where there are more processes than GPUs, several share one and
// its memory. Processes may differ in what they use, results never do. Stats.Processes tells what
// ran where.
//
// Use may be called in some processes alone, not beside a routine that runs. The error wraps
// [halfulp.ErrDevice] if there is no such device; what was used before stays then. A program has
// GPUs if it imports package cuda.
func Use(device halfulp.Device) error {
	n, err := place.ParseName(string(device))
	if err != nil {
		return err
	}
	if _, err := joined(); err != nil {
		return err
	}
	return local.Use(n)
}

// Init joins the processes that mpiexec started and makes the devices "mpi:PxQ" known. All
// processes call it; it is the same at every call. The error is that of [mpi.Init].
func Init() (*mpi.Comm, error) { return joined() }

// Device returns the name of a grid of rows x cols processes, for 0 and 0 of the one nearest to a
// square of all that [Init] joined. It panics for other sides below 1.
func Device(rows, cols int) halfulp.Device {
	if rows == 0 && cols == 0 {
		if c, err := joined(); err == nil {
			rows, cols = grid.Shape(c.Size())
		} else {
			rows, cols = 1, 1
		}
	}
	if rows < 1 || cols < 1 {
		panic("distributed: a grid without processes")
	}
	return halfulp.Device(fmt.Sprintf("%s:%dx%d", place.MPI, rows, cols))
}
