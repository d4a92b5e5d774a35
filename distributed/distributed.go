// Package distributed makes the processes of an MPI program a device of package halfulp. Matrices
// live on this device and routines run on it as on any other. Its name is "mpi:PxQ" for a grid of P
// x Q processes.
//
//	func main() {
//		comm, err := distributed.Init() // once, in every process
//		if err != nil { ... }
//		defer mpi.Exit(0)
//		grid := distributed.Device(0, 0)
//		a, err := x.On(grid) // this process keeps its blocks of x, which all processes have
//		...
//		err = halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, nil)
//		z, err := c.Host() // all processes get all of c
//	}
//
// mpiexec -n N starts the processes. All of them run the same program and call the same routines in
// the same order. Operands of the host must be the same in all processes. A matrix that lives on
// the grid is distributed in blocks of 32 x 32 entries, cyclically over the rows and the columns of
// the grid (ScaLAPACK's 2-D block-cyclic distribution): every process keeps the blocks of its row
// and column of the grid. [Read] reads such a matrix from a file and [Write] writes it to a file.
// Each process reads or writes a part of the file, so no process needs memory for the whole matrix.
//
// Results have the same bits as with one process, for any grid and number of processes. Every entry
// is computed by one process from all numbers that it depends on, exactly and rounded once, or from
// exact sums of parts.
//
// The processes share products of matrices, products with vectors and reductions, also for operands
// of the host if [halfulp.Options] names the device: each process computes a part of the result,
// and all processes get the whole result. For products on a grid a process gets the rows of A and
// columns of B that its part of C needs, and needs memory for them as well. It multiplies where
// [Use] says: on its CPUs or on a GPU.
//
// For matrices that live on a grid, Solve, Inverse, Cholesky, LU, QR without pivoting, Det, LogDet
// and LeastSquares (of tall matrices, without weights) of package linsolve use the shared products,
// with float64 inverses or factors that the first process computes. In Trsm each process solves
// some of the columns and gets the whole triangle. The cases that these routines leave to the host,
// such as ties and singular matrices, and all other routines run in every process as in a single
// one, except that their products of matrices are shared: the results are right, but hardly faster.
// The same holds for systems of up to 53 bits on few processes with CPUs, as sharing would make
// them slower.
//
// An error in one process is an error in all processes that take part in the same call. A process
// that ends, or calls [mpi.Comm.Abort], ends the others. A process whose context ends leaves the
// others at the next step of a shared routine, or within it. The calls of the other processes, if
// their contexts go on, then fail with [mpi.ErrLeft], and so do all later calls in every process. A
// process that gives up elsewhere must call [mpi.Comm.Leave].
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

// local holds the choice of [Use] for this process.
var local grid.Local

// Use selects where this process computes its parts of matrix products from now on, while they stay
// in its memory: Auto, the default, selects its CPUs or a GPU, whichever should take less time;
// "cpu" its CPUs; GPUs, such as "cuda:0", "cuda:0,2" or "cuda:all", these GPUs. The GPUs named, or
// all for Auto, are GPUs of this process's machine. They are divided among the processes of the
// machine, in their order; if there are more processes than GPUs, several share a GPU and its
// memory. Processes may use different devices; results are the same. Stats.Processes reports which
// device each process used.
//
// Some processes may call Use alone, but not while a routine runs. The error wraps
// [halfulp.ErrDevice] if there is no such device; the choice then stays as it was. A program has
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
// processes must call it. It returns the same communicator at every call. The error is as for
// [mpi.Init].
func Init() (*mpi.Comm, error) { return joined() }

// Device returns the name of the grid of rows x cols processes. For rows = cols = 0 it is the grid
// nearest to a square of all processes that [Init] joined. It panics for other sides below 1.
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
