package call

import (
	"errors"
	"slices"
	"testing"
)

// tried is a problem that one way solves, with the list of the ways tried.
type tried struct {
	by  []string
	end string // the way that solves it
}

func (p *tried) Open() bool { return len(p.by) == 0 || p.by[len(p.by)-1] != p.end }

// TestTry checks which ways of a table are tried.
func TestTry(t *testing.T) {
	no, yes := func(*tried) bool { return false }, func(*tried) bool { return true }
	errFailed := errors.New("failed")
	way := func(name string, applies, faster func(*tried) bool, err error) Way[*tried] {
		return Way[*tried]{name, applies, faster, func(p *tried) error {
			p.by = append(p.by, name)
			return err
		}}
	}
	table := []Way[*tried]{
		way("none", no, nil, nil), way("slow", yes, no, nil), way("first", nil, nil, nil), way("second", yes, yes, nil), way("fails", nil, no, errFailed), way("last", nil, nil, nil),
	}
	for _, c := range []struct {
		forced []string
		end    string
		by     []string
		err    error
	}{
		{nil, "first", []string{"first"}, nil},
		{nil, "second", []string{"first", "second"}, nil},
		{nil, "last", []string{"first", "second", "last"}, nil},
		{nil, "never", []string{"first", "second", "last"}, nil},
		{[]string{"slow"}, "slow", []string{"slow"}, nil},
		{[]string{"slow"}, "first", []string{"slow", "last"}, nil},
		{[]string{"last"}, "last", []string{"last"}, nil},
		{[]string{"another table's", "second"}, "second", []string{"second"}, nil},
		{[]string{"another table's"}, "first", []string{"first"}, nil},
		{[]string{"none"}, "first", nil, ErrWay},
		{[]string{"fails"}, "last", []string{"fails"}, errFailed},
	} {
		ctx := t.Context()
		if c.forced != nil {
			ctx = Forcing(ctx, c.forced...)
		}
		record := new(Record)
		ctx = Recording(ctx, record)
		p := &tried{end: c.end}
		if err := Try(ctx, table, p); !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || !slices.Equal(p.by, c.by) {
			t.Errorf("forced %v, solved by %s: tried %v, error %v", c.forced, c.end, p.by, err)
		}
		for _, w := range table {
			tries := slices.Contains(p.by, w.Name)
			decides := tries && c.err == nil && w.Name == c.end
			if decided, left := record.Of("*call.tried", w.Name); decided+left > 1 || (decided == 1) != decides || (decided+left == 1) != tries {
				t.Errorf("forced %v, solved by %s: %s decided %d problems, left %d", c.forced, c.end, w.Name, decided, left)
			}
		}
	}
}
