package neon

import (
	"slices"
	"strings"
	"testing"
)

// examples are two of every form, with the words that llvm-mc 14 makes of them:
// llvm-mc -triple=aarch64 -show-encoding.
var examples = []struct {
	text string
	word uint32
}{
	{"ldr q20, [x4, #51744]", 0x3df28894},
	{"ldr q3, [x2, #12336]", 0x3dcc0c43},
	{"str q23, [x18, #7600]", 0x3d876e57},
	{"str q13, [x1, #11264]", 0x3d8b002d},
	{"ldr d13, [x13, #4576]", 0xfd48f1ad},
	{"ldr d7, [x2, #27816]", 0xfd765447},
	{"ldp q3, q2, [x7, #-784]", 0xad6788e3},
	{"ldp q25, q1, [x1, #-480]", 0xad710439},
	{"stp q18, q23, [x17, #-544]", 0xad2f5e32},
	{"stp q19, q23, [x18, #-256]", 0xad385e53},
	{"ldp q23, q9, [x22], #-768", 0xace826d7},
	{"ldp q3, q19, [x21], #720", 0xacd6cea3},
	{"ld1r {v20.4s}, [x14]", 0x4d40c9d4},
	{"ld1r {v29.4s}, [x11]", 0x4d40c97d},
	{"ld1r {v19.2d}, [x7]", 0x4d40ccf3},
	{"ld1r {v11.2d}, [x22]", 0x4d40cecb},
	{"ld2 {v2.8h, v3.8h}, [x16], #32", 0x4cdf8602},
	{"ld2 {v28.8h, v29.8h}, [x23], #32", 0x4cdf86fc},
	{"st2 {v9.8h, v10.8h}, [x3], #32", 0x4c9f8469},
	{"st2 {v5.8h, v6.8h}, [x4], #32", 0x4c9f8485},
	{"smlal v31.4s, v26.4h, v1.h[1]", 0x0f51235f},
	{"smlal v20.4s, v21.4h, v11.h[7]", 0x0f7b2ab4},
	{"smlal2 v29.4s, v4.8h, v2.h[4]", 0x4f42289d},
	{"smlal2 v30.4s, v4.8h, v1.h[4]", 0x4f41289e},
	{"mla v28.4s, v18.4s, v24.s[2]", 0x6f980a5c},
	{"mla v1.4s, v29.4s, v22.s[1]", 0x6fb603a1},
	{"mls v7.4s, v31.4s, v3.s[1]", 0x6fa343e7},
	{"mls v18.4s, v8.4s, v15.s[3]", 0x6faf4912},
	{"add v25.2d, v31.2d, v5.2d", 0x4ee587f9},
	{"add v10.2d, v28.2d, v25.2d", 0x4ef9878a},
	{"sshr v17.4s, v8.4s, #28", 0x4f240511},
	{"sshr v17.4s, v26.4s, #23", 0x4f290751},
	{"ushr v24.4s, v14.4s, #10", 0x6f3605d8},
	{"ushr v5.4s, v11.4s, #10", 0x6f360565},
	{"shl v14.4s, v14.4s, #0", 0x4f2055ce},
	{"shl v31.4s, v11.4s, #16", 0x4f30557f},
	{"sshll v18.4s, v0.4h, #4", 0x0f14a412},
	{"sshll v26.4s, v23.4h, #10", 0x0f1aa6fa},
	{"sshll2 v8.4s, v3.8h, #14", 0x4f1ea468},
	{"sshll2 v25.4s, v25.8h, #12", 0x4f1ca739},
	{"sshll v25.2d, v6.2s, #30", 0x0f3ea4d9},
	{"sshll v25.2d, v3.2s, #12", 0x0f2ca479},
	{"sshll2 v4.2d, v13.4s, #28", 0x4f3ca5a4},
	{"sshll2 v10.2d, v7.4s, #21", 0x4f35a4ea},
	{"uzp1 v3.8h, v6.8h, v0.8h", 0x4e4018c3},
	{"uzp1 v9.8h, v6.8h, v23.8h", 0x4e5718c9},
	{"xtn v1.2s, v4.2d", 0x0ea12881},
	{"xtn v13.2s, v24.2d", 0x0ea12b0d},
	{"movi v9.2d, #0", 0x6f00e409},
	{"movi v16.2d, #0", 0x6f00e410},
	{"movi v22.16b, #255", 0x4f07e7f6},
	{"movi v23.16b, #255", 0x4f07e7f7},
	{"mov v30.16b, v7.16b", 0x4ea71cfe},
	{"mov v7.16b, v31.16b", 0x4ebf1fe7},
	{"dup v29.4s, w15", 0x4e040dfd},
	{"dup v30.4s, w9", 0x4e040d3e},
	{"fmov x2, d4", 0x9e660082},
	{"fmov x3, d23", 0x9e6602e3},
	{"and v21.16b, v16.16b, v30.16b", 0x4e3e1e15},
	{"and v10.16b, v1.16b, v13.16b", 0x4e2d1c2a},
	{"orr v23.16b, v9.16b, v1.16b", 0x4ea11d37},
	{"orr v19.16b, v5.16b, v16.16b", 0x4eb01cb3},
	{"eor v23.16b, v10.16b, v22.16b", 0x6e361d57},
	{"eor v14.16b, v21.16b, v14.16b", 0x6e2e1eae},
	{"bsl v12.16b, v15.16b, v25.16b", 0x6e791dec},
	{"bsl v14.16b, v12.16b, v31.16b", 0x6e7f1d8e},
	{"bit v22.16b, v1.16b, v1.16b", 0x6ea11c36},
	{"bit v17.16b, v30.16b, v16.16b", 0x6eb01fd1},
	{"bif v12.16b, v22.16b, v28.16b", 0x6efc1ecc},
	{"bif v22.16b, v23.16b, v5.16b", 0x6ee51ef6},
	{"mvn v14.16b, v6.16b", 0x6e2058ce},
	{"mvn v14.16b, v30.16b", 0x6e205bce},
	{"scvtf v12.4s, v21.4s", 0x4e21daac},
	{"scvtf v13.4s, v30.4s", 0x4e21dbcd},
	{"fcvtns v0.4s, v30.4s", 0x4e21abc0},
	{"fcvtns v22.4s, v5.4s", 0x4e21a8b6},
	{"fmul v7.4s, v24.4s, v12.s[3]", 0x4fac9b07},
	{"fmul v11.4s, v27.4s, v21.s[0]", 0x4f95936b},
	{"fmla v25.4s, v29.4s, v25.s[0]", 0x4f9913b9},
	{"fmla v10.4s, v10.4s, v8.s[0]", 0x4f88114a},
	{"fmla v9.2d, v29.2d, v9.d[1]", 0x4fc91ba9},
	{"fmla v22.2d, v9.2d, v8.d[0]", 0x4fc81136},
	{"fadd v0.4s, v6.4s, v8.4s", 0x4e28d4c0},
	{"fadd v27.4s, v12.4s, v13.4s", 0x4e2dd59b},
	{"fsub v1.4s, v16.4s, v13.4s", 0x4eadd601},
	{"fsub v18.4s, v15.4s, v20.4s", 0x4eb4d5f2},
	{"fadd v16.2d, v26.2d, v8.2d", 0x4e68d750},
	{"fadd v3.2d, v22.2d, v29.2d", 0x4e7dd6c3},
	{"fsub v26.2d, v8.2d, v9.2d", 0x4ee9d51a},
	{"fsub v1.2d, v28.2d, v11.2d", 0x4eebd781},
	{"fmul v0.2d, v9.2d, v11.2d", 0x6e6bdd20},
	{"fmul v9.2d, v30.2d, v7.2d", 0x6e67dfc9},
	{"fdiv v3.2d, v20.2d, v30.2d", 0x6e7efe83},
	{"fdiv v6.2d, v3.2d, v15.2d", 0x6e6ffc66},
	{"fmla v12.2d, v17.2d, v2.2d", 0x4e62ce2c},
	{"fmla v6.2d, v28.2d, v1.2d", 0x4e61cf86},
	{"fmls v4.2d, v28.2d, v20.2d", 0x4ef4cf84},
	{"fmls v12.2d, v17.2d, v28.2d", 0x4efcce2c},
	{"fsqrt v30.2d, v15.2d", 0x6ee1f9fe},
	{"fsqrt v16.2d, v12.2d", 0x6ee1f990},
	{"fneg v28.2d, v8.2d", 0x6ee0f91c},
	{"fneg v26.2d, v7.2d", 0x6ee0f8fa},
	{"fneg v25.4s, v28.4s", 0x6ea0fb99},
	{"fneg v20.4s, v4.4s", 0x6ea0f894},
	{"frintn v15.2d, v27.2d", 0x4e618b6f},
	{"frintn v4.2d, v13.2d", 0x4e6189a4},
	{"frintm v19.2d, v7.2d", 0x4e6198f3},
	{"frintm v9.2d, v23.2d", 0x4e619ae9},
	{"frintz v9.2d, v16.2d", 0x4ee19a09},
	{"frintz v8.2d, v29.2d", 0x4ee19ba8},
	{"fcmeq v14.2d, v6.2d, v25.2d", 0x4e79e4ce},
	{"fcmeq v31.2d, v10.2d, v14.2d", 0x4e6ee55f},
	{"fcmge v10.2d, v27.2d, v25.2d", 0x6e79e76a},
	{"fcmge v21.2d, v26.2d, v12.2d", 0x6e6ce755},
	{"fcmgt v22.2d, v20.2d, v5.2d", 0x6ee5e696},
	{"fcmgt v23.2d, v1.2d, v21.2d", 0x6ef5e437},
}

