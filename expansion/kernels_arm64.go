//go:build arm64 && !purego

package expansion

import "github.com/halfulp/halfulp/internal/isa"

func kernelsOf(level isa.Set) *kernels {
	if level >= isa.NEON {
		return &kernelsNEON
	}
	return &portableKernels
}

var kernelsNEON = kernels{
	step: 4,
	blocks: &arithmetic{
		1: {horner: hornerSteps(hornerFloatsNEON)},
		2: {
			add:      binaryBlocks(addDDNEON),
			sub:      binaryBlocks(subDDNEON),
			mul:      binaryBlocks(mulDDNEON),
			div:      binaryBlocks(divDDNEON),
			sqrt:     unaryBlocks(sqrtDDNEON),
			addFloat: floatBlocks(addFloatDDNEON),
			mulFloat: floatBlocks(mulFloatDDNEON),
			horner:   hornerSteps(hornerDDNEON),
		},
		3: {
			add:      binaryBlocks(addTDNEON),
			sub:      binaryBlocks(subTDNEON),
			mul:      binaryBlocks(mulTDNEON),
			div:      binaryBlocks(divTDNEON),
			sqrt:     unaryBlocks(sqrtTDNEON),
			addFloat: floatBlocks(addFloatTDNEON),
			mulFloat: floatBlocks(mulFloatTDNEON),
			horner:   hornerSteps(hornerTDNEON),
		},
		4: {
			add:      binaryBlocks(addQDNEON),
			sub:      binaryBlocks(subQDNEON),
			mul:      binaryBlocks(mulQDNEON),
			div:      binaryBlocks(divQDNEON),
			sqrt:     unaryBlocks(sqrtQDNEON),
			addFloat: floatBlocks(addFloatQDNEON),
			mulFloat: floatBlocks(mulFloatQDNEON),
			horner:   hornerSteps(hornerQDNEON),
		},
	},
	arrays: [5][operations]kernel{
		2: {opAdd: ddAddNEON, opSub: ddSubNEON, opMul: ddMulNEON, opDiv: ddDivNEON, opSqrt: ddSqrtNEON, opFMA: ddFMANEON},
		3: {opAdd: tdAddNEON, opSub: tdSubNEON, opMul: tdMulNEON, opDiv: tdDivNEON, opSqrt: tdSqrtNEON, opFMA: tdFMANEON},
		4: {opAdd: qdAddNEON, opSub: qdSubNEON, opMul: qdMulNEON, opDiv: qdDivNEON, opSqrt: qdSqrtNEON, opFMA: qdFMANEON},
	},
	macs:    [5]kernel{2: ddMacNEON, 3: tdMacNEON, 4: qdMacNEON},
	tiles:   [5]tile{2: {2, 4, 2, macTileDDNEON}, 3: {2, 2, 2, macTileTDNEON}, 4: {2, 2, 2, macTileQDNEON}},
	columns: [5]tile{2: {2, 4, 1, macColumnDDNEON}, 3: {2, 2, 1, macColumnTDNEON}, 4: {2, 2, 1, macColumnQDNEON}},
}
