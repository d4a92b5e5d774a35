package place

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// ErrModuli is wrapped by errors about moduli that a place does not take.
var ErrModuli = errors.New("moduli unfit for the device")

// ErrBlockSize is wrapped by errors about blocks of threads that a place has no room for.
var ErrBlockSize = errors.New("block too large for the device")

// RNS is what places do for package rns.
type RNS interface {
	// Base returns a base at p, calling constants if p has not met it. The error wraps ErrModuli if
	// p does not take such moduli.
	Base(ctx context.Context, p Place, moduli []uint32, constants func() RNSConstants) (RNSBase, error)
}

// RNSConstants describe a base of package rns.
type RNSConstants struct {
	Moduli   []uint32
	Weights  []uint32   // (M/m_i)^-1 mod m_i
	Low      [][]uint32 // Low[a][i] is word a, of WordBits bits, of M/m_i
	NegM     []uint32   // words of -M, as many
	WordBits int        // a residue times a word, summed over moduli, is below 2^63
	Bits     int        // of M

	MLo, MUp, Half, Lim, Target, SumLim RNSFloat
	Slack                               int

	ILo, IUp       RNSFloat // 1/M
	MaxSignificand uint64   // of a number; 0 where it has more than 53 bits
}

// RNSFloat is F·2^I.
type RNSFloat struct {
	F float64
	I int32
	_ int32
}

// RNSHead is a number but for its residues: the evaluation Lo·2^LoI to Up·2^UpI, the exponent and
// the sign.
type RNSHead struct {
	Lo, Up        float64
	LoI, UpI      int32
	Exp, Negative int32
}

// RNSView is numbers of an array by two indices: (i, j) is number Off + i RS + j CS.
type RNSView struct {
	Array       num.Storage // nil: an operand that is left out
	Off, RS, CS int
}

// T exchanges the indices.
func (v RNSView) T() RNSView { return RNSView{v.Array, v.Off, v.CS, v.RS} }

// RNSTriangle is a triangle of a square matrix, its diagonal with it, or all of a matrix.
type RNSTriangle int32

// The triangles.
const (
	RNSWhole RNSTriangle = iota
	RNSUpper
	RNSLower
)

// RNSOperation is an operation entry by entry that is not one of sums and products.
type RNSOperation int32

// The operations: x / y, √x, and x y + c with one rounding.
const (
	RNSQuotient RNSOperation = iota
	RNSRoot
	RNSFMA
)

// RNSTeam is who carries out additions that wait for each other.
type RNSTeam int

// One thread, and a group of threads as wide as it can be.
const (
	RNSOne RNSTeam = iota
	RNSGroup
)

// RNSBase is a base at a place, which computes with the bits of package rns.
type RNSBase interface {
	// Model is the name of the device as its maker calls it.
	Model() string
	// Kernels tells what the kernels for the base take.
	Kernels(ctx context.Context) ([]RNSKernel, error)
	// New returns n zeros that live at the place.
	New(ctx context.Context, n int) (num.Storage, error)
	// Run runs f, which asks for computations one after the other, and returns when they are done.
	// What RNSQueue.New returns takes at most limit bytes; 0: all that is there. The error is the
	// context's if that is cancelled, between computations as well; ErrMemory is wrapped where
	// memory is short.
	Run(ctx context.Context, limit int64, f func(q RNSQueue) error) error
}

