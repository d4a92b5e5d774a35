//go:build amd64 && !purego

package direct

// cutVerticalIFMA is the loop of cutVertical for 8 lanes.
//
//go:noescape
func cutVerticalIFMA(job *byte)

// cutVerticalAVX2 is the loop of cutVertical for 4 lanes.
//
//go:noescape
func cutVerticalAVX2(job *byte)

// cutVertical2IFMA is the loop of cutVertical for 8 lanes and 2 digits.
//
//go:noescape
func cutVertical2IFMA(job *byte) (left int)

// cutVertical2AVX2 is the loop of cutVertical for 4 lanes and 2 digits.
//
//go:noescape
func cutVertical2AVX2(job *byte)

// cutVertical3IFMA is the loop of cutVertical for 8 lanes and 3 digits.
//
//go:noescape
func cutVertical3IFMA(job *byte) (left int)

// cutVertical3AVX2 is the loop of cutVertical for 4 lanes and 3 digits.
//
//go:noescape
func cutVertical3AVX2(job *byte)

// cutVertical4IFMA is the loop of cutVertical for 8 lanes and 4 digits.
//
//go:noescape
func cutVertical4IFMA(job *byte) (left int)

// cutVertical4AVX2 is the loop of cutVertical for 4 lanes and 4 digits.
//
//go:noescape
func cutVertical4AVX2(job *byte)

// cutVertical5IFMA is the loop of cutVertical for 8 lanes and 5 digits.
//
//go:noescape
func cutVertical5IFMA(job *byte) (left int)

// cutVertical5AVX2 is the loop of cutVertical for 4 lanes and 5 digits.
//
//go:noescape
func cutVertical5AVX2(job *byte)

// cutVertical6IFMA is the loop of cutVertical for 8 lanes and 6 digits.
//
//go:noescape
func cutVertical6IFMA(job *byte) (left int)

// cutVertical6AVX2 is the loop of cutVertical for 4 lanes and 6 digits.
//
//go:noescape
func cutVertical6AVX2(job *byte)

// cutVertical7IFMA is the loop of cutVertical for 8 lanes and 7 digits.
//
//go:noescape
func cutVertical7IFMA(job *byte) (left int)

// cutVertical7AVX2 is the loop of cutVertical for 4 lanes and 7 digits.
//
//go:noescape
func cutVertical7AVX2(job *byte)

// cutVertical8IFMA is the loop of cutVertical for 8 lanes and 8 digits.
//
//go:noescape
func cutVertical8IFMA(job *byte) (left int)

// cutVertical8AVX2 is the loop of cutVertical for 4 lanes and 8 digits.
//
//go:noescape
func cutVertical8AVX2(job *byte)

// cutVertical9IFMA is the loop of cutVertical for 8 lanes and 9 digits.
//
//go:noescape
func cutVertical9IFMA(job *byte) (left int)

// cutVertical9AVX2 is the loop of cutVertical for 4 lanes and 9 digits.
//
//go:noescape
func cutVertical9AVX2(job *byte)

// cutVertical10IFMA is the loop of cutVertical for 8 lanes and 10 digits.
//
//go:noescape
func cutVertical10IFMA(job *byte) (left int)

// cutVertical10AVX2 is the loop of cutVertical for 4 lanes and 10 digits.
//
//go:noescape
func cutVertical10AVX2(job *byte)

// cutVertical11IFMA is the loop of cutVertical for 8 lanes and 11 digits.
//
//go:noescape
func cutVertical11IFMA(job *byte) (left int)

// cutVertical11AVX2 is the loop of cutVertical for 4 lanes and 11 digits.
//
//go:noescape
func cutVertical11AVX2(job *byte)

// cutVertical12IFMA is the loop of cutVertical for 8 lanes and 12 digits.
//
//go:noescape
func cutVertical12IFMA(job *byte) (left int)

// cutVertical12AVX2 is the loop of cutVertical for 4 lanes and 12 digits.
//
//go:noescape
func cutVertical12AVX2(job *byte)

// cutVertical13IFMA is the loop of cutVertical for 8 lanes and 13 digits.
//
//go:noescape
func cutVertical13IFMA(job *byte) (left int)

// cutVertical13AVX2 is the loop of cutVertical for 4 lanes and 13 digits.
//
//go:noescape
func cutVertical13AVX2(job *byte)

// cutVertical14IFMA is the loop of cutVertical for 8 lanes and 14 digits.
//
//go:noescape
func cutVertical14IFMA(job *byte) (left int)

