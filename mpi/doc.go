// Package mpi is what halfulp needs of the Message Passing Interface: processes that know their
// number, and collective operations on bytes and integers.
//
// It calls the library of the machine's MPI by its standard binary interface (MPI 5.0, chapter
// 20: libmpi_abi.so.1), which it loads when [Init] is called, so that programs need neither cgo
// nor an MPI to be built, and one program runs under every MPI that has the interface: MPICH 5.0
// or later, which is also a Python package (pip install mpich), and Open MPI from 6.0 on. Where
// there is none [Init] says so, and how to install one. Linux alone, on amd64 and arm64.
//
// Nothing is reduced but integers: sums of floating-point numbers would depend on the number of
// processes.
//
// A process calls operations of one communicator in the same order as all the others of that
// communicator do. Methods take a [context.Context]: when it is cancelled they return its error,
// but MPI cannot take back what was begun, so nothing is left to do with the communicator then but
// [Comm.Abort].
package mpi
