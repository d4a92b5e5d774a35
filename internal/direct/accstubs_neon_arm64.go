//go:build arm64 && !purego

package direct

// spanNEON is the loop of span: the extremes of every eighth exponent. n is a positive multiple of 8.
//
//go:noescape
func spanNEON(exp *int32, cls *uint8, n int, low, high *[8]int32) (odd uint64)

// sumLimbsNEON is the loop of sumLimbs. n and limbs are positive, pitch counts bytes.
//
//go:noescape
func sumLimbsNEON(acc *uint64, pitch int, sig *uint64, exp *int32, cls *uint8, n, limbs int, base int64)

// sumNear1NEON is the loop of sumNear for limbs = 1. n is positive.
//
//go:noescape
func sumNear1NEON(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear2NEON is the loop of sumNear for limbs = 2. n is positive.
//
//go:noescape
func sumNear2NEON(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear3NEON is the loop of sumNear for limbs = 3. n is positive.
//
//go:noescape
func sumNear3NEON(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)

// sumNear4NEON is the loop of sumNear for limbs = 4. n is positive.
//
//go:noescape
func sumNear4NEON(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64)
