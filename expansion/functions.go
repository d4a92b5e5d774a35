package expansion

// The functions of [Function] for one number. Errors are relative; u = 2^-53.

// Exp returns e^a, with an error of at most 4u²: see [Exp].
func (a DD) Exp() DD { return applyOne(Exp, a, a) }

// Expm1 returns e^a - 1, without cancellation, with an error of at most 12u²: see [Expm1].
func (a DD) Expm1() DD { return applyOne(Expm1, a, a) }

// Exp2 returns 2^a, with an error of at most 4u²: see [Exp2].
func (a DD) Exp2() DD { return applyOne(Exp2, a, a) }

// Log returns ln a, with an error of at most 3u²: see [Log].
func (a DD) Log() DD { return applyOne(Log, a, a) }

// Log1p returns ln(1 + a), without cancellation, with an error of at most 3u²: see [Log1p].
func (a DD) Log1p() DD { return applyOne(Log1p, a, a) }

// Log2 returns log2 a, exactly if a is a power of two, with an error of at most 9u²: see [Log2].
func (a DD) Log2() DD { return applyOne(Log2, a, a) }

// Log10 returns log10 a, with an error of at most 8u²: see [Log10].
func (a DD) Log10() DD { return applyOne(Log10, a, a) }

// Pow returns a^b, with an error of at most 6u²: see [Pow].
func (a DD) Pow(b DD) DD { return applyOne(Pow, a, b) }

// Cbrt returns ∛a, with an error of at most 6u²: see [Cbrt].
func (a DD) Cbrt() DD { return applyOne(Cbrt, a, a) }

// Hypot returns √(a² + b²), without overflow on the way, with an error of at most 7u²: see [Hypot].
func (a DD) Hypot(b DD) DD { return applyOne(Hypot, a, b) }

// Sin returns sin a, with an error of at most 20u²: see [Sin].
func (a DD) Sin() DD { return applyOne(Sin, a, a) }

// Cos returns cos a, with an error of at most 20u²: see [Cos].
func (a DD) Cos() DD { return applyOne(Cos, a, a) }

// SinCos returns [DD.Sin] and [DD.Cos] of a, at less than the cost of both.
func (a DD) SinCos() (sin, cos DD) { return sinCos(a) }

// Tan returns tan a, with an error of at most 52u²: see [Tan].
func (a DD) Tan() DD { return applyOne(Tan, a, a) }

// Asin returns arcsin a, with an error of at most 44u²: see [Asin].
func (a DD) Asin() DD { return applyOne(Asin, a, a) }

// Acos returns arccos a, with an error of at most 44u²: see [Acos].
func (a DD) Acos() DD { return applyOne(Acos, a, a) }

// Atan returns arctan a, with an error of at most 36u²: see [Atan].
func (a DD) Atan() DD { return applyOne(Atan, a, a) }

// Atan2 returns the angle of the point (b, a), in [-π, π], with an error of at most 36u²: see
// [Atan2].
func (a DD) Atan2(b DD) DD { return applyOne(Atan2, a, b) }

// Sinh returns sinh a, with an error of at most 22u²: see [Sinh].
func (a DD) Sinh() DD { return applyOne(Sinh, a, a) }

// Cosh returns cosh a, with an error of at most 32u²: see [Cosh].
func (a DD) Cosh() DD { return applyOne(Cosh, a, a) }

// Tanh returns tanh a, with an error of at most 32u²: see [Tanh].
func (a DD) Tanh() DD { return applyOne(Tanh, a, a) }

// Asinh returns arsinh a, with an error of at most 20u²: see [Asinh].
func (a DD) Asinh() DD { return applyOne(Asinh, a, a) }

// Acosh returns arcosh a, with an error of at most 20u²: see [Acosh].
func (a DD) Acosh() DD { return applyOne(Acosh, a, a) }

// Atanh returns artanh a, with an error of at most 18u²: see [Atanh].
func (a DD) Atanh() DD { return applyOne(Atanh, a, a) }