func TestEncode(t *testing.T) {
	var seen []string
	for _, e := range examples {
		if got, err := Encode(e.text); got != e.word || err != nil {
			t.Errorf("Encode(%q) = %#08x, %v; want %#08x", e.text, got, err, e.word)
		}
		seen = append(seen, operand.ReplaceAllString(e.text, "${1}#"))
	}
	for key := range forms {
		if !slices.Contains(seen, key) {
			t.Errorf("no example of %q", key)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"fadd v1.8h, v2.8h, v3.8h":     "no form",
		"fadd  v1.2d, v2.2d, v3.2d":    "no form",
		"fadd v1.2d, v2.2d, v32.2d":    "32 is out of range",
		"smlal v1.4s, v2.4h, v16.h[0]": "16 is out of range",
		"smlal v1.4s, v2.4h, v15.h[8]": "8 is out of range",
		"ldr q1, [x2, #24]":            "24 is out of range",
		"ldr q1, [x2, #-16]":           "-16 is out of range",
		"ldp q1, q2, [x3, #1024]":      "1024 is out of range",
		"sshr v1.4s, v2.4s, #0":        "0 is out of range",
		"movi v1.2d, #1":               "1 is out of range",
	} {
		if _, err := Encode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Encode(%q): error %v, want %q", text, err, want)
		}
	}
}
