//go:build !unix

package matfile

import "os"

// mapsFiles says whether mapped works here.
const mapsFiles = false

// mapped is not supported here: ok is false.
func mapped(*os.File, int64) (text []byte, unmap func(), ok bool) { return nil, nil, false }
