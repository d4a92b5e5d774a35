package amx

import "slices"

// A Triangle is a product of numbers in digits, of which the leading half counts: block v, of n, of
// the sums takes the products of blocks u <= v of A with blocks v-u of B, each block a tile.
//
// All blocks of sums are held in tiles at once: Load reads the sums, Step adds the products of
// operands of 64 k, which lie at RegA and RegB, and Store writes the sums, which lie at RegC. More
// blocks are taken in bands, see BandStep.
type Triangle struct {
	Load, Step, Store []Op
}

// MaxTriangle is the most blocks of a Triangle.
const MaxTriangle = 4

const ahead = 2 // products from a load to that which needs it

// NewTriangle returns the program for n blocks, with products of a kind.
func NewTriangle(n int, dot Kind) (t Triangle) {
	type block struct { // of an operand
		base Reg
		i    int
	}
	type product struct {
		sum  int
		a, b block
	}
	var products []product
	for u := range n {
		for i := u; i < n; i++ {
			products = append(products, product{i, block{RegA, u}, block{RegB, i - u}})
		}
	}
	for i := range n {
		disp := int32(i * Bytes)
		t.Load = append(t.Load, load(i, RegC, RegRow, disp))
		t.Store = append(t.Store, Op{Kind: Store, T: i, Base: RegC, Stride: RegRow, Disp: disp})
	}
	// The other tiles hold blocks of the operands. A block takes the place of that which is needed
	// again the latest.
	var held [tiles]block
	have := func(b block) int {
		for r := n; r < tiles; r++ {
			if held[r] == b {
				return r
			}
		}
		return -1
	}
	for k, p := range products {
		next := func(b block) int {
			for i, q := range products[k:] {
				if q.a == b || q.b == b {
					return i
				}
			}
			return len(products)
		}
		for _, b := range []block{p.a, p.b} {
			if have(b) >= 0 {
				continue
			}
			to, latest := 0, -1
			for r := n; r < tiles; r++ {
				if n := next(held[r]); n > latest {
					to, latest = r, n
				}
			}
			// A tile is cleared as soon as it may be, see Right.Next, and loaded some products
			// before that which needs it.
			last, dots := -1, 0
			for i, o := range t.Step {
				if o.Kind == dot && (o.A == to || o.B == to) {
					last = i
				}
			}
			at := len(t.Step)
			for at > last+1 && dots < ahead {
				at--
				if t.Step[at].Kind == dot {
					dots++
				}
			}
			t.Step = slices.Insert(t.Step, at, load(to, b.base, RegRow, int32(b.i*Bytes)))
			if held[to] != (block{}) {
				t.Step = slices.Insert(t.Step, last+1, Op{Kind: Zero, T: to})
			}
			held[to] = b
		}
		t.Step = append(t.Step, Op{Kind: dot, T: p.sum, A: have(p.a), B: have(p.b)})
	}
	return t
}
