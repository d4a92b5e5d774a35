// Command _asm writes the kernels of package symeig for AVX2:
//
//	go run . -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg symeig
//
// The kernels do what the generic loops of ../kernels.go do, for lengths that are multiples of 8.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	compact "github.com/halfulp/halfulp/internal/_compact"
)

var y = [16]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}

func main() {
	ConstraintExpr("amd64,!purego")
	columns("both", true, true)
	columns("add", true, false)
	columns("dots", false, true)
	sums()
	quotients()
	scaleQuotients()
	Generate()
	compact.Out()
}

// columns emits kernels over four columns of a matrix: y += Σ alpha a and d = a'x.
func columns(name string, add, dots bool) {
	args := map[string]string{
		"both": "func(a []float64, lda int, x, y, alpha, d []float64)",
		"add":  "func(a []float64, lda int, y, alpha []float64)",
		"dots": "func(a []float64, lda int, x, d []float64)",
	}[name]
	TEXT(name+"AVX2", NOSPLIT, args)
	Doc(name + "AVX2 is " + name + "Generic for lengths that are multiples of 8, of at least 8.")
	Pragma("noescape")
	a := Load(Param("a").Base(), GP64())
	lda := Load(Param("lda"), GP64())
	SHLQ(U8(3), lda)
	triple := GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, triple)
	var xs, ys, ds Register
	n := GP64()
	if dots {
		xs = Load(Param("x").Base(), GP64())
		Load(Param("x").Len(), n)
		ds = Load(Param("d").Base(), GP64())
	}
	if add {
		ys = Load(Param("y").Base(), GP64())
		Load(Param("y").Len(), n)
		alpha := Load(Param("alpha").Base(), GP64())
		for c := range 4 {
			VBROADCASTSD(Mem{Base: alpha, Disp: 8 * c}, y[c])
		}
	}
	if dots {
		for i := 4; i < 12; i++ {
			VXORPD(y[i], y[i], y[i])
		}
	}
	SHRQ(U8(3), n)
	Label("step")
	for v := range 2 {
		x, sum := y[12], y[13]
		if dots {
			VMOVUPD(Mem{Base: xs, Disp: 32 * v}, x)
		}
		if add {
			VMOVUPD(Mem{Base: ys, Disp: 32 * v}, sum)
		}
		for c := range 4 {
			at := Mem{Base: a, Disp: 32 * v}
			switch c {
			case 1, 2:
				at.Index, at.Scale = lda, uint8(c)
			case 3:
				at.Index, at.Scale = triple, 1
			}
			switch {
			case add && dots:
				entry := y[14+c%2]
				VMOVUPD(at, entry)
				VFMADD231PD(entry, y[c], sum)
				VFMADD231PD(entry, x, y[4+4*v+c])
			case add:
				VFMADD231PD(at, y[c], sum)
			default:
				VFMADD231PD(at, x, y[4+4*v+c])
			}
		}
		if add {
			VMOVUPD(sum, Mem{Base: ys, Disp: 32 * v})
		}
	}
	ADDQ(U8(64), a)
	if dots {
		ADDQ(U8(64), xs)
	}
	if add {
		ADDQ(U8(64), ys)
	}
	DECQ(n)
	JNZ(LabelRef("step"))
	if dots {
		for c := range 4 {
			VADDPD(y[4+c], y[8+c], y[4+c])
		}
		// The sums of the lanes of four vectors.
		VHADDPD(y[5], y[4], y[4])
		VHADDPD(y[7], y[6], y[6])
		VPERM2F128(U8(0x21), y[6], y[4], y[8])
		VBLENDPD(U8(12), y[6], y[4], y[4])
		VADDPD(y[8], y[4], y[4])
		VMOVUPD(y[4], Mem{Base: ds})
	}
	VZEROUPPER()
	RET()
}

