//go:build amd64 && !purego

package expansion

import "github.com/halfulp/halfulp/internal/isa"

//go:generate go -C _asm run . -level avx2 -out ../kernels_avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg expansion
//go:generate go -C _asm run . -level avx512 -out ../kernels_avx512_amd64.s -stubs ../stubs_avx512_amd64.go -pkg expansion
//go:generate go -C _asm run . -level neon -out ../kernels_neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg expansion

func kernelsOf(level isa.Set) *kernels {
	switch level {
	case isa.AMX, isa.AVX512:
		return &kernelsAVX512
	case isa.AVX2:
		return &kernelsAVX2
	}
	return &portableKernels
}

var kernelsAVX2 = kernels{
	step: 8,
	blocks: &arithmetic{
		1: {horner: hornerSteps(hornerFloatsAVX2)},
		2: {
			add:      binaryBlocks(addDDAVX2),
			sub:      binaryBlocks(subDDAVX2),
			mul:      binaryBlocks(mulDDAVX2),
			div:      binaryBlocks(divDDAVX2),
			sqrt:     unaryBlocks(sqrtDDAVX2),
			addFloat: floatBlocks(addFloatDDAVX2),
			mulFloat: floatBlocks(mulFloatDDAVX2),
			horner:   hornerSteps(hornerDDAVX2),
		},
		3: {
			add:      binaryBlocks(addTDAVX2),
			sub:      binaryBlocks(subTDAVX2),
			mul:      binaryBlocks(mulTDAVX2),
			div:      binaryBlocks(divTDAVX2),
			sqrt:     unaryBlocks(sqrtTDAVX2),
			addFloat: floatBlocks(addFloatTDAVX2),
			mulFloat: floatBlocks(mulFloatTDAVX2),
			horner:   hornerSteps(hornerTDAVX2),
		},
		4: {
			add:      binaryBlocks(addQDAVX2),
			sub:      binaryBlocks(subQDAVX2),
			mul:      binaryBlocks(mulQDAVX2),
			div:      binaryBlocks(divQDAVX2),
			sqrt:     unaryBlocks(sqrtQDAVX2),
			addFloat: floatBlocks(addFloatQDAVX2),
			mulFloat: floatBlocks(mulFloatQDAVX2),
			horner:   hornerSteps(hornerQDAVX2),
		},
	},
	arrays: [5][operations]kernel{
		2: {opAdd: ddAddAVX2, opSub: ddSubAVX2, opMul: ddMulAVX2, opDiv: ddDivAVX2, opSqrt: ddSqrtAVX2, opFMA: ddFMAAVX2},
		3: {opAdd: tdAddAVX2, opSub: tdSubAVX2, opMul: tdMulAVX2, opDiv: tdDivAVX2, opSqrt: tdSqrtAVX2, opFMA: tdFMAAVX2},
		4: {opAdd: qdAddAVX2, opSub: qdSubAVX2, opMul: qdMulAVX2, opDiv: qdDivAVX2, opSqrt: qdSqrtAVX2, opFMA: qdFMAAVX2},
	},
	macs:    [5]kernel{2: ddMacAVX2, 3: tdMacAVX2, 4: qdMacAVX2},
	tiles:   [5]tile{2: {4, 4, 2, macTileDDAVX2}, 3: {4, 2, 2, macTileTDAVX2}, 4: {4, 2, 2, macTileQDAVX2}},
	columns: [5]tile{2: {4, 4, 1, macColumnDDAVX2}, 3: {4, 2, 1, macColumnTDAVX2}, 4: {4, 2, 1, macColumnQDAVX2}},
}

var kernelsAVX512 = kernels{
	step: 16,
	blocks: &arithmetic{
		1: {horner: hornerSteps(hornerFloatsAVX512)},
		2: {
			add:      binaryBlocks(addDDAVX512),
			sub:      binaryBlocks(subDDAVX512),
			mul:      binaryBlocks(mulDDAVX512),
			div:      binaryBlocks(divDDAVX512),
			sqrt:     unaryBlocks(sqrtDDAVX512),
			addFloat: floatBlocks(addFloatDDAVX512),
			mulFloat: floatBlocks(mulFloatDDAVX512),
			horner:   hornerSteps(hornerDDAVX512),
		},
		3: {
			add:      binaryBlocks(addTDAVX512),
			sub:      binaryBlocks(subTDAVX512),
			mul:      binaryBlocks(mulTDAVX512),
			div:      binaryBlocks(divTDAVX512),
			sqrt:     unaryBlocks(sqrtTDAVX512),
			addFloat: floatBlocks(addFloatTDAVX512),
			mulFloat: floatBlocks(mulFloatTDAVX512),
			horner:   hornerSteps(hornerTDAVX512),
		},
		4: {
			add:      binaryBlocks(addQDAVX512),
			sub:      binaryBlocks(subQDAVX512),
			mul:      binaryBlocks(mulQDAVX512),
			div:      binaryBlocks(divQDAVX512),
			sqrt:     unaryBlocks(sqrtQDAVX512),
			addFloat: floatBlocks(addFloatQDAVX512),
			mulFloat: floatBlocks(mulFloatQDAVX512),
			horner:   hornerSteps(hornerQDAVX512),
		},
	},
	arrays: [5][operations]kernel{
		2: {opAdd: ddAddAVX512, opSub: ddSubAVX512, opMul: ddMulAVX512, opDiv: ddDivAVX512, opSqrt: ddSqrtAVX512, opFMA: ddFMAAVX512},
		3: {opAdd: tdAddAVX512, opSub: tdSubAVX512, opMul: tdMulAVX512, opDiv: tdDivAVX512, opSqrt: tdSqrtAVX512, opFMA: tdFMAAVX512},
		4: {opAdd: qdAddAVX512, opSub: qdSubAVX512, opMul: qdMulAVX512, opDiv: qdDivAVX512, opSqrt: qdSqrtAVX512, opFMA: qdFMAAVX512},
	},
	macs:    [5]kernel{2: ddMacAVX512, 3: tdMacAVX512, 4: qdMacAVX512},
	tiles:   [5]tile{2: {8, 4, 2, macTileDDAVX512}, 3: {8, 2, 2, macTileTDAVX512}, 4: {8, 2, 2, macTileQDAVX512}},
	columns: [5]tile{2: {8, 4, 1, macColumnDDAVX512}, 3: {8, 2, 1, macColumnTDAVX512}, 4: {8, 2, 1, macColumnQDAVX512}},
}
