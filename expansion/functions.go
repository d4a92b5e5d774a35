package expansion

// The functions of [Function] for one number. Errors are relative; u = 2^-53.

// Exp returns e^x, with an error of at most 4u²: see [Exp].
func (x DD) Exp() DD { return applyOne(Exp, x, x) }

// Expm1 returns e^x - 1, without cancellation, with an error of at most 12u²: see [Expm1].
func (x DD) Expm1() DD { return applyOne(Expm1, x, x) }

// Exp2 returns 2^x, with an error of at most 4u²: see [Exp2].
func (x DD) Exp2() DD { return applyOne(Exp2, x, x) }

// Log returns ln x, with an error of at most 3u²: see [Log].
func (x DD) Log() DD { return applyOne(Log, x, x) }

// Log1p returns ln(1 + x), without cancellation, with an error of at most 3u²: see [Log1p].
func (x DD) Log1p() DD { return applyOne(Log1p, x, x) }

// Log2 returns log2 x, exactly if x is a power of two, with an error of at most 9u²: see [Log2].
func (x DD) Log2() DD { return applyOne(Log2, x, x) }

// Log10 returns log10 x, with an error of at most 8u²: see [Log10].
func (x DD) Log10() DD { return applyOne(Log10, x, x) }

// Pow returns x^y, with an error of at most 6u²: see [Pow].
func (x DD) Pow(y DD) DD { return applyOne(Pow, x, y) }

// Cbrt returns ∛x, with an error of at most 6u²: see [Cbrt].
func (x DD) Cbrt() DD { return applyOne(Cbrt, x, x) }

// Hypot returns √(x² + y²), without overflow on the way, with an error of at most 7u²: see [Hypot].
func (x DD) Hypot(y DD) DD { return applyOne(Hypot, x, y) }

// Sin returns sin x, with an error of at most 20u²: see [Sin].
func (x DD) Sin() DD { return applyOne(Sin, x, x) }

// Cos returns cos x, with an error of at most 20u²: see [Cos].
func (x DD) Cos() DD { return applyOne(Cos, x, x) }

// SinCos returns [DD.Sin] and [DD.Cos] of x, at less than the cost of both.
func (x DD) SinCos() (sin, cos DD) { return sinCos(x) }

// Tan returns tan x, with an error of at most 52u²: see [Tan].
func (x DD) Tan() DD { return applyOne(Tan, x, x) }

// Asin returns arcsin x, with an error of at most 44u²: see [Asin].
func (x DD) Asin() DD { return applyOne(Asin, x, x) }

// Acos returns arccos x, with an error of at most 44u²: see [Acos].
func (x DD) Acos() DD { return applyOne(Acos, x, x) }

// Atan returns arctan x, with an error of at most 36u²: see [Atan].
func (x DD) Atan() DD { return applyOne(Atan, x, x) }

// Atan2 returns the angle of the point (x, y), in [-π, π], with an error of at most 36u²: see [Atan2].
func (y DD) Atan2(x DD) DD { return applyOne(Atan2, y, x) }

// Sinh returns sinh x, with an error of at most 22u²: see [Sinh].
func (x DD) Sinh() DD { return applyOne(Sinh, x, x) }

// Cosh returns cosh x, with an error of at most 32u²: see [Cosh].
func (x DD) Cosh() DD { return applyOne(Cosh, x, x) }

// Tanh returns tanh x, with an error of at most 32u²: see [Tanh].
func (x DD) Tanh() DD { return applyOne(Tanh, x, x) }

// Asinh returns arsinh x, with an error of at most 20u²: see [Asinh].
func (x DD) Asinh() DD { return applyOne(Asinh, x, x) }

// Acosh returns arcosh x, with an error of at most 20u²: see [Acosh].
func (x DD) Acosh() DD { return applyOne(Acosh, x, x) }

// Atanh returns artanh x, with an error of at most 18u²: see [Atanh].
func (x DD) Atanh() DD { return applyOne(Atanh, x, x) }