// sums emits the sums of a secular equation.
func sums() {
	TEXT("sumsAVX2", NOSPLIT, "func(z, gap []float64, tau float64) (value, slope float64)")
	Doc("sumsAVX2 is sumsGeneric for lengths that are multiples of 8, of at least 8.")
	Pragma("noescape")
	z := Load(Param("z").Base(), GP64())
	n := Load(Param("z").Len(), GP64())
	gap := Load(Param("gap").Base(), GP64())
	VBROADCASTSD(NewParamAddr("tau", 48), y[0])
	for i := 1; i < 5; i++ {
		VXORPD(y[i], y[i], y[i])
	}
	SHRQ(U8(3), n)
	Label("step")
	for v := range 2 {
		w, q := y[5+2*v], y[6+2*v]
		VMOVUPD(Mem{Base: gap, Disp: 32 * v}, w)
		VSUBPD(y[0], w, w)
		VMOVUPD(Mem{Base: z, Disp: 32 * v}, q)
		VDIVPD(w, q, w)
		VFMADD231PD(q, w, y[1+v])
		VFMADD231PD(w, w, y[3+v])
	}
	ADDQ(U8(64), z)
	ADDQ(U8(64), gap)
	DECQ(n)
	JNZ(LabelRef("step"))
	VADDPD(y[2], y[1], y[1])
	VADDPD(y[4], y[3], y[3])
	VHADDPD(y[3], y[1], y[1])
	VEXTRACTF128(U8(1), y[1], X2)
	VADDPD(X2, X1, X1)
	VMOVSD(X1, NewParamAddr("value", 56))
	VUNPCKHPD(X1, X1, X1)
	VMOVSD(X1, NewParamAddr("slope", 64))
	VZEROUPPER()
	RET()
}

// quotients emits to = x / y, and the sum of the squares.
func quotients() {
	TEXT("quotientsAVX2", NOSPLIT, "func(to, x, y []float64) (squares float64)")
	Doc("quotientsAVX2 is quotientsGeneric for lengths that are multiples of 8, of at least 8.")
	Pragma("noescape")
	to := Load(Param("to").Base(), GP64())
	n := Load(Param("to").Len(), GP64())
	x := Load(Param("x").Base(), GP64())
	d := Load(Param("y").Base(), GP64())
	VXORPD(y[0], y[0], y[0])
	VXORPD(y[1], y[1], y[1])
	SHRQ(U8(3), n)
	Label("step")
	for v := range 2 {
		VMOVUPD(Mem{Base: x, Disp: 32 * v}, y[2+v])
		VDIVPD(Mem{Base: d, Disp: 32 * v}, y[2+v], y[2+v])
		VFMADD231PD(y[2+v], y[2+v], y[v])
		VMOVUPD(y[2+v], Mem{Base: to, Disp: 32 * v})
	}
	ADDQ(U8(64), x)
	ADDQ(U8(64), d)
	ADDQ(U8(64), to)
	DECQ(n)
	JNZ(LabelRef("step"))
	VADDPD(y[1], y[0], y[0])
	VEXTRACTF128(U8(1), y[0], X1)
	VADDPD(X1, X0, X0)
	VHADDPD(X0, X0, X0)
	VMOVSD(X0, NewParamAddr("squares", 72))
	VZEROUPPER()
	RET()
}

// scaleQuotients emits to *= x / y.
func scaleQuotients() {
	TEXT("scaleQuotientsAVX2", NOSPLIT, "func(to, x, y []float64)")
	Doc("scaleQuotientsAVX2 is scaleQuotientsGeneric for lengths that are multiples of 8, of at least 8.")
	Pragma("noescape")
	to := Load(Param("to").Base(), GP64())
	n := Load(Param("to").Len(), GP64())
	x := Load(Param("x").Base(), GP64())
	d := Load(Param("y").Base(), GP64())
	SHRQ(U8(3), n)
	Label("step")
	for v := range 2 {
		VMOVUPD(Mem{Base: x, Disp: 32 * v}, y[v])
		VDIVPD(Mem{Base: d, Disp: 32 * v}, y[v], y[v])
		VMULPD(Mem{Base: to, Disp: 32 * v}, y[v], y[v])
		VMOVUPD(y[v], Mem{Base: to, Disp: 32 * v})
	}
	ADDQ(U8(64), x)
	ADDQ(U8(64), d)
	ADDQ(U8(64), to)
	DECQ(n)
	JNZ(LabelRef("step"))
	VZEROUPPER()
	RET()
}
