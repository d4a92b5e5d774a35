// Package matfile reads and writes matrices in files, without loss.
//
//	a, err := matfile.Read("a.csv", nil)
//	err = matfile.Write("a.npz", a, nil)
//
// [Read] finds the kind of a file by its content. [Write] takes the kind from the extension of the
// name. Both accept files packed by gzip and "-", which stands for standard input and standard
// output. A file appears under its name when it is complete, or not at all. [ReadFrom] and
// [WriteTo] do the same with an io.Reader and an io.Writer.
//
// # Kinds of files
//
//	.mtx, .mm, no extension   Matrix Market: array, coordinate, pattern; symmetric, skew-symmetric
//	.csv, .tsv, .txt, .dat    tables of numbers, with or without a header, as spreadsheets export them
//	.npy                      one NumPy array; written for all formats except MP
//	.npz                      several NumPy arrays, or a sparse matrix of SciPy, which is only read
//	.arb, .gp, .py, .wl       lists for FLINT, PARI/GP, mpmath and Mathematica, which are only written
//
// Any of these may end in .gz. FILE.npz:L names the matrix L of several in a .npz file, and
// FILE.csv:2-4,price names columns of a table. Matrices and vectors in JSON are read and written by
// encoding/json.
//
// # Numbers
//
// A decimal or hexadecimal number is rounded once to the format of the matrix. [Options].In selects
// this format. By default it is float64, or a wider format if a number of a text file has more
// digits. A file that this package wrote names its format, so that reading it loses nothing: in the
// comment line "halfulp format mp:424", or in the array "format" of a .npz file.
//
// # Matrix Market
//
// All files of real, integer, unsigned-integer and pattern numbers are read, and those that are
// called Hermitian as symmetric; complex matrices are an error. Numbers are separated by blanks,
// tabs, vertical tabs and form feeds, and a line ends with a line feed, a carriage return or both.
// A number may have any number of digits, a Fortran exponent (1.5D+3, 1.5+300) and hexadecimal
// digits (0x1.8p+3); inf and nan are numbers too. Entries of a coordinate file that name the same
// place are added exactly, and their sum is rounded once. Written files are real, general arrays.
//
// Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial
// Design, NISTIR 5935, 1996.
//
// # Memory
//
// A large Matrix Market array, a large table and a large .npy or .npz file that is not packed are
// read in blocks or mapped, so that the matrix and its text are not in memory together. Other files
// and an io.Reader are read in full first. Writing holds a few blocks of text.
//
// # The arrays of a .npz file
//
// A file with one matrix has an array "format", the name of the format, and these arrays:
//
//	f32, f64      values      the numbers
//	dd, td, qd    terms       the terms of a number along a last axis
//	mp:P          limbs       uint64, along a last axis of L = ⌈P/64⌉: the significand, an integer
//	                          S of 64 L bits, the least significant limb first; its highest bit is
//	                          1, its lowest 64 L - P bits are 0
//	              exponents   int32: e
//	              signs       int8: 1 or -1; 0 has sign 1, -0 has sign -1, NaN has sign 1
//	              classes     uint8: 0 zero, 1 finite, 2 infinity, 3 NaN
//
// A finite number of format mp:P is sign · S · 2^(e - 64 L). Limbs and exponents of the other
// classes are 0. An entry that breaks one of these rules is an error, which names the entry and the
// rule. In a file of several matrices, a matrix L of format mp:P has the arrays L_format, L_limbs,
// L_exponents, L_signs and L_classes; a matrix of another format is one array with its name.
package matfile
