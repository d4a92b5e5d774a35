package tiles

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Dot products on tiles: digits are bytes, B = 2^8, and a tile multiplies 16 digits of each of 64
// numbers of x with 16 digits of the corresponding numbers of y, and adds up the products of all
// 64. Sums with the same place value are added up at the end, once for many numbers.
//
// P is the reference exponent. The product of x = X 2^e and y = Y 2^f, 1/2 <= X, Y < 1, is the
// product of the D digits t of X 2^-d, d = P - e - f, and the D digits of Y. For a negative product
// the digits t are replaced by their complements B-1-t, which form B^D-1-t, and B^D Y is
// subtracted. Blocks u and v of 16 digits, the first one highest, are multiplied where u + v <
// D/16. In units of B^-D 2^P the error of a product is less than
//
//	1 + 1	(digits cut off either factor, times the other factor, less than 1; the complement is one less)
//	D - 1	(omitted products of digits, D or more places below the first: at most D-1-k of
//			 them at place D+k, each at most (B-1)^2)
//
// hence less than D + 1.
const (
	// tileNumbers is the number of numbers in a tile.
	tileNumbers = amx.RowBytes
	// farNumbers is the largest number of products of a chunk that are added one by one, which
	// takes tens of times as long.
	farNumbers = DotChunk / 128
	// leastTileDot is the number of products from which tiles are faster. Columns and room are
	// prepared and added up once for each chunk.
	leastTileDot = 1024
)

// tileDotBlocks has, for a number of blocks that is needed, that which is taken, or 0 where
// vertical digits take less time on cores whose other hardware thread uses tiles, too: there 530,
// 650 and 1000 bits took 1.1 to 1.2 times as long, and 424 and 848 as long. On cores whose other
// hardware thread is idle all of them took 0.65 to 0.85 of the time.
var tileDotBlocks = [...]int{0, 0, 2, 3, 4, 0, 0, 7, 0, 9, 10, 11, 12, 13, 14, 15, mostDotBlocks}

const mostDotBlocks = 16

// The sums of a chunk's products fit in uint32: a product of numbers adds at most as many products
// of digits to a sum as there are blocks.
const _ = uint32(mostDotBlocks * DotChunk * (1<<8 - 1) * (1<<8 - 1))

// PlanDot returns a plan for the sum of n products of numbers of formats a and b that is rounded to
// p bits, with ten guard bits. It is not ok if tiles do not support the formats or are slower.
func PlanDot(a, b num.Format, p, n int) (t Plan, ok bool) {
	u := tilesOf()
	if u == nil || p <= leastTileBits || n < u.FewProducts || n > mostTileTerms || a.Kind != num.MP || b.Kind != num.MP || min(a.Limbs(), b.Limbs()) < 2 {
		return t, false
	}
	for b, use := range tileDotBlocks {
		if 8*blockDigits*b >= p+bits.Len(uint(n))/2+10+bits.Len(uint(blockDigits*b+1)) {
			return Plan{u, use}, use != 0
		}
	}
	return t, false
}

// dotBound bounds the error of a product, in units of the last digit of a number.
func (t Plan) dotBound() uint64 { return uint64(t.Digits() + 1) }

// DotCost estimates the time of a product of two numbers, in ns.
func (t Plan) DotCost() float64 {
	b := float64(t.Blocks)
	return 0.96 + 0.82*b + 0.1*b*b // may fuse: an estimate
}

// tileDotJob describes the products that a unit adds up; the assembly depends on its layout.
type tileDotJob struct {
	room    unsafe.Pointer
	x       unsafe.Pointer // the two highest words of the first number
	xNumber int            // bytes from a number to the next
	xPairs  int            // of words, from the highest on
	xOdd    int            // 1 if there is one more word
	y       unsafe.Pointer
	yNumber int
	yPairs  int
	yOdd    int
	exp     unsafe.Pointer // int32, of x
	xCls    unsafe.Pointer // uint8
	yCls    unsafe.Pointer
	scale   unsafe.Pointer // int64, exponents of y, superacc.NoScale for products of 0
	ref     int64
	limit   int            // bits of D digits
	far     unsafe.Pointer // a byte for eight numbers, with bits for those with 64 <= d < limit
	steps   int            // of 64 numbers
	blocks  int
	first   int            // of amx.FirstBand
	shares  unsafe.Pointer // of the work on tiles, see dotShares
}

