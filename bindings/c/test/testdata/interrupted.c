/* A long call of a program that leaves SIGINT as it is. */
#include "check.h"

int main(void) {
	const double rotation[4] = {0.6, -0.8, 0.8, 0.6};
	halfulp_matrix a, x;
	OK(halfulp_matrix_from_f64(rotation, 2, 2, 2, 1, NULL, &a));
	printf("begun\n");
	fflush(stdout);
	return halfulp_matrix_power(a, INT64_C(1) << 62, "mp:1000000", 0, &x);
}
