package testlength

import "testing"

// TestEnv checks the words of the environment variable.
func TestEnv(t *testing.T) {
	for value, want := range map[string][2]bool{"": {}, "long": {true, false}, "slow": {false, true}, "long,slow": {true, true}} {
		t.Setenv(Env, value)
		if got := [2]bool{has("long"), has("slow")}; got != want {
			t.Errorf("%q: long and slow are %v, want %v", value, got, want)
		}
		if Long() != (want[0] && !testing.Short()) {
			t.Errorf("%q: Long is %v", value, Long())
		}
		ran := false
		t.Run("left out", func(t *testing.T) {
			SkipSlow(t, "a test")
			ran = true
		})
		if ran != (want[0] || !Slow()) {
			t.Errorf("%q: a slow test ran: %v", value, ran)
		}
	}
	t.Setenv(Env, "longer")
	defer func() {
		if recover() == nil {
			t.Error("longer passes")
		}
	}()
	Long()
}
