// # From a file to the last kernel
//
// "halfulp gemm A.mtx B.mtx --format mp:424" on the CPU: cmd/halfulp reads each operand by package
// matfile, which detects the kind of file. Package internal/decimal rounds every number once, into
// a num.Array. halfulp.GemmTo (blas3.go) checks shapes. place.Settings finds that all operands live
// on the host, computes into a copy if the output overlaps an operand, and calls [Run], which lists
// the applicable methods (ways.go), estimates their time and tries the fastest.
//
// The residue method begins with residue.Plan. It scans exponents and norms of rows and columns
// (operand.go) and estimates the sizes of some entries (sample.go). plan.Machine.Choose derives the
// number of bits and of moduli from both and from the CPU's costs. Planned.Run (gemm.go) goes over
// tiles of the result: digits.go cuts aligned integers into digits; residues.go converts them to
// residues by a product of small integers; modgemm multiplies for every modulus and reduces in its
// epilogue; worker.go reconstructs leading bits by further products of small integers. Package
// internal/rounding rounds the integers of plain products, a vector at a time. Other products, and
// entries that remain open, go through finish.go, which includes alpha, beta and the old entry and
// stores the number to which both ends of the enclosure round. If the ends round to different
// numbers, exactPass adds the exact products of the entry (internal/superacc). Package matfile
// writes the result to a temporary file, and internal/files renames it.
//
// With "--device cuda:0", package cuda has registered internal/gpu/backend with internal/place, so
// that Run finds a device beside the host's methods. internal/gpu/product has one file for each
// stage: parts.go cuts operands that do not fit or that several GPUs share; call.go copies operands
// to the GPU; scan.go, plan.go, residues.go, products.go, finish.go, settle.go and exactpass.go
// launch kernels with the structures of internal/gpu/abi. launch.Kernels takes a kernel from the
// archive of internal/kernels and has the driver compile it. Entries that no kernel decides come
// back to residue.Finisher on the host. A GPU lists the blocks that it leaves to the host in a
// place.Declined, and Run computes these blocks.
package product
