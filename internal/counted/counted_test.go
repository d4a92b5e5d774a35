package counted

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestText(t *testing.T) {
	entry := func(i, j int) error {
		return New(io.EOF, func(first int) string { return fmt.Sprintf("entry (%d, %d)", i+first, j+first) })
	}
	for _, c := range []struct {
		err        error
		api, shell string
	}{
		{io.EOF, "EOF", "EOF"},
		{entry(0, 2), "entry (0, 2)", "entry (1, 3)"},
		{fmt.Errorf("file 0: %w of 0", entry(1, 1)), "file 0: entry (1, 1) of 0", "file 0: entry (2, 2) of 0"},
		{errors.Join(entry(0, 0), io.EOF, entry(4, 5)), "entry (0, 0)\nEOF\nentry (4, 5)", "entry (1, 1)\nEOF\nentry (5, 6)"},
	} {
		if c.err.Error() != c.api || Text(c.err, 0) != c.api || Text(c.err, 1) != c.shell || !errors.Is(c.err, io.EOF) {
			t.Errorf("%v: from 0 %q, from 1 %q", c.err, Text(c.err, 0), Text(c.err, 1))
		}
	}
}