// cutVertical14AVX2 is the loop of cutVertical for 4 lanes and 14 digits.
//
//go:noescape
func cutVertical14AVX2(job *byte)

// cutVertical15IFMA is the loop of cutVertical for 8 lanes and 15 digits.
//
//go:noescape
func cutVertical15IFMA(job *byte) (left int)

// cutVertical15AVX2 is the loop of cutVertical for 4 lanes and 15 digits.
//
//go:noescape
func cutVertical15AVX2(job *byte)

// cutVertical16IFMA is the loop of cutVertical for 8 lanes and 16 digits.
//
//go:noescape
func cutVertical16IFMA(job *byte) (left int)

// cutVertical16AVX2 is the loop of cutVertical for 4 lanes and 16 digits.
//
//go:noescape
func cutVertical16AVX2(job *byte)

// cutVertical17IFMA is the loop of cutVertical for 8 lanes and 17 digits.
//
//go:noescape
func cutVertical17IFMA(job *byte) (left int)

// cutVertical17AVX2 is the loop of cutVertical for 4 lanes and 17 digits.
//
//go:noescape
func cutVertical17AVX2(job *byte)

// cutVertical18IFMA is the loop of cutVertical for 8 lanes and 18 digits.
//
//go:noescape
func cutVertical18IFMA(job *byte) (left int)

// cutVertical18AVX2 is the loop of cutVertical for 4 lanes and 18 digits.
//
//go:noescape
func cutVertical18AVX2(job *byte)

// verticalAxpy1IFMA is the loop of mulVertical for 1 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy1IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy1AVX2 is the loop of mulVertical for 1 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy1AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy2IFMA is the loop of mulVertical for 2 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy2IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy2AVX2 is the loop of mulVertical for 2 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy2AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy3IFMA is the loop of mulVertical for 3 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy3IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy3AVX2 is the loop of mulVertical for 3 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy3AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy4IFMA is the loop of mulVertical for 4 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy4IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy4AVX2 is the loop of mulVertical for 4 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy4AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy5IFMA is the loop of mulVertical for 5 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy5IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy5AVX2 is the loop of mulVertical for 5 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy5AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy6IFMA is the loop of mulVertical for 6 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy6IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy6AVX2 is the loop of mulVertical for 6 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy6AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy7IFMA is the loop of mulVertical for 7 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy7IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy7AVX2 is the loop of mulVertical for 7 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy7AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy8IFMA is the loop of mulVertical for 8 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy8IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy8AVX2 is the loop of mulVertical for 8 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy8AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalAxpy9IFMA is the loop of mulVertical for 9 columns and eight lanes. Pitches count bytes. Unless accPitch is 0 every vector of numbers has its own sums.
//
//go:noescape
func verticalAxpy9IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int, accPitch int)

// verticalAxpy9AVX2 is the loop of mulVertical for 9 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalAxpy9AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot1IFMA is the loop of mulVertical for 1 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot1IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot1AVX2 is the loop of mulVertical for 1 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot1AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot2IFMA is the loop of mulVertical for 2 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot2IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot2AVX2 is the loop of mulVertical for 2 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot2AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot3IFMA is the loop of mulVertical for 3 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot3IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot3AVX2 is the loop of mulVertical for 3 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot3AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot4IFMA is the loop of mulVertical for 4 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot4IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot4AVX2 is the loop of mulVertical for 4 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot4AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot5IFMA is the loop of mulVertical for 5 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot5IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot5AVX2 is the loop of mulVertical for 5 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot5AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot6IFMA is the loop of mulVertical for 6 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot6IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot6AVX2 is the loop of mulVertical for 6 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot6AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot7IFMA is the loop of mulVertical for 7 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot7IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot7AVX2 is the loop of mulVertical for 7 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot7AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot8IFMA is the loop of mulVertical for 8 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot8IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot8AVX2 is the loop of mulVertical for 8 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot8AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot9IFMA is the loop of mulVertical for 9 columns and eight lanes. Pitches count bytes.
//
//go:noescape
func verticalDot9IFMA(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// verticalDot9AVX2 is the loop of mulVertical for 9 columns and four lanes. Pitches count bytes.
//
//go:noescape
func verticalDot9AVX2(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n int, first int, digits int, soon uintptr, soonPitch int, soonLines int)

// roundVerticalIFMA is the loop of roundVertical for eight lanes.
//
//go:noescape
func roundVerticalIFMA(job *byte)
