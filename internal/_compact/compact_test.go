package compact

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	const text = `// func f(x *float64, n int)
TEXT ·f(SB), NOSPLIT, $0-16
	MOVQ    x+0(FP), AX
	VADDPD  (AX), Y0, Y1
	MOVQ    $0x0000000000000020, CX
	XORQ    $0x00, CX

	// TILEZERO TMM4
	LONG         $0x497be2c4
	BYTE         $0xe0
	VPBROADCASTD (R15), Z25

	// a comment
	RET

DATA c<>+0(SB)/8, $0x0000000000000001
`
	const want = `// func f(x *float64, n int)
TEXT ·f(SB), NOSPLIT, $0-16
	MOVQ x+0(FP),AX
	VADDPD (AX),Y0,Y1
	MOVQ $0x20,CX
	XORQ $0x0,CX
	LONG $0x497be2c4; BYTE $0xe0 // TILEZERO TMM4
	VPBROADCASTD (R15),Z25

	// a comment
	RET

DATA c<>+0(SB)/8, $0x1
`
	if got := Text(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFactored checks that what several places share becomes a macro, and nothing that belongs to
// one place.
func TestFactored(t *testing.T) {
	shared := strings.Repeat("\tVADDPD Y0,Y1,Y2\n\tVSUBPD Y3,Y4,Y5\n", 5)
	text := "#include \"textflag.h\"\n\nTEXT ·f(SB), NOSPLIT, $0-8\n\tMOVQ x+0(FP),AX\n" + shared +
		"\tJMP there\n\nthere:\n\tMOVQ x+0(FP),AX\n" + shared + "\tJMP there\n"
	call := "\tblock1\n"
	body := strings.ReplaceAll(strings.TrimSuffix(shared, "\n"), "\n", "; \\\n")
	want := strings.ReplaceAll(text, shared, call)
	want = strings.Replace(want, "\n\n", "\n\n// Instructions that follow each other in several places.\n#define block1 \\\n"+body+"\n\n", 1)
	if got := Text(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
