package linsolve