// Exp returns e^x, with an error of at most 12u³: see [Exp].
func (x TD) Exp() TD { return applyOne(Exp, x, x) }

// Expm1 returns e^x - 1, without cancellation, with an error of at most 30u³: see [Expm1].
func (x TD) Expm1() TD { return applyOne(Expm1, x, x) }

// Exp2 returns 2^x, with an error of at most 12u³: see [Exp2].
func (x TD) Exp2() TD { return applyOne(Exp2, x, x) }

// Log returns ln x, with an error of at most 9u³: see [Log].
func (x TD) Log() TD { return applyOne(Log, x, x) }

// Log1p returns ln(1 + x), without cancellation, with an error of at most 9u³: see [Log1p].
func (x TD) Log1p() TD { return applyOne(Log1p, x, x) }

// Log2 returns log2 x, exactly if x is a power of two, with an error of at most 25u³: see [Log2].
func (x TD) Log2() TD { return applyOne(Log2, x, x) }

// Log10 returns log10 x, with an error of at most 18u³: see [Log10].
func (x TD) Log10() TD { return applyOne(Log10, x, x) }

// Pow returns x^y, with an error of at most 16u³: see [Pow].
func (x TD) Pow(y TD) TD { return applyOne(Pow, x, y) }

// Cbrt returns ∛x, with an error of at most 20u³: see [Cbrt].
func (x TD) Cbrt() TD { return applyOne(Cbrt, x, x) }

// Hypot returns √(x² + y²), without overflow on the way, with an error of at most 72u³: see [Hypot].
func (x TD) Hypot(y TD) TD { return applyOne(Hypot, x, y) }

// Sin returns sin x, with an error of at most 48u³: see [Sin].
func (x TD) Sin() TD { return applyOne(Sin, x, x) }

// Cos returns cos x, with an error of at most 48u³: see [Cos].
func (x TD) Cos() TD { return applyOne(Cos, x, x) }

// SinCos returns [TD.Sin] and [TD.Cos] of x, at less than the cost of both.
func (x TD) SinCos() (sin, cos TD) { return sinCos(x) }

// Tan returns tan x, with an error of at most 160u³: see [Tan].
func (x TD) Tan() TD { return applyOne(Tan, x, x) }

// Asin returns arcsin x, with an error of at most 204u³: see [Asin].
func (x TD) Asin() TD { return applyOne(Asin, x, x) }

// Acos returns arccos x, with an error of at most 204u³: see [Acos].
func (x TD) Acos() TD { return applyOne(Acos, x, x) }

// Atan returns arctan x, with an error of at most 128u³: see [Atan].
func (x TD) Atan() TD { return applyOne(Atan, x, x) }

// Atan2 returns the angle of the point (x, y), in [-π, π], with an error of at most 128u³: see [Atan2].
func (y TD) Atan2(x TD) TD { return applyOne(Atan2, y, x) }

// Sinh returns sinh x, with an error of at most 74u³: see [Sinh].
func (x TD) Sinh() TD { return applyOne(Sinh, x, x) }

// Cosh returns cosh x, with an error of at most 120u³: see [Cosh].
func (x TD) Cosh() TD { return applyOne(Cosh, x, x) }

// Tanh returns tanh x, with an error of at most 120u³: see [Tanh].
func (x TD) Tanh() TD { return applyOne(Tanh, x, x) }

// Asinh returns arsinh x, with an error of at most 100u³: see [Asinh].
func (x TD) Asinh() TD { return applyOne(Asinh, x, x) }

// Acosh returns arcosh x, with an error of at most 110u³: see [Acosh].
func (x TD) Acosh() TD { return applyOne(Acosh, x, x) }

// Atanh returns artanh x, with an error of at most 84u³: see [Atanh].
func (x TD) Atanh() TD { return applyOne(Atanh, x, x) }

