package call

import "testing"

// TestTemporary checks that a unit matrix requested within a Temporary survives its end, and that
// Lifting, which is stored in temporary memory, does not.
func TestTemporary(t *testing.T) {
	var s Run
	defer s.Release()
	before := new(int)
	s.Lifting = before
	s.Temporary()()
	if s.Lifting != before {
		t.Error("what was kept before is gone")
	}
	end := s.Temporary()
	s.IdentityHere(3)
	s.Lifting = new(int)
	if end(); s.Lifting != nil {
		t.Error("what was kept since is there")
	}
	for i := range s.Floats(9) {
		s.FloatsTaken[0][i] = 7
	}
	one := s.IdentityHere(3)
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			if v, _ := one.Big(i, j).Float64(); v != want {
				t.Errorf("entry (%d, %d) is %g", i, j, v)
			}
		}
	}
}

// TestGiveBack releases one of several slices and counts the remaining ones.
func TestGiveBack(t *testing.T) {
	var s Run
	first, second := s.Words(100), s.Words(50)
	s.GiveBack(first[:10])
	s.GiveBack(nil)
	if most := s.Budget.Most(); most != 1200 {
		t.Errorf("the most was %d bytes, want 1200", most)
	}
	third := s.Words(100)
	if most := s.Budget.Most(); most != 1200 || &third[0] == &second[0] {
		t.Errorf("the most was %d bytes, want 1200, or a slice is given out twice", most)
	}
	s.Release()
}
