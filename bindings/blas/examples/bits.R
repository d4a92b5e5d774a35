# Results whose last bits depend on the BLAS, in R. compare.sh runs this script.
n <- 200
entries <- function(rows, cols, k) outer(1:rows, 1:cols, function(i, j) (i * i * k + 31 * j * i + 7 * j * j) %% 1009 / 1009 - 0.5)
a <- entries(n, n, 1)
b <- entries(n, n, 3)
x <- entries(300, 12, 5)
y <- as.vector(entries(300, 1, 11))
show <- function(what, value) cat(sprintf("%-28s %a\n", what, value))

show("(a %*% b)[7, 9]", (a %*% b)[7, 9])
show("crossprod(a)[2, 5]", crossprod(a)[2, 5])
show("solve(a, b)[1, 1]", solve(a, b)[1, 1])
show("solve(a)[3, 4]", solve(a)[3, 4])
show("det(a)", det(a))
show("max(svd(a)$d)", max(svd(a)$d))
show("coef(lm(y ~ x))[2]", coef(lm(y ~ x))[[2]])
show("sum(resid(lm(y ~ x))^2)", sum(resid(lm(y ~ x))^2))