// tileDotShares says, for a number of blocks, how digits of 64 numbers are multiplied while others
// are made: for each block of x, then of y, how many steps of bands follow it (see package amx),
// and then how many there are. For few blocks it is which part of the products, as the assembly
// has them, and then a number that stands for all.
var tileDotShares = func() (shares [mostDotBlocks + 1][2*mostDotBlocks + 1]uint8) {
	for n := range shares {
		if n <= amx.MaxTriangle {
			for i := range shares[n] {
				shares[n][i] = uint8(i)
			}
			continue
		}
		steps := 0
		for first := amx.FirstBand(n); first < n; first += amx.BandSums {
			steps += first + amx.BandSums
		}
		done := 0
		for i := range 2 * n {
			// A block of x takes about 5/3 times as long as one of y.
			upTo := 5*min(i+1, n) + 3*max(0, i+1-n)
			k := steps * upTo / (8 * n)
			shares[n][i] = uint8(k - done)
			done = k
		}
		shares[n][2*n] = uint8(steps)
	}
	return shares
}()

// The room of a job begins with what the assembly keeps. Behind it are the sums of the digits of y
// of negative products, negated, int32, and those of products, uint32, of blocks one after the
// other, from the highest on. Of a block the digit or row of lowest place is first. The last ones
// are digits of 64 numbers x and y, and of the 64 before, which are multiplied meanwhile.
const roomOffsets = 3136

func (j *tileDotJob) negatives() []int32 {
	return unsafe.Slice((*int32)(unsafe.Add(j.room, roomOffsets)), blockDigits*j.blocks)
}

func (j *tileDotJob) sums() []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Add(j.room, roomOffsets+blockDigits*4*j.blocks)), TileBytes/4*j.blocks)
}

// tileDotRoom returns the number of words of a room.
func (t Plan) tileDotRoom() int { return (roomOffsets + t.Blocks*(blockDigits*4+5*TileBytes)) / 8 }

// tileDotGeneric adds up the products of a job, number by number. Products that are far below the
// reference, or below all digits, count as 0.
func tileDotGeneric(j *tileDotJob) {
	n := blockDigits * j.blocks
	sums, negatives := j.sums(), j.negatives()
	far := unsafe.Slice((*uint8)(j.far), j.steps*tileNumbers/8)
	clear(far)
	t, s := make([]uint8, n), make([]uint8, n)
	for i := range j.steps * tileNumbers {
		d := j.ref - int64(*(*int32)(unsafe.Add(j.exp, 4*i))) - *(*int64)(unsafe.Add(j.scale, 8*i))
		if uint64(d) >= 64 {
			if uint64(d) < uint64(j.limit) {
				far[i/8] |= 1 << (i % 8)
			}
			continue
		}
		neg := (*(*uint8)(unsafe.Add(j.xCls, i))^*(*uint8)(unsafe.Add(j.yCls, i)))&1 != 0
		digitsOf(t, unsafe.Add(j.x, i*j.xNumber), 2*j.xPairs+j.xOdd, d)
		digitsOf(s, unsafe.Add(j.y, i*j.yNumber), 2*j.yPairs+j.yOdd, 0)
		if neg {
			for k := range t {
				t[k] = ^t[k]
			}
			for k, v := range s {
				negatives[n-blockDigits*(k/blockDigits+1)+k%blockDigits] -= int32(v)
			}
		}
		for w := range j.blocks {
			for u := range w + 1 {
				a, b := t[n-blockDigits*(u+1):][:blockDigits], s[n-blockDigits*(w-u+1):][:blockDigits]
				for r, x := range a {
					row := sums[w*TileBytes/4+r*blockDigits:][:blockDigits]
					for c, y := range b {
						row[c] += uint32(x) * uint32(y)
					}
				}
			}
		}
	}
}

// digitsOf stores the digits, the lowest first, of a number of words words, shifted by d bits. The
// two highest words lie at top.
func digitsOf(to []uint8, top unsafe.Pointer, words int, d int64) {
	sig := unsafe.Slice((*uint64)(unsafe.Add(top, 16-8*words)), words)
	for k := range to {
		to[k] = uint8(num.WordAt(sig, int64(64*words-8*(len(to)-k))+d))
	}
}

// Dot sums the products of two vectors on tiles.
type Dot struct {
	Plan    Plan
	room    tileRoom
	far     [DotChunk / 8]uint8
	columns []int64
	mag     []uint64
	// Numbers after the last whole step.
	x, y  *num.Array
	scale [tileNumbers]int64
}

