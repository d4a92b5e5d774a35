package place

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// ErrModuli is wrapped by errors about moduli that a place does not support.
var ErrModuli = errors.New("moduli unfit for the device")

// ErrBlockSize is wrapped by errors about blocks of threads that are too large for a place.
var ErrBlockSize = errors.New("block too large for the device")

// RNS is the interface of places that package rns calls.
type RNS interface {
	// Base returns the base with these moduli at p. It calls constants if p has not seen the base
	// before. The error wraps ErrModuli if p does not support these moduli.
	Base(ctx context.Context, p Place, moduli []uint32, constants func() RNSConstants) (RNSBase, error)
}

// RNSConstants describes a base of package rns.
type RNSConstants struct {
	Moduli   []uint32
	Weights  []uint32   // (M/m_i)^-1 mod m_i
	Low      [][]uint32 // Low[a][i] is word a, of WordBits bits, of M/m_i
	NegM     []uint32   // words of -M, as many as Low has
	WordBits int        // a residue times a word, summed over moduli, is below 2^63
	Bits     int        // of M

	MLo, MUp, Half, Lim, Target, SumLim RNSFloat
	Slack                               int

	ILo, IUp       RNSFloat // 1/M
	MaxSignificand uint64   // largest significand of a number; 0: it has more than 53 bits
}

// RNSFloat is F·2^I.
type RNSFloat struct {
	F float64
	I int32
	_ int32
}

// RNSHead is a number without its residues: the interval evaluation from Lo·2^LoI to Up·2^UpI, the
// exponent and the sign.
type RNSHead struct {
	Lo, Up        float64
	LoI, UpI      int32
	Exp, Negative int32
}

// RNSView is a matrix view of an array: entry (i, j) is number Off + i RS + j CS.
type RNSView struct {
	Array       num.Storage // nil: the operand is absent
	Off, RS, CS int
}

// T exchanges the indices.
func (v RNSView) T() RNSView { return RNSView{v.Array, v.Off, v.CS, v.RS} }

// RNSTriangle is a triangle of a square matrix, with the diagonal, or the whole matrix.
type RNSTriangle int32

// The triangles.
const (
	RNSWhole RNSTriangle = iota
	RNSUpper
	RNSLower
)

// RNSOperation is an entrywise operation other than sums and products.
type RNSOperation int32

// The operations: x / y, √x, and x y + c with one rounding.
const (
	RNSQuotient RNSOperation = iota
	RNSRoot
	RNSFMA
)

// RNSTeam selects the threads that carry out a chain of dependent additions.
type RNSTeam int

// The teams: one thread, or the widest possible group of threads.
const (
	RNSOne RNSTeam = iota
	RNSGroup
)

// RNSBase is a base at a place. Its results have the same bits as the results of package rns.
type RNSBase interface {
	// Model is the name of the device as its maker calls it.
	Model() string
	// Kernels returns the resources that the kernels for the base use.
	Kernels(ctx context.Context) ([]RNSKernel, error)
	// New returns n zeros that live at the place.
	New(ctx context.Context, n int) (num.Storage, error)
	// Run calls f, which queues computations, and returns when all of them are done. Storage from
	// RNSQueue.New takes at most limit bytes; 0: all available memory. If the context is cancelled,
	// also between computations, Run returns its error. The error wraps ErrMemory if memory is
	// short.
	Run(ctx context.Context, limit int64, f func(q RNSQueue) error) error
}

