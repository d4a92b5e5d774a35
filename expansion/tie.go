package expansion

// Conversion to the form in which package halfulp stores numbers, for kernels of GPUs: canonical in
// arithmetic of words alone. Normalised numbers are stored unchanged, except -0 and a word of
// exactly half an ulp of the word before, followed by another word of its sign: the sum is then
// nearer to the next float64.

// tie reports whether a + b = RN(a + b) + b lies halfway between a and the next float64.
func tie(a, b float64) bool {
	d := b + b
	return b != 0 && (a+d)-a == d
}

// alike reports whether a and b, not zero, have one sign.
func alike(a, b float64) bool { return (a < 0) == (b < 0) }

func storedDD(x DD) DD {
	if !ordinary(x[0]) {
		return DD{special(x[0], x[0])}
	}
	a, b := fastTwoSum(x[0], x[1])
	return DD{a, 0 + b}
}

func storedTD(x TD) TD {
	if !ordinary(x[0]) {
		return TD{special(x[0], x[0])}
	}
	a, b, c := x[0], 0+x[1], 0+x[2]
	if a+b != a || b+c != b {
		a, b, c = renormTD(a, b, c)
	}
	if c != 0 && tie(a, b) && alike(b, c) {
		a += b + b
		b, c = fastTwoSum(-b, c)
	}
	return TD{a, b, c}
}

func storedQD(x QD) QD {
	if !ordinary(x[0]) {
		return QD{special(x[0], x[0])}
	}
	a, b, c, d := x[0], 0+x[1], 0+x[2], 0+x[3]
	if a+b != a || b+c != b || c+d != c {
		a, b, c, d = renormQD(a, b, c, d)
	}
	if c != 0 && tie(a, b) && alike(b, c) {
		a += b + b
		b, c = fastTwoSum(-b, c)
		c, d = twoSum(c, d)
		b, c = fastTwoSum(b, c)
		c, d = fastTwoSum(c, d)
	}
	if d != 0 && tie(b, c) && alike(c, d) {
		b += c + c
		c, d = fastTwoSum(-c, d)
	}
	return QD{a, b, c, d}
}
