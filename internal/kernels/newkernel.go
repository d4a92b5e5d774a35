// # How to add a kernel
//
// Write it into a .cu file of the folder of its use, with a reference in Go, in
// internal/gpu/gputest or the tests of rns, ozaki and expansion; the fake driver runs the reference
// in the kernel's place. "go generate ./internal/kernels" compiles the files whose sources have
// changed into PTX, compressed by Zopfli in ptx.zip, which is committed. A test compares the hashes
// of the sources with the hashes from which the archive was made. "_ptx/ptx.py check" compiles
// everything anew, compares it and assembles it for every GPU.
//
// On Linux on amd64 with g++, the kernels of products, rows, Newton's method and seeds also run
// without a GPU: with HALFULP_EMULATE=all, or the names of sources, the tests of internal/gpu
// compile them for the host (internal/gpu/gputest/emulator), where the threads of a block take
// turns. "make gpu-pack" fills .bin/gpu. Copied to a machine with a GPU, its run.sh runs the tests,
// the conformance suite, compute-sanitizer and the benchmarks, and writes a record of them.
package kernels
