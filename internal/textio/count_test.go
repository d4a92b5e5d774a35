package textio

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n         int
		one, want string
	}{
		{0, "row", "0 rows"}, {1, "row", "1 row"}, {2, "row", "2 rows"}, {1, "entry", "1 entry"}, {0, "entry", "0 entries"},
		{3, "entry", "3 entries"}, {1, "process", "1 process"}, {2, "process", "2 processes"},
	} {
		if got := Count(c.n, c.one); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.one, got, c.want)
		}
	}
	if got := Bytes(1) + ", " + Bytes(2); got != "1 byte, 2 bytes" {
		t.Errorf("bytes are counted %q", got)
	}
}
