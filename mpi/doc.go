// Package mpi is the part of the Message Passing Interface that halfulp uses: processes that know
// their number, and collective operations on bytes and integers.
//
// It calls the MPI library of the machine by its standard binary interface (MPI 5.0, chapter 20:
// libmpi_abi.so.1). [Init] loads the library. So programs need neither cgo nor an MPI to be built,
// and one program runs under every MPI that has the interface: MPICH 5.0 or later, which is also a
// Python package (pip install mpich), and Open MPI from 6.0 on. Without such a library Init returns
// an error that names how to install one. The package works on Linux only, on amd64 and arm64.
//
// Reductions support integers only: sums of floating-point numbers would depend on the number of
// processes.
//
// All processes of a communicator must call its operations in the same order. Methods take a
// [context.Context]. When it is cancelled they return its error. MPI cannot take back an operation
// that has begun, so a process can then only call [Comm.Leave] or [Comm.Abort] on the communicator.
package mpi
