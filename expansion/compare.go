package expansion

import (
	"cmp"
	"math"
)

// Cmp returns -1, 0 or +1 as a < b, a = b or a > b, exactly. As in [cmp.Compare], NaN equals NaN
// and is less than any other number, and -0 equals +0.
func (a DD) Cmp(b DD) int {
	if a[0] == b[0] {
		return cmp.Compare(a[1], b[1])
	}
	return cmp.Compare(a[0], b[0])
}

// Cmp compares a and b exactly: see [DD.Cmp].
func (a TD) Cmp(b TD) int {
	if ordinary(a[0]) && ordinary(b[0]) {
		return cmp.Compare(a.Sub(b)[0], 0)
	}
	return cmp.Compare(a[0], b[0])
}

// Cmp compares a and b exactly: see [DD.Cmp].
func (a QD) Cmp(b QD) int {
	if ordinary(a[0]) && ordinary(b[0]) {
		return cmp.Compare(a.Sub(b)[0], 0)
	}
	return cmp.Compare(a[0], b[0])
}

// Equal reports whether a = b. NaN equals nothing, and -0 equals +0.
func (a DD) Equal(b DD) bool { return !a.IsNaN() && a.Cmp(b) == 0 }

// Equal reports whether a = b. NaN equals nothing, and -0 equals +0.
func (a TD) Equal(b TD) bool { return !a.IsNaN() && a.Cmp(b) == 0 }

// Equal reports whether a = b. NaN equals nothing, and -0 equals +0.
func (a QD) Equal(b QD) bool { return !a.IsNaN() && a.Cmp(b) == 0 }

// Less reports whether a < b; it is false if either is NaN.
func (a DD) Less(b DD) bool { return !a.IsNaN() && a.Cmp(b) < 0 }

// Less reports whether a < b; it is false if either is NaN.
func (a TD) Less(b TD) bool { return !a.IsNaN() && a.Cmp(b) < 0 }

// Less reports whether a < b; it is false if either is NaN.
func (a QD) Less(b QD) bool { return !a.IsNaN() && a.Cmp(b) < 0 }

// IsNaN reports whether a is NaN.
func (a DD) IsNaN() bool { return a[0] != a[0] }

// IsNaN reports whether a is NaN.
func (a TD) IsNaN() bool { return a[0] != a[0] }

// IsNaN reports whether a is NaN.
func (a QD) IsNaN() bool { return a[0] != a[0] }

// IsInf reports whether a is an infinity, of the sign of sign unless that is 0.
func (a DD) IsInf(sign int) bool { return math.IsInf(a[0], sign) }

// IsInf reports whether a is an infinity, of the sign of sign unless that is 0.
func (a TD) IsInf(sign int) bool { return math.IsInf(a[0], sign) }

// IsInf reports whether a is an infinity, of the sign of sign unless that is 0.
func (a QD) IsInf(sign int) bool { return math.IsInf(a[0], sign) }

// Signbit reports whether a is negative or -0.
func (a DD) Signbit() bool { return math.Signbit(a[0]) }

// Signbit reports whether a is negative or -0.
func (a TD) Signbit() bool { return math.Signbit(a[0]) }

// Signbit reports whether a is negative or -0.
func (a QD) Signbit() bool { return math.Signbit(a[0]) }
