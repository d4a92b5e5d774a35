#ifdef __cplusplus
extern "C" {
#endif

/*
 * Numbers are terms consecutive doubles, terms = 2 or 4. product computes the entries low to high
 * - 1 of the column-major c = A B; a holds A by rows, b holds B by columns. sum adds the length
 * numbers of x.
 */
void bench_qd_product(int terms, const double *a, const double *b, double *c, long m, long k, long low, long high);
void bench_qd_sum(int terms, const double *x, double *z, long length);

#ifdef __cplusplus
}
#endif
