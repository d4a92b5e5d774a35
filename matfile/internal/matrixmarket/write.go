package matrixmarket

import (
	"fmt"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Write writes m to w as a real, general array. It panics for a matrix that lives on a device.
func Write(w io.Writer, m *halfulp.Matrix, opt *Options) error {
	o := opt.filled()
	rows, cols := m.Dims()
	n, v := rows*cols, m.View()
	if _, err := w.Write(Head(v.Arr.Format, rows, cols)); err != nil {
		return err
	}
	if n > 0 {
		_ = m.At(0, 0) // panics unless m lives on the host
	}
	// Blocks of about 256 KiB of text.
	size := max(1, 1<<20/max(64, m.NumberFormat().Bits()))
	return textio.Write(o.Context, w, o.Threads, (n+size-1)/size, func(dst []byte, block int) []byte {
		return AppendEntries(dst, v, block*size, min(n, (block+1)*size), o.Digits)
	}, o.Progress)
}

// Head returns the lines before the entries.
func Head(f num.Format, rows, cols int) []byte {
	return fmt.Appendf(nil, "%s matrix array real general\n%% %s%v\n%d %d\n", Banner, formatComment, f, rows, cols)
}

// AppendEntries appends entries from ≤ k < to of v, column by column.
func AppendEntries(dst []byte, v num.Mat, from, to, digits int) []byte {
	c := decimal.Borrow(v.Arr.Format)
	defer c.Return()
	for k := from; k < to; k++ {
		dst = c.Append(dst, v.Arr, v.At(k%v.Rows, k/v.Rows), decimal.Style(digits))
		dst = append(dst, '\n')
	}
	return dst
}
