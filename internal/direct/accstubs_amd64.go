//go:build amd64 && !purego

package direct

// spanAVX2 is the loop of span: the extremes of every eighth exponent. n is a positive multiple of 8.
//
//go:noescape
func spanAVX2(exp *int32, cls *uint8, n int, low *[8]int32, high *[8]int32) (odd uint64)

// sumLimbsBMI2 is the loop of sumLimbs. n and limbs are positive, pitch counts bytes.
//
//go:noescape
func sumLimbsBMI2(acc *uint64, pitch int, sig *uint64, exp *int32, cls *uint8, n int, limbs int, base int64)

// sumRowsAVX2 is the loop of sumRows. n and limbs are positive, half counts bytes; the rows reach three words further than the numbers.
//
//go:noescape
func sumRowsAVX2(rows *uint64, used *[128]uint8, half int, sig *uint64, exp *int32, cls *uint8, n int, limbs int, base int64, signs uint64)

// sumRowsNear4AVX2 is the loop of sumRows for finite numbers of 4 words, those of odd index in other rows: their sums need not wait for those before. table has, for every exponent from low on and both signs, the bytes to where a number goes, used a byte that is set then. n is positive and even, half counts bytes.
//
//go:noescape
func sumRowsNear4AVX2(rows *uint64, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)

// sumRowsNear5AVX2 is the loop of sumRows for finite numbers of 5 words, those of odd index in other rows: their sums need not wait for those before. table has, for every exponent from low on and both signs, the bytes to where a number goes, used a byte that is set then. n is positive and even, half counts bytes.
//
//go:noescape
func sumRowsNear5AVX2(rows *uint64, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)

// sumRowsNear6AVX2 is the loop of sumRows for finite numbers of 6 words, those of odd index in other rows: their sums need not wait for those before. table has, for every exponent from low on and both signs, the bytes to where a number goes, used a byte that is set then. n is positive and even, half counts bytes.
//
//go:noescape
func sumRowsNear6AVX2(rows *uint64, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)

// sumRowsNear7AVX2 is the loop of sumRows for finite numbers of 7 words, those of odd index in other rows: their sums need not wait for those before. table has, for every exponent from low on and both signs, the bytes to where a number goes, used a byte that is set then. n is positive and even, half counts bytes.
//
//go:noescape
func sumRowsNear7AVX2(rows *uint64, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)

// sumRowsNear8AVX2 is the loop of sumRows for finite numbers of 8 words, those of odd index in other rows: their sums need not wait for those before. table has, for every exponent from low on and both signs, the bytes to where a number goes, used a byte that is set then. n is positive and even, half counts bytes.
//
//go:noescape
func sumRowsNear8AVX2(rows *uint64, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64)

// sumDigits1IFMA is the loop of sumDigits for numbers of that many words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigits1IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigits2IFMA is the loop of sumDigits for numbers of that many words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigits2IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigits4IFMA is the loop of sumDigits for numbers of that many words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigits4IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigitsRows1IFMA is the loop of sumDigits for numbers of 3 to 8 words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigitsRows1IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigitsRows2IFMA is the loop of sumDigits for numbers of 9 to 16 words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigitsRows2IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigitsRows3IFMA is the loop of sumDigits for numbers of 17 to 24 words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigitsRows3IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumDigitsRows4IFMA is the loop of sumDigits for numbers of 25 to 32 words. n is a positive multiple of 8; out is aligned, with 16 words before those of the loop.
//
//go:noescape
func sumDigitsRows4IFMA(out *uint64, sig *uint64, exp *int32, cls *uint8, n int, limbs int, low int64, signs uint64)

// sumNear1BMI2 is the loop of sumNear for limbs = 1. n is positive.
//
//go:noescape
func sumNear1BMI2(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear2BMI2 is the loop of sumNear for limbs = 2. n is positive.
//
//go:noescape
func sumNear2BMI2(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear3BMI2 is the loop of sumNear for limbs = 3. n is positive.
//
//go:noescape
func sumNear3BMI2(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear4BMI2 is the loop of sumNear for limbs = 4. n is positive.
//
//go:noescape
func sumNear4BMI2(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// wordDotAVX2 is the loop of wordDot for up to wordGroups groups of four words, one at least.
//
//go:noescape
func wordDotAVX2(w *uint64, parts *uint64, groups int, out *[6]uint64)
