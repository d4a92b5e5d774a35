package neon

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
	{"stp q20, q7, [x14], #448", 0xac8e1dd4},
	{"stp q19, q13, [x5], #-32", 0xacbf34b3},
	{"ld1r {v5.4s}, [x18]", 0x4d40ca45},
	{"ld1r {v19.4s}, [x16]", 0x4d40ca13},
	{"ld1r {v31.2d}, [x28]", 0x4d40cf9f},
	{"ld1r {v21.2d}, [x23]", 0x4d40cef5},
	{"ld2 {v9.8h, v10.8h}, [x3], #32", 0x4cdf8469},
	{"ld2 {v5.8h, v6.8h}, [x4], #32", 0x4cdf8485},
	{"st2 {v13.8h, v14.8h}, [x21], #32", 0x4c9f86ad},
	{"st2 {v24.8h, v25.8h}, [x10], #32", 0x4c9f8558},
	{"smlal v22.4s, v31.4h, v14.h[1]", 0x0f5e23f6},
	{"smlal v5.4s, v17.4h, v15.h[1]", 0x0f5f2225},
	{"smlal2 v3.4s, v19.8h, v14.h[4]", 0x4f4e2a63},
	{"smlal2 v24.4s, v22.8h, v0.h[7]", 0x4f702ad8},
	{"smlal v22.2d, v10.2s, v7.s[3]", 0x0fa72956},
	{"smlal v3.2d, v13.2s, v18.s[1]", 0x0fb221a3},
	{"smlal2 v15.2d, v25.4s, v25.s[3]", 0x4fb92b2f},
	{"smlal2 v5.2d, v10.4s, v28.s[3]", 0x4fbc2945},
	{"mla v17.4s, v8.4s, v27.s[2]", 0x6f9b0911},
	{"mla v26.4s, v22.4s, v24.s[1]", 0x6fb802da},
	{"mls v9.4s, v5.4s, v11.s[1]", 0x6fab40a9},
	{"mls v14.4s, v14.4s, v0.s[3]", 0x6fa049ce},
	{"add v11.2d, v16.2d, v18.2d", 0x4ef2860b},
	{"add v0.2d, v9.2d, v26.2d", 0x4efa8520},
	{"sshr v23.2d, v20.2d, #17", 0x4f6f0697},
	{"sshr v3.2d, v29.2d, #51", 0x4f4d07a3},
	{"ushr v25.2d, v25.2d, #51", 0x6f4d0739},
	{"ushr v6.2d, v30.2d, #52", 0x6f4c07c6},
	{"sshr v3.4s, v12.4s, #5", 0x4f3b0583},
	{"sshr v13.4s, v28.4s, #11", 0x4f35078d},
	{"ushr v7.4s, v21.4s, #4", 0x6f3c06a7},
	{"ushr v6.4s, v0.4s, #10", 0x6f360406},
	{"shl v6.4s, v23.4s, #1", 0x4f2156e6},
	{"shl v4.4s, v13.4s, #24", 0x4f3855a4},
	{"sshll v9.4s, v16.4h, #11", 0x0f1ba609},
	{"sshll v23.4s, v30.4h, #3", 0x0f13a7d7},
	{"sshll2 v7.4s, v31.8h, #14", 0x4f1ea7e7},
	{"sshll2 v30.4s, v30.8h, #9", 0x4f19a7de},
	{"sshll v5.2d, v9.2s, #6", 0x0f26a525},
	{"sshll v21.2d, v16.2s, #30", 0x0f3ea615},
	{"sshll2 v10.2d, v1.4s, #13", 0x4f2da42a},
	{"sshll2 v23.2d, v9.4s, #1", 0x4f21a537},
	{"smin v19.4s, v5.4s, v16.4s", 0x4eb06cb3},
	{"smin v23.4s, v10.4s, v22.4s", 0x4eb66d57},
	{"smax v14.4s, v21.4s, v14.4s", 0x4eae66ae},
	{"smax v12.4s, v15.4s, v25.4s", 0x4eb965ec},
	{"uzp1 v14.4s, v12.4s, v31.4s", 0x4e9f198e},
	{"uzp1 v22.4s, v1.4s, v1.4s", 0x4e811836},
	{"uzp1 v17.8h, v30.8h, v16.8h", 0x4e501bd1},
	{"uzp1 v12.8h, v22.8h, v28.8h", 0x4e5c1acc},
	{"xtn v22.2s, v23.2d", 0x0ea12af6},
	{"xtn v5.2s, v14.2d", 0x0ea129c5},
	{"movi v6.2d, #0", 0x6f00e406},
	{"movi v14.2d, #0", 0x6f00e40e},
	{"movi v30.16b, #255", 0x4f07e7fe},
	{"movi v12.16b, #255", 0x4f07e7ec},
	{"mov v21.16b, v13.16b", 0x4ead1db5},
	{"mov v30.16b, v0.16b", 0x4ea01c1e},
	{"dup v30.4s, w20", 0x4e040e9e},
	{"dup v22.4s, w25", 0x4e040f36},
	{"fmov x20, d2", 0x9e660054},
	{"fmov x26, d21", 0x9e6602ba},
	{"and v7.16b, v24.16b, v12.16b", 0x4e2c1f07},
	{"and v30.16b, v11.16b, v27.16b", 0x4e3b1d7e},
	{"orr v21.16b, v5.16b, v25.16b", 0x4eb91cb5},
	{"orr v29.16b, v25.16b, v5.16b", 0x4ea51f3d},
	{"eor v10.16b, v10.16b, v8.16b", 0x6e281d4a},
	{"eor v1.16b, v9.16b, v29.16b", 0x6e3d1d21},
	{"bsl v9.16b, v30.16b, v22.16b", 0x6e761fc9},
	{"bsl v9.16b, v8.16b, v1.16b", 0x6e611d09},
	{"bit v0.16b, v6.16b, v8.16b", 0x6ea81cc0},
	{"bit v27.16b, v12.16b, v13.16b", 0x6ead1d9b},
	{"bif v1.16b, v16.16b, v13.16b", 0x6eed1e01},
	{"bif v18.16b, v15.16b, v20.16b", 0x6ef41df2},
	{"mvn v16.16b, v26.16b", 0x6e205b50},
	{"mvn v8.16b, v3.16b", 0x6e205868},
	{"scvtf v22.4s, v29.4s", 0x4e21dbb6},
	{"scvtf v26.4s, v8.4s", 0x4e21d91a},
	{"fcvtns v9.4s, v1.4s", 0x4e21a829},
	{"fcvtns v28.4s, v11.4s", 0x4e21a97c},
	{"fmul v0.4s, v9.4s, v11.s[1]", 0x4fab9120},
	{"fmul v30.4s, v7.4s, v3.s[2]", 0x4f8398fe},
	{"fmla v30.4s, v6.4s, v3.s[1]", 0x4fa310de},
	{"fmla v12.4s, v17.4s, v2.s[0]", 0x4f82122c},
	{"fmla v28.2d, v1.2d, v4.d[1]", 0x4fc4183c},
	{"fmla v20.2d, v12.2d, v17.d[1]", 0x4fd11994},
	{"fadd v30.4s, v15.4s, v16.4s", 0x4e30d5fe},
	{"fadd v12.4s, v28.4s, v8.4s", 0x4e28d78c},
	{"fsub v26.4s, v7.4s, v25.4s", 0x4eb9d4fa},
	{"fsub v28.4s, v20.4s, v4.4s", 0x4ea4d69c},
	{"fadd v15.2d, v27.2d, v4.2d", 0x4e64d76f},
	{"fadd v13.2d, v19.2d, v7.2d", 0x4e67d66d},
	{"fsub v9.2d, v23.2d, v9.2d", 0x4ee9d6e9},
	{"fsub v16.2d, v8.2d, v29.2d", 0x4efdd510},
	{"fmul v14.2d, v6.2d, v25.2d", 0x6e79dcce},
	{"fmul v31.2d, v10.2d, v14.2d", 0x6e6edd5f},
	{"fdiv v10.2d, v27.2d, v25.2d", 0x6e79ff6a},
	{"fdiv v21.2d, v26.2d, v12.2d", 0x6e6cff55},
	{"fmla v22.2d, v20.2d, v5.2d", 0x4e65ce96},
	{"fmla v23.2d, v1.2d, v21.2d", 0x4e75cc37},
	{"fmls v29.2d, v28.2d, v1.2d", 0x4ee1cf9d},
	{"fmls v24.2d, v21.2d, v18.2d", 0x4ef2ceb8},
	{"fsqrt v4.2d, v7.2d", 0x6ee1f8e4},
	{"fsqrt v14.2d, v6.2d", 0x6ee1f8ce},
	{"fabs v5.2d, v16.2d", 0x4ee0fa05},
	{"fabs v17.2d, v2.2d", 0x4ee0f851},
	{"fneg v11.2d, v17.2d", 0x6ee0fa2b},
	{"fneg v8.2d, v27.2d", 0x6ee0fb68},
	{"fneg v16.4s, v25.4s", 0x6ea0fb30},
	{"fneg v9.4s, v31.4s", 0x6ea0fbe9},
	{"frintn v20.2d, v5.2d", 0x4e6188b4},
	{"frintn v17.2d, v3.2d", 0x4e618871},
	{"frintm v11.2d, v27.2d", 0x4e619b6b},
	{"frintm v4.2d, v17.2d", 0x4e619a24},
	{"frintz v1.2d, v5.2d", 0x4ee198a1},
	{"frintz v16.2d, v5.2d", 0x4ee198b0},
	{"fcmeq v14.2d, v4.2d, v16.2d", 0x4e70e48e},
	{"fcmeq v7.2d, v29.2d, v0.2d", 0x4e60e7a7},
	{"fcmge v21.2d, v26.2d, v17.2d", 0x6e71e755},
	{"fcmge v8.2d, v2.2d, v15.2d", 0x6e6fe448},
	{"fcmgt v7.2d, v10.2d, v16.2d", 0x6ef0e547},
	{"fcmgt v3.2d, v11.2d, v12.2d", 0x6eece563},
}

