#ifdef __cplusplus
extern "C" {
#endif

/*
 * Numbers are terms consecutive doubles, terms = 2 or 4. elementwise sets z_i = x_i op y_i for op
 * +, *, / or a function of x_i alone: s (square root), e (exp), l (log), n (sin). It returns 0 for
 * another op.
 */
int bench_expansion_elementwise(int terms, char op, const double *x, const double *y, double *z, long n);

/* columns low to high - 1 of the column-major c = A B; a holds A by rows, b holds B by columns. */
void bench_expansion_product(int terms, const double *a, const double *b, double *c, long n, long low, long high);

#ifdef __cplusplus
}
#endif
