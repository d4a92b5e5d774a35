package npy

import "hash/crc32"

// The checksums of pieces determine the checksum of the whole (M. Adler, crc32_combine of zlib).
// The CRC-32 of A followed by B is CRC(A) x^(8 |B|) + CRC(B), for polynomials over the field of two
// elements modulo the CRC-32 polynomial. Bit 31 is the coefficient of x^0, as in hash/crc32.

// shifted returns the share of a piece's checksum sum in the checksum of a whole in which follow
// bytes follow the piece. The exclusive or of the shares of all pieces, in any order, is the
// checksum of the whole.
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

// product returns a b modulo the CRC-32 polynomial.
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
