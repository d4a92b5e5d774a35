package direct

import (
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// genericTiles is the unit of all machines, in plain Go.
var genericTiles = tileUnit{run: tileRowsGeneric, spread: spreadDigits, rows: tileRows, dot: tileDotGeneric, fewProducts: fewProducts}

// withTiles runs f under every unit of tiles.
func withTiles(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func() { tilesOf, verticalUnit = machineTiles, machineUnit }()
	if machineUnit() == nil {
		u := verticalUnits["integers"]
		verticalUnit = func() *laneUnit { return u }
	}
	tilesOf = func() *tileUnit { return &genericTiles }
	t.Run("generic", f)
	if u := machineTiles(); u != nil {
		always := *u
		always.rows, always.few, always.samples, always.fewProducts = tileRows, 0, 0, fewProducts
		tilesOf = func() *tileUnit { return &always }
		t.Run("machine", f)
	}
}

// TestTileVector compares the digits of vectors with their numbers.
func TestTileVector(t *testing.T) {
	r := testseed.Rand(t, 5, 5)
	for trial := range testlength.Trials(200) {
		p := tilePlan{&genericTiles, tileBlocks[trial%len(tileBlocks)]}
		d := p.digits()
		n := quad + r.IntN(9)
		x := randomNumbers(r, num.Format{Kind: num.MP, Prec: uint32(64 * (1 + r.IntN(8)))}, n, 1)
		if r.IntN(2) == 0 {
			x.Cls[r.IntN(n)] = 0
		}
		v, scale, ok := p.vector(num.Vec{Arr: x, Inc: 1, N: n})
		if !ok {
			t.Fatal("a vector that is not finite")
		}
		bias, seen := make([]int64, d), make([]bool, n)
		for slot, s := range v.signs {
			j := quadAt(slot/quad, n) + slot%quad
			value, sum := new(big.Int), int64(0)
			for c := range d {
				// Where the first row of the number has it beside the last digit of a block.
				x := v.digits[(slot/quad*p.blocks+c/blockDigits)*tileBytes+(slot%quad*quad+3)*amx.RowBytes+c%blockDigits*4+3]
				bias[c] += sum
				sum += int64(x) << 7
				value.Add(value.Lsh(value, 8), big.NewInt(int64(x)))
			}
			want := new(big.Int)
			if s.Class() == num.Finite {
				if seen[j] || v.scale[slot] != scale[j] || scale[j] != int64(x.Exp[j]) || s != x.Cls[j] {
					t.Fatalf("trial %d: number %d is there with exponent %d and class %d", trial, j, v.scale[slot], s)
				}
				seen[j] = true
				m := x.Value(j, make([]uint64, num.MaxValueWords)).Mag
				want.Set(integerOf(m))
				want.Lsh(want, uint(8*d)).Rsh(want, uint(num.BitLen(m)+1)).Neg(want)
			}
			if value.Cmp(want) != 0 {
				t.Fatalf("trial %d: number %d of %d digits is %x, want %x", trial, j, d, value, want)
			}
		}
		for j, s := range seen {
			if !s && x.Cls[j].Class() == num.Finite {
				t.Fatalf("trial %d: number %d is not there", trial, j)
			}
		}
		if !slices.Equal(bias, v.bias) {
			t.Fatalf("trial %d: bias %v, want %v", trial, v.bias, bias)
		}
	}
}