// Exp returns e^x, with an error of at most 24u⁴: see [Exp].
func (x QD) Exp() QD { return applyOne(Exp, x, x) }

// Expm1 returns e^x - 1, without cancellation, with an error of at most 60u⁴: see [Expm1].
func (x QD) Expm1() QD { return applyOne(Expm1, x, x) }

// Exp2 returns 2^x, with an error of at most 24u⁴: see [Exp2].
func (x QD) Exp2() QD { return applyOne(Exp2, x, x) }

// Log returns ln x, with an error of at most 17u⁴: see [Log].
func (x QD) Log() QD { return applyOne(Log, x, x) }

// Log1p returns ln(1 + x), without cancellation, with an error of at most 17u⁴: see [Log1p].
func (x QD) Log1p() QD { return applyOne(Log1p, x, x) }

// Log2 returns log2 x, exactly if x is a power of two, with an error of at most 49u⁴: see [Log2].
func (x QD) Log2() QD { return applyOne(Log2, x, x) }

// Log10 returns log10 x, with an error of at most 34u⁴: see [Log10].
func (x QD) Log10() QD { return applyOne(Log10, x, x) }

// Pow returns x^y, with an error of at most 32u⁴: see [Pow].
func (x QD) Pow(y QD) QD { return applyOne(Pow, x, y) }

// Cbrt returns ∛x, with an error of at most 40u⁴: see [Cbrt].
func (x QD) Cbrt() QD { return applyOne(Cbrt, x, x) }

// Hypot returns √(x² + y²), without overflow on the way, with an error of at most 528u⁴: see [Hypot].
func (x QD) Hypot(y QD) QD { return applyOne(Hypot, x, y) }

// Sin returns sin x, with an error of at most 92u⁴: see [Sin].
func (x QD) Sin() QD { return applyOne(Sin, x, x) }

// Cos returns cos x, with an error of at most 92u⁴: see [Cos].
func (x QD) Cos() QD { return applyOne(Cos, x, x) }

// SinCos returns [QD.Sin] and [QD.Cos] of x, at less than the cost of both.
func (x QD) SinCos() (sin, cos QD) { return sinCos(x) }

// Tan returns tan x, with an error of at most 700u⁴: see [Tan].
func (x QD) Tan() QD { return applyOne(Tan, x, x) }

// Asin returns arcsin x, with an error of at most 1176u⁴: see [Asin].
func (x QD) Asin() QD { return applyOne(Asin, x, x) }

// Acos returns arccos x, with an error of at most 1176u⁴: see [Acos].
func (x QD) Acos() QD { return applyOne(Acos, x, x) }

// Atan returns arctan x, with an error of at most 640u⁴: see [Atan].
func (x QD) Atan() QD { return applyOne(Atan, x, x) }

// Atan2 returns the angle of the point (x, y), in [-π, π], with an error of at most 640u⁴: see [Atan2].
func (y QD) Atan2(x QD) QD { return applyOne(Atan2, y, x) }

// Sinh returns sinh x, with an error of at most 340u⁴: see [Sinh].
func (x QD) Sinh() QD { return applyOne(Sinh, x, x) }

// Cosh returns cosh x, with an error of at most 620u⁴: see [Cosh].
func (x QD) Cosh() QD { return applyOne(Cosh, x, x) }

// Tanh returns tanh x, with an error of at most 620u⁴: see [Tanh].
func (x QD) Tanh() QD { return applyOne(Tanh, x, x) }

// Asinh returns arsinh x, with an error of at most 600u⁴: see [Asinh].
func (x QD) Asinh() QD { return applyOne(Asinh, x, x) }

// Acosh returns arcosh x, with an error of at most 600u⁴: see [Acosh].
func (x QD) Acosh() QD { return applyOne(Acosh, x, x) }

// Atanh returns artanh x, with an error of at most 550u⁴: see [Atanh].
func (x QD) Atanh() QD { return applyOne(Atanh, x, x) }