// RNSQueue takes computations with numbers that live at a place. Rounded operations are those of
// rns.Number, in the order of each method; shapes are not empty where a method does not say so.
type RNSQueue interface {
	// New returns n numbers with unspecified values, for as long as the run lasts.
	New(n int) (num.Storage, error)
	// Load returns n numbers of the host for as long as the run lasts.
	Load(n int, digits []uint32, head func(i int) RNSHead) (num.Storage, error)
	// Set copies rows x cols numbers of the host, by columns, to z: their residues, and their
	// heads. Shapes may be empty.
	Set(z RNSView, rows, cols int, digits []uint32, head func(i int) RNSHead) error
	// Get is the converse of Set.
	Get(x RNSView, rows, cols int, digits []uint32, put func(i int, h RNSHead)) error
	// Sparse returns what a sparse matrix has beside its numbers, which Free gives back.
	Sparse(a RNSLayout) (RNSSparse, error)

	// Map sets z_ij = fl(p_ij q_ij) + fl(r_ij s_ij), rounded, or the difference; operands may be
	// left out, and shapes may be empty.
	Map(rows, cols int, p, q, r, s, z RNSView, minus bool) error
	// Update sets z_ij for (i, j) in a triangle of n x n numbers to a sum of products of up to
	// three factors, fl(fl(t₀ + t₁) + t₂) with t = fl(fl(f₀ f₁) f₂); factors may be left out, and
	// addends without a first one. n may be 0.
	Update(t RNSTriangle, n int, terms [3][3]RNSView, z RNSView) error
	// Apply sets z_ij to an operation on x_ij, y_ij and c_ij, of which those that it has no use for
	// are left out. Shapes may be empty.
	Apply(op RNSOperation, rows, cols int, x, y, c, z RNSView) error
	// Reduce1 sets number (0, 0) of z to the recursive sum of x_i0, i < n.
	Reduce1(t RNSTeam, x RNSView, n int, z RNSView) error
	// Reduce2 sets number (0, 0) of z to the pairwise sum of x_i0, i < n, by a stack.
	Reduce2(t RNSTeam, x RNSView, n int, z RNSView) error
	// Reduce2Parallel is Reduce2 over all numbers at once.
	Reduce2Parallel(x RNSView, n int, z RNSView) error
	// Reduce3 sets z_k0, k < blocks, to what the blocks of size threads of the hybrid summation of
	// x_i0, i < n, sum; of |x_i0| for absolute, of x_i0 y_i0 if there is a y.
	Reduce3(x, y RNSView, n, blocks, size int, absolute bool, z RNSView) error
	// RowSums sets z_i0, i < rows, to the sums of x_ij, j < n, each by one block of size threads;
	// of |x_ij| for absolute, of x_ij y_j0 if there is a y; with more they are added to z.
	RowSums(x, y RNSView, rows, n, size int, absolute, more bool, z RNSView) error
	// Products sets z_ij, whose column distance is rows times the row distance, to the recursive
	// sum of x_ik y_kj, k < n, or adds the products to it one after the other.
	Products(x, y RNSView, rows, cols, n int, more bool, z RNSView) error
	// SymmetricRowSums is RowSums of products, added to z, for a symmetric x of order n whose
	// triangle t is there.
	SymmetricRowSums(t RNSTriangle, x, y RNSView, n, size int, z RNSView) error
	// SymmetricProducts is Products of x and its transpose for the triangle t of z, n x n numbers.
	SymmetricProducts(t RNSTriangle, x RNSView, n, k int, z RNSView) error
	// SparseProducts sets z_i0 to the sums of the products of row i of a sparse matrix, whose
	// numbers, unless they are doubles, are values, and x, each by size threads: thread t adds
	// those of places t, t + size, …, and their sums are added as a tree.
	SparseProducts(a RNSSparse, values, x RNSView, size int, z RNSView) error
	// Algorithm1 is y = α A x + β y by algorithm 1 of 001 as published, in ten launches, on copies
	// in the paper's layout. It returns the time of each: signs, exponents and evaluations, digits,
	// and rounding of α x, of β y and of B, and the sums; for α = 0 the three of β y. The error
	// wraps ErrBlockSize if the sums of a block do not fit its shared memory.
	Algorithm1(g RNSGemv) ([]time.Duration, error)
	// Basic is y = α A x + β y by the basic implementation of 001, each operation by one thread, on
	// copies in the paper's layout. It returns the time of each launch: β y; α x but for the
	// transpose; and the rows, in which the transpose has the products by α. For α = 0 it is β y.
	Basic(g RNSGemv) ([]time.Duration, error)
}

// RNSGemv is a product y = α A x + β y, with Aᵀ for Trans.
type RNSGemv struct {
	Trans      bool
	Rows, Cols int     // of A, not transposed
	Alpha      RNSView // left out: 0, and A and X are not read
	A, X       RNSView
	Beta       RNSView // left out: 0, and Y is not read
	Y          RNSView
	BlockSize  int // of Algorithm1: threads that sum a row
}

// RNSFormat is a format of sparse matrices; kernels know the numbers.
type RNSFormat int32

// The formats of package rns.
const (
	RNSCSR RNSFormat = iota
	RNSJAD
	RNSELL
	RNSDIA
)

// RNSLayout is what a sparse matrix of package rns has beside its numbers. Place e of row i is
//
//	CSR  Pointers[i] + e < Pointers[i+1], in column Columns[place]
//	JAD  Pointers[e] + i < Pointers[e+1], in column Columns[place]
//	ELL  e Rows + i, e < Width, in column Columns[place], none if that is negative
//	DIA  e Rows + i, e < Width, in column i + Columns[e], none if that is outside or the value is 0
type RNSLayout struct {
	Format            RNSFormat
	Rows, Cols, Width int
	Pointers          []int64
	Columns           []int32
	Order             []int32 // stored row i is row Order[i]; nil: row i
	Float64           bool    // the values are Doubles
	Doubles           []float64
}

// RNSSparse is a sparse matrix at a place.
type RNSSparse interface {
	Free()
}

// RNSKernel tells what a kernel takes, as the device's driver compiled it.
type RNSKernel struct {
	Name        string
	Threads     int     // of a block
	Registers   int     // a thread
	LocalBytes  int     // a thread
	SharedBytes int     // a block
	Occupancy   float64 // warps that run at a time, of those that a multiprocessor has room for
}
