package npy

import "hash/crc32"

// Checksums of pieces make that of a whole (M. Adler, crc32_combine of zlib): CRC-32 of A and then
// B is CRC(A) x^(8 |B|) + CRC(B) in polynomials over the field of two elements, modulo that of
// CRC-32. Bit 31 is the coefficient of x^0, as in hash/crc32.

// shifted returns the share of a piece's checksum in that of a whole in which so many bytes follow
// the piece. The sum of the shares of all pieces is the whole's: exclusive or, in any order.
func shifted(sum uint32, follow int64) uint32 {
	power := uint32(1) << 23 // x^8, then its squares
	for ; follow > 0; follow >>= 1 {
		if follow&1 != 0 {
			sum = product(sum, power)
		}
		power = product(power, power)
	}
	return sum
}

// product returns a b modulo the polynomial.
func product(a, b uint32) (p uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			p ^= b
		}
		last := b & 1 // the coefficient of x^31
		b >>= 1
		if last != 0 {
			b ^= crc32.IEEE
		}
	}
	return p
}