// RNSQueue queues computations with numbers that live at a place. Operations are rounded like those
// of rns.Number and are carried out in the order that each method states. Shapes are not empty
// unless a method says that they may be.
type RNSQueue interface {
	// New returns n numbers with unspecified values. They are valid until the run ends.
	New(n int) (num.Storage, error)
	// Load returns copies of n numbers of the host. They are valid until the run ends.
	Load(n int, digits []uint32, head func(i int) RNSHead) (num.Storage, error)
	// Set copies rows x cols numbers of the host, stored by columns as residues and heads, to z.
	// Shapes may be empty.
	Set(z RNSView, rows, cols int, digits []uint32, head func(i int) RNSHead) error
	// Get is the inverse of Set.
	Get(x RNSView, rows, cols int, digits []uint32, put func(i int, h RNSHead)) error
	// Sparse copies the layout of a sparse matrix, everything except its numbers, to the place.
	// Free releases it.
	Sparse(a RNSLayout) (RNSSparse, error)

	// Map sets z_ij = fl(fl(p_ij q_ij) + fl(r_ij s_ij)), or the rounded difference for minus.
	// Operands may be absent, and shapes may be empty.
	Map(rows, cols int, p, q, r, s, z RNSView, minus bool) error
	// Update sets z_ij, for (i, j) in a triangle of n x n numbers, to fl(fl(t₀ + t₁) + t₂), with t
	// = fl(fl(f₀ f₁) f₂) for the three factors of each term. Factors may be absent; a term whose
	// first factor is absent is left out of the sum. n may be 0.
	Update(t RNSTriangle, n int, terms [3][3]RNSView, z RNSView) error
	// Apply sets z_ij to an operation on x_ij, y_ij and c_ij. Operands that the operation does not
	// use are absent. Shapes may be empty.
	Apply(op RNSOperation, rows, cols int, x, y, c, z RNSView) error
	// Reduce1 sets number (0, 0) of z to the recursive sum of x_i0, i < n.
	Reduce1(t RNSTeam, x RNSView, n int, z RNSView) error
	// Reduce2 sets number (0, 0) of z to the pairwise sum of x_i0, i < n, by a stack.
	Reduce2(t RNSTeam, x RNSView, n int, z RNSView) error
	// Reduce2Parallel is Reduce2 with all numbers processed in parallel.
	Reduce2Parallel(x RNSView, n int, z RNSView) error
	// Reduce3 sets z_k0, k < blocks, to the partial sums that the blocks of size threads compute in
	// the hybrid summation of x_i0, i < n; of |x_i0| for absolute; of x_i0 y_i0 if y is present.
	Reduce3(x, y RNSView, n, blocks, size int, absolute bool, z RNSView) error
	// RowSums sets z_i0, i < rows, to the sum of x_ij, j < n, computed by one block of size
	// threads; of |x_ij| for absolute; of x_ij y_j0 if y is present. With more the sums are added
	// to z.
	RowSums(x, y RNSView, rows, n, size int, absolute, more bool, z RNSView) error
	// Products sets z_ij to the recursive sum of x_ik y_kj, k < n; with more it adds the products
	// to z_ij one after the other. The column distance of z is rows times its row distance.
	Products(x, y RNSView, rows, cols, n int, more bool, z RNSView) error
	// SymmetricRowSums adds the products of x and y to z like RowSums, for a symmetric x of order n
	// of which only triangle t is stored.
	SymmetricRowSums(t RNSTriangle, x, y RNSView, n, size int, z RNSView) error
	// SymmetricProducts computes triangle t of the n x n numbers z like Products of x and its
	// transpose.
	SymmetricProducts(t RNSTriangle, x RNSView, n, k int, z RNSView) error
	// SparseProducts sets z_i0 to the sum of the products of row i of a sparse matrix and x. The
	// numbers of the matrix are values unless they are doubles. size threads compute each sum:
	// thread t adds the products of places t, t + size, …, and the sums of the threads are added as
	// a tree.
	SparseProducts(a RNSSparse, values, x RNSView, size int, z RNSView) error
	// Algorithm1 computes y = α A x + β y by algorithm 1 of 001 as published, in ten launches, on
	// copies in the paper's layout. It returns the time of each launch: three launches (signs,
	// exponents and evaluations; digits; rounding) for each of α x, β y and B, and then the sums.
	// For α = 0 there are only the three launches of β y. The error wraps ErrBlockSize if the sums
	// of a block do not fit its shared memory.
	Algorithm1(g RNSGemv) ([]time.Duration, error)
	// Basic computes y = α A x + β y by the basic implementation of 001, each operation by one
	// thread, on copies in the paper's layout. It returns the time of each launch: β y; α x, unless
	// A is transposed; and the rows, which for the transpose include the products by α. For α = 0
	// there is only the launch of β y.
	Basic(g RNSGemv) ([]time.Duration, error)
}

// RNSGemv is a product y = α A x + β y, with Aᵀ for Trans.
type RNSGemv struct {
	Trans      bool
	Rows, Cols int     // of A, not transposed
	Alpha      RNSView // absent: 0, and A and X are not read
	A, X       RNSView
	Beta       RNSView // absent: 0, and Y is not read
	Y          RNSView
	BlockSize  int // of Algorithm1: the number of threads that sum a row
}

// RNSFormat is a format of sparse matrices. The kernels use the same numbers.
type RNSFormat int32

// The formats of package rns.
const (
	RNSCSR RNSFormat = iota
	RNSJAD
	RNSELL
	RNSDIA
)

// RNSLayout is the layout of a sparse matrix of package rns, everything except its numbers. Place e
// of row i is
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

// RNSKernel lists the resources that a kernel uses, as the device's driver compiled it.
type RNSKernel struct {
	Name        string
	Threads     int     // of a block
	Registers   int     // a thread
	LocalBytes  int     // a thread
	SharedBytes int     // a block
	Occupancy   float64 // resident warps as a fraction of a multiprocessor's maximum
}