// Exp returns e^a, with an error of at most 12u³: see [Exp].
func (a TD) Exp() TD { return applyOne(Exp, a, a) }

// Expm1 returns e^a - 1, without cancellation, with an error of at most 30u³: see [Expm1].
func (a TD) Expm1() TD { return applyOne(Expm1, a, a) }

// Exp2 returns 2^a, with an error of at most 12u³: see [Exp2].
func (a TD) Exp2() TD { return applyOne(Exp2, a, a) }

// Log returns ln a, with an error of at most 9u³: see [Log].
func (a TD) Log() TD { return applyOne(Log, a, a) }

// Log1p returns ln(1 + a), without cancellation, with an error of at most 9u³: see [Log1p].
func (a TD) Log1p() TD { return applyOne(Log1p, a, a) }

// Log2 returns log2 a, exactly if a is a power of two, with an error of at most 45u³: see [Log2].
func (a TD) Log2() TD { return applyOne(Log2, a, a) }

// Log10 returns log10 a, with an error of at most 40u³: see [Log10].
func (a TD) Log10() TD { return applyOne(Log10, a, a) }

// Pow returns a^b, with an error of at most 16u³: see [Pow].
func (a TD) Pow(b TD) TD { return applyOne(Pow, a, b) }

// Cbrt returns ∛a, with an error of at most 20u³: see [Cbrt].
func (a TD) Cbrt() TD { return applyOne(Cbrt, a, a) }

// Hypot returns √(a² + b²), without overflow on the way, with an error of at most 72u³: see
// [Hypot].
func (a TD) Hypot(b TD) TD { return applyOne(Hypot, a, b) }

// Sin returns sin a, with an error of at most 68u³: see [Sin].
func (a TD) Sin() TD { return applyOne(Sin, a, a) }

// Cos returns cos a, with an error of at most 68u³: see [Cos].
func (a TD) Cos() TD { return applyOne(Cos, a, a) }

// SinCos returns [TD.Sin] and [TD.Cos] of a, at less than the cost of both.
func (a TD) SinCos() (sin, cos TD) { return sinCos(a) }

// Tan returns tan a, with an error of at most 216u³: see [Tan].
func (a TD) Tan() TD { return applyOne(Tan, a, a) }

// Asin returns arcsin a, with an error of at most 204u³: see [Asin].
func (a TD) Asin() TD { return applyOne(Asin, a, a) }

// Acos returns arccos a, with an error of at most 204u³: see [Acos].
func (a TD) Acos() TD { return applyOne(Acos, a, a) }

// Atan returns arctan a, with an error of at most 140u³: see [Atan].
func (a TD) Atan() TD { return applyOne(Atan, a, a) }

// Atan2 returns the angle of the point (b, a), in [-π, π], with an error of at most 140u³: see
// [Atan2].
func (a TD) Atan2(b TD) TD { return applyOne(Atan2, a, b) }

// Sinh returns sinh a, with an error of at most 78u³: see [Sinh].
func (a TD) Sinh() TD { return applyOne(Sinh, a, a) }

// Cosh returns cosh a, with an error of at most 150u³: see [Cosh].
func (a TD) Cosh() TD { return applyOne(Cosh, a, a) }

// Tanh returns tanh a, with an error of at most 150u³: see [Tanh].
func (a TD) Tanh() TD { return applyOne(Tanh, a, a) }

// Asinh returns arsinh a, with an error of at most 100u³: see [Asinh].
func (a TD) Asinh() TD { return applyOne(Asinh, a, a) }

// Acosh returns arcosh a, with an error of at most 110u³: see [Acosh].
func (a TD) Acosh() TD { return applyOne(Acosh, a, a) }

// Atanh returns artanh a, with an error of at most 94u³: see [Atanh].
func (a TD) Atanh() TD { return applyOne(Atanh, a, a) }

