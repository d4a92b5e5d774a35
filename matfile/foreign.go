package matfile

import (
	"bytes"
	"errors"
)

// foreign returns an error for a binary file of a known kind and for a text in UTF-16. The error
// names the kind and how to convert it. foreign returns nil for other content.
func foreign(text []byte) error {
	for _, x := range []struct{ magic, what string }{
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is a workbook of Excel (.xls, or .xlsx with a password) or another document of Microsoft Office: save the sheet as CSV"},
		{"MATLAB 5.0 MAT-file", "this is a MAT-file of MATLAB or Octave: save the matrix by dlmwrite('A.csv', A, 'precision', 17)"},
		{"MATLAB 7.3 MAT-file", "this is a MAT-file of MATLAB or Octave: save the matrix by dlmwrite('A.csv', A, 'precision', 17)"},
		{"\x89HDF\r\n\x1a\n", "this is an HDF5 file: save the matrix by numpy.save, or as CSV"},
		{"PAR1\x15", "this is a Parquet file: save the table as CSV, or by numpy.save"},
	} {
		if bytes.HasPrefix(text, []byte(x.magic)) {
			return errors.New(x.what)
		}
	}
	if isUTF16(text) {
		return errUTF16
	}
	return nil
}

var errUTF16 = errors.New("the text is UTF-16, of two bytes a character: save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8")

// isUTF16 reports whether a text begins with a byte order mark of UTF-16, or with two ASCII
// characters in UTF-16.
func isUTF16(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	a, b, c, d := text[0], text[1], text[2], text[3]
	marked := a == 0xff && b == 0xfe || a == 0xfe && b == 0xff
	return marked || a != 0 && b == 0 && c != 0 && d == 0 || a == 0 && b != 0 && c == 0 && d != 0
}
