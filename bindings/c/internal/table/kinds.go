package table

// Kind describes arguments of one kind in C, in Go and in Python.
type Kind struct {
	C      string // type of the argument in C
	Go     string // type of the exported Go function
	Value  string // Go expression of the value, %[1]s the argument's name, %[2]s the exported name
	Ctypes string // type in Python's ctypes
	Doc    string // for the reference
}

// In are the kinds of arguments that a function reads, some of which it writes to.
var In = map[string]Kind{
	"matrix":          {"halfulp_matrix", "C.uint64_t", `k.matrix("%[1]s", %[2]s)`, "c_uint64", "matrix"},
	"vector":          {"halfulp_matrix", "C.uint64_t", `k.vector("%[1]s", %[2]s)`, "c_uint64", "n x 1 or 1 x n matrix"},
	"inout-matrix":    {"halfulp_matrix", "C.uint64_t", `k.matrix("%[1]s", %[2]s)`, "c_uint64", "matrix, which is changed"},
	"inout-vector":    {"halfulp_matrix", "C.uint64_t", `k.vector("%[1]s", %[2]s)`, "c_uint64", "n x 1 or 1 x n matrix, which is changed"},
	"optional-matrix": {"halfulp_matrix", "C.uint64_t", `k.optionalMatrix("%[1]s", %[2]s)`, "c_uint64", "matrix, or 0"},
	"optional-vector": {"halfulp_matrix", "C.uint64_t", `k.optionalVector("%[1]s", %[2]s)`, "c_uint64", "n x 1 or 1 x n matrix, or 0"},
	"view":            {"halfulp_matrix", "C.uint64_t", `k.view("%[1]s", %[2]s)`, "c_uint64", "matrix"},
	"scalar":          {"halfulp_scalar", "C.uint64_t", `k.scalar("%[1]s", %[2]s)`, "c_uint64", "scalar"},
	"optional-scalar": {"halfulp_scalar", "C.uint64_t", `k.optionalScalar("%[1]s", %[2]s)`, "c_uint64", "scalar, or 0"},
	"rational":        {"halfulp_rational", "C.uint64_t", `k.rational("%[1]s", %[2]s)`, "c_uint64", "rational matrix"},
	"record":          {"halfulp_record", "C.uint64_t", `k.record("%[1]s", %[2]s)`, "c_uint64", "record"},
	"options":         {"halfulp_options", "C.uint64_t", `k.options("%[1]s", %[2]s)`, "c_uint64", "options, or 0 for the defaults"},
	"set-options":     {"halfulp_options", "C.uint64_t", `k.neededOptions("%[1]s", %[2]s)`, "c_uint64", "options"},
	"handle":          {"uint64_t", "C.uint64_t", `uint64(%[2]s)`, "c_uint64", "handle of any kind"},
	"trans":           {"char", "C.char", `k.trans("%[1]s", %[2]s)`, "c_char", "'N' for X, 'T' or 'C' for its transpose"},
	"uplo":            {"char", "C.char", `k.uplo("%[1]s", %[2]s)`, "c_char", "'U' for the upper triangle, 'L' for the lower one"},
	"diag":            {"char", "C.char", `k.diag("%[1]s", %[2]s)`, "c_char", "'N', or 'U' for a diagonal of ones that is not read"},
	"side":            {"char", "C.char", `k.side("%[1]s", %[2]s)`, "c_char", "'L' for the left side, 'R' for the right one"},
	"norm":            {"char", "C.char", `k.norm("%[1]s", %[2]s)`, "c_char", "'1' or 'O' for the 1-norm (the largest sum of a column), '2' for the 2-norm (the largest singular value), 'I' for the maximum norm (the largest sum of a row)"},
	"any-norm":        {"char", "C.char", `k.anyNorm("%[1]s", %[2]s)`, "c_char", "'1' or 'O' for the largest sum of a column, 'I' for the largest sum of a row, 'F' or 'E' for Frobenius, 'M' for the largest magnitude, '2' for the largest singular value"},
	"int":             {"int64_t", "C.int64_t", `int(%[2]s)`, "c_int64", "integer"},
	"uint":            {"uint64_t", "C.uint64_t", `uint64(%[2]s)`, "c_uint64", "integer"},
	"bool":            {"int", "C.int", `%[2]s != 0`, "c_int", "0 or 1"},
	"real":            {"double", "C.double", `float64(%[2]s)`, "c_double", "number"},
	"float":           {"float", "C.float", `float32(%[2]s)`, "c_float", "number"},
	"text":            {"const char *", "*C.char", `k.text("%[1]s", %[2]s)`, "c_char_p", "text, in UTF-8"},
	"optional-text":   {"const char *", "*C.char", `C.GoString(%[2]s)`, "c_char_p", "text, or NULL"},
	"format":          {"const char *", "*C.char", `k.format("%[1]s", %[2]s, %[3]s)`, "c_char_p", "format, or NULL"},
	"doubles":         {"const double *", "*C.double", `(*float64)(%[2]s)`, "c_void_p", "numbers"},
	"doubles-out":     {"double *", "*C.double", `(*float64)(%[2]s)`, "c_void_p", "numbers, which are written"},
	"floats":          {"const float *", "*C.float", `(*float32)(%[2]s)`, "c_void_p", "numbers"},
	"floats-out":      {"float *", "*C.float", `(*float32)(%[2]s)`, "c_void_p", "numbers, which are written"},
	"int64s":          {"const int64_t *", "*C.int64_t", `(*int64)(%[2]s)`, "c_void_p", "integers"},
	"int64s-out":      {"int64_t *", "*C.int64_t", `(*int64)(%[2]s)`, "c_void_p", "integers, which are written"},
	"uint64s":         {"const uint64_t *", "*C.uint64_t", `(*uint64)(%[2]s)`, "c_void_p", "integers"},
	"uint64s-out":     {"uint64_t *", "*C.uint64_t", `(*uint64)(%[2]s)`, "c_void_p", "integers, which are written"},
	"int8s":           {"const int8_t *", "*C.int8_t", `(*int8)(%[2]s)`, "c_void_p", "integers"},
	"int8s-out":       {"int8_t *", "*C.int8_t", `(*int8)(%[2]s)`, "c_void_p", "integers, which are written"},
	"bytes":           {"const uint8_t *", "*C.uint8_t", `(*uint8)(%[2]s)`, "c_void_p", "bytes"},
	"bytes-out":       {"uint8_t *", "*C.uint8_t", `(*uint8)(%[2]s)`, "c_void_p", "bytes, which are written"},
	"texts":           {"const char *const *", "**C.char", `%[2]s`, "c_void_p", "texts"},
	"flag":            {"const int32_t *", "*C.int32_t", `%[2]s`, "c_void_p", "flag, or NULL"},
	"progress":        {"halfulp_progress", "C.halfulp_progress", `%[2]s`, "c_void_p", "function, or NULL"},
	"pointer":         {"void *", "unsafe.Pointer", `%[2]s`, "c_void_p", "pointer"},
}

