// Solves a system of Eigen's matrices with every entry correctly rounded, without copies.
//
//   c++ solve.cpp $(pkg-config --cflags --libs halfulp eigen3) -o solve
#include <Eigen/Dense>
#include <halfulp.h>
#include <iostream>
#include <stdexcept>

static void check(int status) {
	if (status != HALFULP_OK)
		throw std::runtime_error(halfulp_last_error());
}

// Handle frees a handle.
struct Handle {
	uint64_t value = 0;
	Handle() = default;
	Handle(const Handle &) = delete;
	~Handle() { halfulp_free(value); }
};

// The storage of a matrix of Eigen, which is to stay while the handle is in use.
static void wrap(Eigen::Ref<Eigen::MatrixXd> m, Handle &h) {
	check(halfulp_matrix_wrap_f64(m.data(), m.rows(), m.cols(), m.innerStride(), m.outerStride(), &h.value));
}

int main() {
	const int n = 8;
	Eigen::MatrixXd a(n, n), b = Eigen::MatrixXd::Ones(n, 1), x(n, 1);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a(i, j) = 1.0 / (i + j + 1);
	Handle ha, hb, hx, solution;
	wrap(a, ha);
	wrap(b, hb);
	wrap(x, hx);
	check(halfulp_solve(ha.value, hb.value, nullptr, 0, &solution.value));
	check(halfulp_matrix_assign(solution.value, hx.value, 0));
	// The same numbers, from an array of C or of any library, as a matrix of Eigen:
	Eigen::Map<Eigen::MatrixXd> seen(x.data(), n, 1);
	Eigen::MatrixXd other = a.partialPivLu().solve(b);
	std::cout.precision(17);
	std::cout << seen << "\nlargest relative error of Eigen: "
	          << ((other - seen).array() / seen.array()).abs().maxCoeff() << "\n";
}
