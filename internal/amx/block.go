package amx

// The product of a block of 32 x 32 int32, of packed operands whose panels hold, step of 64 k after
// step, two tiles: four accumulators, two tiles of A and two of B, so that a load serves two
// products.
const (
	// Block is the rows and the columns of a block.
	Block = 2 * Rows
	// Step is the k of a step.
	Step = RowBytes
	// StepBytes is the size of a step of a panel.
	StepBytes = 2 * Bytes
	// BlockBytes is the size of a block of int32, row by row.
	BlockBytes = 4 * Block * Block
)

// The registers of the program: the step of the panels of A and B, the block, and strides of
// RowBytes and of a row of the block.
const (
	RegA        = RSI
	RegB        = RDI
	RegC        = R11
	RegRow      = R12
	RegBlockRow = R13
	RegConfig   = RAX
)

// Begin configures the tiles.
func Begin() []Op { return []Op{{Kind: Configure, Base: RegConfig}} }

// End releases them.
func End() []Op { return []Op{{Kind: Release}} }

// Clear sets the accumulators to 0.
func Clear() []Op {
	return []Op{{Kind: Zero, T: 0}, {Kind: Zero, T: 1}, {Kind: Zero, T: 2}, {Kind: Zero, T: 3}}
}

// load is TILELOADD.
func load(t int, base, stride Reg, disp int32) Op {
	return Op{Kind: Load, T: t, Base: base, Stride: stride, Disp: disp}
}

// A Right is a kind of operand B.
type Right struct {
	dot    Kind
	left   Kind  // of the loads of A
	stride Reg   // of rows of its tiles
	second int32 // where the second tile is
}

var (
	// Packed operands are made like A. A panel of B stays in the first level cache while panels of
	// A pass: loads of A that also stay there push it out.
	Packed = Right{Dot, LoadOnce, RegRow, Bytes}
	// Columns are 32 columns of 64 unsigned bytes a step, in groups of four, a group of all columns
	// after the other.
	Columns = Right{DotUnsigned, Load, RegBlockRow, RowBytes}
)

func (r Right) loadA(t int, disp int32) Op {
	return Op{Kind: r.left, T: t, Base: RegA, Stride: RegRow, Disp: disp}
}

// First loads the first step.
func (r Right) First() []Op {
	return []Op{load(6, RegB, r.stride, 0), r.loadA(4, 0), r.loadA(5, Bytes), load(7, RegB, r.stride, r.second)}
}

// Next adds the products of the step that was loaded, and loads the step after the one at RegA and
// RegB. Each tile is cleared as soon as no product needs it any more, and loaded a few instructions
// later: that saves time on cores that two hardware threads share, see package modgemm.
func (r Right) Next() []Op {
	dot := func(t, a, b int) Op { return Op{Kind: r.dot, T: t, A: a, B: b} }
	zero := func(t int) Op { return Op{Kind: Zero, T: t} }
	return []Op{
		dot(0, 4, 6), dot(2, 5, 6), zero(6), dot(1, 4, 7), zero(4), load(6, RegB, r.stride, StepBytes),
		dot(3, 5, 7), zero(5), zero(7), r.loadA(4, StepBytes), r.loadA(5, StepBytes+Bytes), load(7, RegB, r.stride, StepBytes+r.second),
	}
}

// Last adds the products of the step that was loaded.
func (r Right) Last() []Op {
	dot := func(t, a, b int) Op { return Op{Kind: r.dot, T: t, A: a, B: b} }
	return []Op{dot(0, 4, 6), dot(2, 5, 6), dot(1, 4, 7), dot(3, 5, 7)}
}

// Write stores the accumulators in block i of several, one behind the other.
func Write(i int) []Op {
	var ops []Op
	for t := range 4 {
		disp := int32(i*BlockBytes + t/2*Rows*4*Block + t%2*RowBytes)
		ops = append(ops, Op{Kind: Store, T: t, Base: RegC, Stride: RegBlockRow, Disp: disp})
	}
	return ops
}
