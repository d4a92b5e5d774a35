package cli

import "testing"

// TestRefused distinguishes traces of programs whose memory was refused from others.
func TestRefused(t *testing.T) {
	for trace, want := range map[string]bool{
		"": false,
		"runtime: out of memory: cannot allocate 4194304-byte block (3833856 in use)\nfatal error: out of memory\n\ngoroutine 1 [running]:\n": true,
		"fatal error: failed to reserve page summary memory\n\nruntime stack:\n":                                                              true,
		"fatal error: runtime: cannot allocate memory\n":                                                                                      true,
		"runtime: failed to create new OS thread (have 9 already; errno=11)\n":                                                                true,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n":                                              true,
		"fakecgo: pthread_create failed: 11\nSIGABRT: abort\n":                                                                                true,
		"SIGSEGV: segmentation violation\nPC=0x1 m=6 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x1 m=6 [idle]:\nruntime.(*queue).drain(0x1)\n":     true,
		"SIGSEGV: segmentation violation\nPC=0x1 m=6 sigcode=1 addr=0x0\n\ngoroutine 7 gp=0x1 m=6 [running]:\nmain.main()\n":                  false,
		"panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n":                                 false,
		"fatal error: all goroutines are asleep - deadlock!\n":                                                                                false,
		"a library says: out of memory\n":                                                                                                     false,
	} {
		if got := refused(trace); got != want {
			t.Errorf("%q: %v", trace, got)
		}
	}
}
