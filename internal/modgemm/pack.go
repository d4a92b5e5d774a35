package modgemm

// PackLeft writes the rows x cols matrix src, row-major with leading dimension ld, as
// a left operand of kernel k. dst has LeftLen(k, rows, cols) elements.
func PackLeft(k *Kernel, dst, src []int16, rows, cols, ld int) {
	checkMatrix(src, rows, cols, ld)
	checkLen(len(dst), LeftLen(k, rows, cols))
	clear(dst[:LeftLen(k, rows, cols)])
	kPairs := Pairs(cols)
	for i := range rows {
		panel := dst[i/k.MR*2*k.MR*kPairs:]
		for h, x := range src[i*ld:][:cols] {
			panel[2*(h/2*k.MR+i%k.MR)+h%2] = x
		}
	}
}

// PackRight writes the rows x cols matrix src, row-major with leading dimension ld, as
// a right operand of kernel k. dst has RightLen(k, rows, cols) elements.
func PackRight(k *Kernel, dst, src []int16, rows, cols, ld int) {
	checkMatrix(src, rows, cols, ld)
	checkLen(len(dst), RightLen(k, rows, cols))
	clear(dst[:RightLen(k, rows, cols)])
	kPairs := Pairs(rows)
	for h := range rows {
		for j, x := range src[h*ld:][:cols] {
			dst[2*((j/k.NR*kPairs+h/2)*k.NR+j%k.NR)+h%2] = x
		}
	}
}

// PackPlanes writes the first nPanels NR entries of planes 0 to planes-1, plane h at
// src[h planeStride], as a right operand of kernel k: its rows are the planes, its
// columns the entries. dst has 2 NR Pairs(planes) nPanels elements.
func PackPlanes(k *Kernel, dst, src []int16, planeStride, planes, nPanels int) {
	panel := 2 * k.NR * Pairs(planes)
	checkSizes(planes, nPanels, 0)
	checkLen(len(dst), nPanels*panel)
	checkRows(len(src), planes, nPanels*k.NR, planeStride)
	for j := range nPanels {
		if planes > 0 {
			k.packPlanes(dst[j*panel:], src[j*k.NR:], planeStride, planes)
		}
	}
}

// Pairs is the number of pairs that k indices fill.
func Pairs(k int) int { return (k + 1) / 2 }

// LeftPanels is the number of panels that hold n rows of a left operand.
func LeftPanels(k *Kernel, n int) int { return (n + k.MR - 1) / k.MR }

// RightPanels is the number of panels that hold n columns of a right operand.
func RightPanels(k *Kernel, n int) int { return (n + k.NR - 1) / k.NR }

// LeftLen is the length of a left operand of rows x cols.
func LeftLen(k *Kernel, rows, cols int) int {
	return LeftPanels(k, rows) * k.MR * 2 * Pairs(cols)
}

// RightLen is the length of a right operand of rows x cols.
func RightLen(k *Kernel, rows, cols int) int {
	return RightPanels(k, cols) * k.NR * 2 * Pairs(rows)
}