// Exp returns e^a, with an error of at most 24u⁴: see [Exp].
func (a QD) Exp() QD { return applyOne(Exp, a, a) }

// Expm1 returns e^a - 1, without cancellation, with an error of at most 60u⁴: see [Expm1].
func (a QD) Expm1() QD { return applyOne(Expm1, a, a) }

// Exp2 returns 2^a, with an error of at most 24u⁴: see [Exp2].
func (a QD) Exp2() QD { return applyOne(Exp2, a, a) }

// Log returns ln a, with an error of at most 17u⁴: see [Log].
func (a QD) Log() QD { return applyOne(Log, a, a) }

// Log1p returns ln(1 + a), without cancellation, with an error of at most 17u⁴: see [Log1p].
func (a QD) Log1p() QD { return applyOne(Log1p, a, a) }

// Log2 returns log2 a, exactly if a is a power of two, with an error of at most 123u⁴: see [Log2].
func (a QD) Log2() QD { return applyOne(Log2, a, a) }

// Log10 returns log10 a, with an error of at most 116u⁴: see [Log10].
func (a QD) Log10() QD { return applyOne(Log10, a, a) }

// Pow returns a^b, with an error of at most 32u⁴: see [Pow].
func (a QD) Pow(b QD) QD { return applyOne(Pow, a, b) }

// Cbrt returns ∛a, with an error of at most 40u⁴: see [Cbrt].
func (a QD) Cbrt() QD { return applyOne(Cbrt, a, a) }

// Hypot returns √(a² + b²), without overflow on the way, with an error of at most 528u⁴: see
// [Hypot].
func (a QD) Hypot(b QD) QD { return applyOne(Hypot, a, b) }

// Sin returns sin a, with an error of at most 172u⁴: see [Sin].
func (a QD) Sin() QD { return applyOne(Sin, a, a) }

// Cos returns cos a, with an error of at most 172u⁴: see [Cos].
func (a QD) Cos() QD { return applyOne(Cos, a, a) }

// SinCos returns [QD.Sin] and [QD.Cos] of a, at less than the cost of both.
func (a QD) SinCos() (sin, cos QD) { return sinCos(a) }

// Tan returns tan a, with an error of at most 944u⁴: see [Tan].
func (a QD) Tan() QD { return applyOne(Tan, a, a) }

// Asin returns arcsin a, with an error of at most 1176u⁴: see [Asin].
func (a QD) Asin() QD { return applyOne(Asin, a, a) }

// Acos returns arccos a, with an error of at most 1176u⁴: see [Acos].
func (a QD) Acos() QD { return applyOne(Acos, a, a) }

// Atan returns arctan a, with an error of at most 720u⁴: see [Atan].
func (a QD) Atan() QD { return applyOne(Atan, a, a) }

// Atan2 returns the angle of the point (b, a), in [-π, π], with an error of at most 720u⁴: see
// [Atan2].
func (a QD) Atan2(b QD) QD { return applyOne(Atan2, a, b) }

// Sinh returns sinh a, with an error of at most 372u⁴: see [Sinh].
func (a QD) Sinh() QD { return applyOne(Sinh, a, a) }

// Cosh returns cosh a, with an error of at most 772u⁴: see [Cosh].
func (a QD) Cosh() QD { return applyOne(Cosh, a, a) }

// Tanh returns tanh a, with an error of at most 772u⁴: see [Tanh].
func (a QD) Tanh() QD { return applyOne(Tanh, a, a) }

// Asinh returns arsinh a, with an error of at most 600u⁴: see [Asinh].
func (a QD) Asinh() QD { return applyOne(Asinh, a, a) }

// Acosh returns arcosh a, with an error of at most 600u⁴: see [Acosh].
func (a QD) Acosh() QD { return applyOne(Acosh, a, a) }

// Atanh returns artanh a, with an error of at most 620u⁴: see [Atanh].
func (a QD) Atanh() QD { return applyOne(Atanh, a, a) }
