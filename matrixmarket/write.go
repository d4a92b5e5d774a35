package matrixmarket

import (
	"fmt"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/lines"
)

// Write writes m to w as array, real and general.
func Write(w io.Writer, m *halfulp.Matrix, opt *Options) error {
	o := opt.filled()
	rows, cols := m.Dims()
	_, err := fmt.Fprintf(w, "%s matrix array real general\n%% %s%v\n%d %d\n", Banner, formatComment, m.Format(), rows, cols)
	if err != nil {
		return err
	}
	n := rows * cols
	// Blocks of about 256 KiB of text.
	size := max(1, 1<<20/max(64, m.Format().Bits()))
	return lines.Write(o.Context, w, o.Threads, (n+size-1)/size, func(dst []byte, block int) []byte {
		for k := block * size; k < min(n, (block+1)*size); k++ {
			dst = m.AppendText(dst, k%rows, k/rows, o.Digits)
			dst = append(dst, '\n')
		}
		return dst
	}, o.Progress)
}
