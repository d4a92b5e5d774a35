package amx

// The product of a block of 32 x 32 int32, of packed operands whose panels hold, step of 64 k after
// step, two tiles: four accumulators, two tiles of A and two of B, so that a load serves two
// products.
const (
	// Block is the rows and the columns of a block.
	Block = 2 * Rows
	// Step is the k of a step.
	Step = RowBytes
	// StepBytes is what a step takes of a panel.
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

// Multiply adds the products of a step.
func Multiply() []Op {
	load := func(t int, base Reg, disp int32) Op {
		return Op{Kind: Load, T: t, Base: base, Stride: RegRow, Disp: disp}
	}
	dot := func(t, a, b int) Op { return Op{Kind: Dot, T: t, A: a, B: b} }
	return []Op{
		load(6, RegB, 0), load(4, RegA, 0), dot(0, 4, 6),
		load(7, RegB, Bytes), dot(1, 4, 7),
		load(5, RegA, Bytes), dot(2, 5, 6), dot(3, 5, 7),
	}
}

// Write stores the accumulators.
func Write() []Op {
	var ops []Op
	for t := range 4 {
		disp := int32(t/2*Rows*4*Block + t%2*RowBytes)
		ops = append(ops, Op{Kind: Store, T: t, Base: RegC, Stride: RegBlockRow, Disp: disp})
	}
	return ops
}
