% Results whose last bits depend on the BLAS, in Octave. compare.sh runs this script.
1;
function a = entries (rows, cols, k)
  [j, i] = meshgrid (1:cols, 1:rows);
  a = mod (i .* i * k + 31 * j .* i + 7 * j .* j, 1009) / 1009 - 0.5;
end
function show (what, value)
  printf ("%-28s %.17g\n", what, value);
end
n = 200;
A = entries (n, n, 1);
B = entries (n, n, 3);
X = entries (300, 12, 5);
y = entries (300, 1, 11);

show ("(A * B)(7, 9)", (A * B)(7, 9));
show ("(A' * A)(2, 5)", (A' * A)(2, 5));
show ("(A \\ B)(1, 1)", (A \ B)(1, 1));
show ("inv (A)(3, 4)", inv (A)(3, 4));
show ("det (A)", det (A));
show ("norm (A)", norm (A));
show ("(X \\ y)(2)", (X \ y)(2));
show ("max (eig (A + A'))", max (eig (A + A')));