// TestEncode assembles the examples as macros and compares their words.
func TestEncode(t *testing.T) {
	var seen []string
	var file File
	for _, e := range examples {
		file.Vec("%s", e.text)
		seen = append(seen, operand.ReplaceAllString(e.text, "${1}#"))
	}
	names := map[string]string{}
	for key := range forms {
		if !slices.Contains(seen, key) {
			t.Errorf("no example of %q", key)
		}
		if other := names[macroName(key)]; other != "" {
			t.Errorf("%s stands for %q and %q", macroName(key), key, other)
		}
		names[macroName(key)] = key
	}
	source := filepath.Join(t.TempDir(), "examples_arm64.s")
	text := strings.Join(slices.Sorted(maps.Keys(file.macros)), "\n") + "\nTEXT ·f(SB), 4, $0-0\n" + file.text.String() + "\tRET\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	tool := func(args ...string) string {
		cmd := exec.Command("go", append([]string{"tool"}, args...)...)
		cmd.Env = append(os.Environ(), "GOARCH=arm64")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	object := source + ".o"
	tool("asm", "-p", "p", "-o", object, source)
	var words []string // of the lines file:line, address, word, instruction
	for line := range strings.Lines(tool("objdump", object)) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasPrefix(fields[1], "0x") {
			words = append(words, fields[2])
		}
	}
	if len(words) < len(examples) {
		t.Fatalf("%d words for %d examples", len(words), len(examples))
	}
	for i, e := range examples {
		if want := fmt.Sprintf("%08x", e.word); words[i] != want {
			t.Errorf("%s: %s, want %s", e.text, words[i], want)
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
		if _, _, err := Encode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Encode(%q): error %v, want %q", text, err, want)
		}
	}
}