// Out are the kinds of results; Value is the method that stores one.
var Out = map[string]Kind{
	"matrix":   {"halfulp_matrix *", "*C.uint64_t", "putMatrix", "POINTER(c_uint64)", "new matrix"},
	"view":     {"halfulp_matrix *", "*C.uint64_t", "putView", "POINTER(c_uint64)", "new handle of a view, which shares the numbers"},
	"scalar":   {"halfulp_scalar *", "*C.uint64_t", "putScalar", "POINTER(c_uint64)", "new scalar"},
	"rational": {"halfulp_rational *", "*C.uint64_t", "putRational", "POINTER(c_uint64)", "new rational matrix"},
	"record":   {"halfulp_record *", "*C.uint64_t", "putRecord", "POINTER(c_uint64)", "new record"},
	"options":  {"halfulp_options *", "*C.uint64_t", "putOptions", "POINTER(c_uint64)", "new options"},
	"int":      {"int64_t *", "*C.int64_t", "putInt", "POINTER(c_int64)", "integer"},
	"count":    {"int64_t *", "*C.int64_t", "putCount", "POINTER(c_int64)", "integer, which is not stored for NULL"},
	"bool":     {"int *", "*C.int", "putBool", "POINTER(c_int)", "0 or 1"},
	"real":     {"double *", "*C.double", "putReal", "POINTER(c_double)", "number"},
	"text":     {"char **", "**C.char", "putText", "POINTER(c_void_p)", "text, which halfulp_text_free frees"},
	"bytes":    {"char **", "**C.char", "putBytes", "POINTER(c_void_p)", "bytes, which halfulp_text_free frees"},
}
