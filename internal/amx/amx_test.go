package amx

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// TestEncode compares with what GNU binutils reads as these instructions.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		op         Op
		text, code string
	}{
		{Op{Kind: Load, T: 4, Base: RSI, Stride: R12}, "TILELOADD TMM4, [RSI+R12*1+0x0]", "c4a27b4ba42600000000"},
		{Op{Kind: Load, T: 7, Base: R11, Stride: RCX, Disp: 64}, "TILELOADD TMM7, [R11+RCX*1+0x40]", "c4c27b4bbc0b40000000"},
		{Op{Kind: LoadOnce, T: 5, Base: RSI, Stride: R12, Disp: 1024}, "TILELOADDT1 TMM5, [RSI+R12*1+0x400]", "c4a2794bac2600040000"},
		{Op{Kind: Store, T: 3, Base: R9, Stride: R13, Disp: 0x840}, "TILESTORED [R9+R13*1+0x840], TMM3", "c4827a4b9c2940080000"},
		{Op{Kind: Zero, T: 5}, "TILEZERO TMM5", "c4e27b49e8"},
		{Op{Kind: Dot, T: 1, A: 5, B: 6}, "TDPBSSD TMM1, TMM5, TMM6", "c4e24b5ecd"},
		{Op{Kind: DotUnsigned, T: 1, A: 5, B: 6}, "TDPBSUD TMM1, TMM5, TMM6", "c4e24a5ecd"},
		{Op{Kind: DotNatural, T: 1, A: 5, B: 6}, "TDPBUUD TMM1, TMM5, TMM6", "c4e2485ecd"},
		{Op{Kind: Configure, Base: RAX}, "LDTILECFG [RAX+0x0]", "c4e27849842000000000"},
		{Op{Kind: Release}, "TILERELEASE", "c4e27849c0"},
	} {
		if got := hex.EncodeToString(c.op.Encode()); got != c.code {
			t.Errorf("%v: %s, want %s", c.op, got, c.code)
		}
		joined := ""
		for _, d := range Directives(c.op.Encode()) {
			b := make([]byte, 8)
			binary.LittleEndian.PutUint64(b, d.Value)
			joined += hex.EncodeToString(b[:map[string]int{"BYTE": 1, "WORD": 2, "LONG": 4, "QUAD": 8}[d.Name]])
		}
		if joined != c.code {
			t.Errorf("%v: directives of %s, want %s", c.op, joined, c.code)
		}
		if got := c.op.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
	}
}
