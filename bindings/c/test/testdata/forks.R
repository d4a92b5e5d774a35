# Processes of mclapply, which are forked after the first call of the BLAS.
products <- function(seed) {
  set.seed(seed)
  a <- matrix(rnorm(3600), 60)
  b <- matrix(rnorm(3600), 60)
  list(a %*% b, crossprod(a, b), solve(a, b), sum((1e16 * a[1, ]) * b[1, ]), qr.coef(qr(a), b[, 1]))
}
x <- c(1e16, 1, -1e16)
stopifnot(grepl("libhalfulpblas", extSoftVersion()[["BLAS"]]), x %*% rep(1, 3) == 1)
want <- lapply(1:8, products)
got <- parallel::mclapply(1:8, products, mc.cores = 3)
again <- parallel::mclapply(1:8, products, mc.cores = 2, mc.preschedule = FALSE)
stopifnot(identical(got, want), identical(again, want))
cat("passed\n")
