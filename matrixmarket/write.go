package matrixmarket

import (
	"fmt"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/raw"
)

// Write writes m to w as array, real and general.
func Write(w io.Writer, m *halfulp.Matrix, opt *Options) error {
	o := opt.filled()
	rows, cols := m.Dims()
	_, err := fmt.Fprintf(w, "%s matrix array real general\n%% %s%v\n%d %d\n", Banner, formatComment, m.Format(), rows, cols)
	if err != nil {
		return err
	}
	n, v := rows*cols, raw.Matrix(m)
	if n > 0 {
		_ = m.At(0, 0) // panics for numbers elsewhere than on the host
	}
	// Blocks of about 256 KiB of text.
	size := max(1, 1<<20/max(64, m.Format().Bits()))
	return lines.Write(o.Context, w, o.Threads, (n+size-1)/size, func(dst []byte, block int) []byte {
		c := decimal.Borrow(v.Arr.Format)
		defer c.Return()
		for k := block * size; k < min(n, (block+1)*size); k++ {
			dst = c.Append(dst, v.Arr, v.At(k%rows, k/rows), decimal.Style(o.Digits))
			dst = append(dst, '\n')
		}
		return dst
	}, o.Progress)
}
