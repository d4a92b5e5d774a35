package gridfiles

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"hash/fnv"
	"sync/atomic"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/matfile"
)

// checkedPiece is the number of bytes that have a checksum of their own. Several threads share the
// pieces, and the result does not depend on their number.
const checkedPiece = 1 << 20

// checksum returns a hash of size bytes. get returns n of these bytes from byte at on.
func checksum(ctx context.Context, threads int, size int64, get func(worker int, at, n int64) ([]byte, error)) (uint64, error) {
	sums := make([]uint64, (size+checkedPiece-1)/checkedPiece)
	table := crc64.MakeTable(crc64.ECMA)
	var failed atomic.Pointer[error]
	err := par.For(ctx, threads, len(sums), func(worker, i int) {
		at := int64(i) * checkedPiece
		b, err := get(worker, at, min(checkedPiece, size-at))
		if err != nil {
			failed.Store(&err)
			return
		}
		sums[i] = crc64.Checksum(b, table)
	})
	if e := failed.Load(); err == nil && e != nil {
		err = *e
	}
	h := fnv.New64a()
	fmt.Fprint(h, size, sums)
	return h.Sum64(), err
}

// Checksum returns a hash of the shape, the format and the numbers of a host matrix. It depends on
// how the numbers are stored.
func Checksum(ctx context.Context, threads int, m *halfulp.Matrix) (uint64, error) {
	v := m.View()
	h := fnv.New64a()
	fmt.Fprint(h, v.Arr.Format, v.Rows, v.Cols, v.RS, v.CS, v.Off)
	for _, lane := range grid.Memory(v.Arr) {
		sum, err := checksum(ctx, threads, int64(len(lane)), func(_ int, at, n int64) ([]byte, error) { return lane[at : at+n], nil })
		if err != nil {
			return 0, err
		}
		fmt.Fprint(h, " ", sum)
	}
	return h.Sum64(), nil
}

// ChecksumSparse returns a hash of the shape, the numbers and the positions of a sparse matrix.
func ChecksumSparse(ctx context.Context, threads int, m *matfile.Sparse) (uint64, error) {
	values, err := Checksum(ctx, threads, m.Values.Matrix())
	if err != nil {
		return 0, err
	}
	h := crc64.New(crc64.MakeTable(crc64.ECMA))
	for _, x := range []any{int64(m.Rows), int64(m.Cols), values, m.Row, m.Col} {
		if err := binary.Write(h, binary.LittleEndian, x); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}
