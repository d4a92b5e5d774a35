//go:build amd64 && !purego

package direct

// tileRows2AMX is the loop of tileRows for 2 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows2AMX(job *byte) (left int)

// tileRows7AMX is the loop of tileRows for 7 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows7AMX(job *byte) (left int)

// tileRows8AMX is the loop of tileRows for 8 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows8AMX(job *byte) (left int)

// tileRows10AMX is the loop of tileRows for 10 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows10AMX(job *byte) (left int)

// tileRows12AMX is the loop of tileRows for 12 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows12AMX(job *byte) (left int)

// tileRows14AMX is the loop of tileRows for 14 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows14AMX(job *byte) (left int)

// tileRows16AMX is the loop of tileRows for 16 blocks. It stops at a unit of which numbers have no
// digits yet, with the others converted, and returns how many are left.
//
//go:noescape
func tileRows16AMX(job *byte) (left int)

// spreadDigitsAMX is spreadDigits.
//
//go:noescape
func spreadDigitsAMX(dst *int8, pitch int, digits *byte, blocks int)

// tileDot2AMX is the loop of tileDotGeneric for 2 blocks.
//
//go:noescape
func tileDot2AMX(job *byte)

// tileDot3AMX is the loop of tileDotGeneric for 3 blocks.
//
//go:noescape
func tileDot3AMX(job *byte)

// tileDot4AMX is the loop of tileDotGeneric for 4 blocks.
//
//go:noescape
func tileDot4AMX(job *byte)

// tileDot7AMX is the loop of tileDotGeneric for 7 blocks.
//
//go:noescape
func tileDot7AMX(job *byte)

// tileDot10AMX is the loop of tileDotGeneric for 10 blocks.
//
//go:noescape
func tileDot10AMX(job *byte)

// tileDot12AMX is the loop of tileDotGeneric for 12 blocks.
//
//go:noescape
func tileDot12AMX(job *byte)

// tileDot14AMX is the loop of tileDotGeneric for 14 blocks.
//
//go:noescape
func tileDot14AMX(job *byte)

// tileDot16AMX is the loop of tileDotGeneric for 16 blocks.
//
//go:noescape
func tileDot16AMX(job *byte)