// NewDot returns a Dot for plan t.
func NewDot(t Plan) *Dot {
	return &Dot{
		Plan: t, room: newRoom(&dotRooms, t.tileDotRoom()), columns: make([]int64, t.Digits()+blockDigits),
		mag: make([]uint64, t.MagWords()+blockDigits/8),
	}
}

// Free returns the memory to the pool.
func (s *Dot) Free() { dotRooms.Put(&s.room) }

// Add adds the sum of the products of the numbers of x and y to acc, and a bound on its error to
// bound. scale has the exponents of y, superacc.NoScale for products that are 0. It returns false,
// and adds nothing, if too many numbers are far below the largest.
func (s *Dot) Add(acc, bound *superacc.Acc, x, y num.Vec, ref int64, scale []int64) bool {
	t := s.Plan
	j := &tileDotJob{
		room: unsafe.Pointer(&s.room[0]), ref: ref, limit: 8 * t.Digits(), far: unsafe.Pointer(&s.far[0]), blocks: t.Blocks,
	}
	clear(j.negatives())
	clear(j.sums())
	n := x.N &^ (tileNumbers - 1)
	if n > 0 {
		j.run(t, x.Arr, x.Off, y.Arr, y.Off, scale[:n])
	}
	if k := x.N - n; k > 0 {
		if s.x == nil {
			s.x, s.y = num.New(x.Arr.Format, tileNumbers), num.New(y.Arr.Format, tileNumbers)
		}
		for i := range s.scale {
			s.scale[i] = superacc.NoScale
		}
		copy(s.scale[:], scale[n:x.N])
		for i := range k {
			s.x.CopyFrom(i, x.Arr, x.Off+n+i)
			s.y.CopyFrom(i, y.Arr, y.Off+n+i)
		}
		j.far = unsafe.Pointer(&s.far[n/8])
		j.run(t, s.x, 0, s.y, 0, s.scale[:])
	}
	many := 0
	for _, f := range s.far[:(x.N+7)/8] {
		many += bits.OnesCount8(f)
	}
	if many > farNumbers {
		return false
	}
	if many > 0 {
		for i := range x.N {
			if s.far[i/8]>>(i%8)&1 != 0 {
				acc.AddDot(x.Slice(i, i+1), y.Slice(i, i+1))
			}
		}
	}
	// Columns from the lowest on, which has place 16 (blocks - 1).
	clear(s.columns)
	for w := range t.Blocks {
		to, sums := s.columns[blockDigits*(t.Blocks-1-w):], j.sums()[w*TileBytes/4:]
		for r := range blockDigits {
			to, row := (*[blockDigits]int64)(to[r:]), (*[blockDigits]uint32)(sums[blockDigits*r:])
			for c, v := range row {
				to[c] += int64(v)
			}
		}
		to = s.columns[blockDigits*(t.Blocks-w):]
		for c, v := range j.negatives()[blockDigits*w:][:blockDigits] {
			to[c] += int64(v)
		}
	}
	slices.Reverse(s.columns)
	clear(s.mag)
	if m, neg := valueOfBytes(s.mag, s.columns); len(m) > 0 {
		acc.AddMag(neg, ref-int64(8*len(s.columns)), m)
	}
	bound.AddMag(false, ref-int64(8*t.Digits()), []uint64{uint64(x.N) * t.dotBound()})
	return true
}

// run adds the products of len(scale) numbers, from number x of a and number y of b on.
func (j *tileDotJob) run(t Plan, a *num.Array, x int, b *num.Array, y int, scale []int64) {
	words := func(a *num.Array, at int) (top unsafe.Pointer, number, pairs, odd int) {
		l := a.Limbs()
		used := min(l, 2*t.Blocks)
		return unsafe.Pointer(&a.Sig[(at+1)*l-2]), 8 * l, used / 2, used % 2
	}
	j.x, j.xNumber, j.xPairs, j.xOdd = words(a, x)
	j.y, j.yNumber, j.yPairs, j.yOdd = words(b, y)
	j.exp, j.xCls, j.yCls = unsafe.Pointer(&a.Exp[x]), unsafe.Pointer(&a.Cls[x]), unsafe.Pointer(&b.Cls[y])
	j.scale, j.steps = unsafe.Pointer(&scale[0]), len(scale)/tileNumbers
	j.first, j.shares = amx.FirstBand(t.Blocks), unsafe.Pointer(&tileDotShares[t.Blocks][0])
	t.Unit.dot(j)
}

// DotChunk is the number of products that share a reference exponent.
const DotChunk = 1 << 12
