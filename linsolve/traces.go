package linsolve

// On the host blocks are as fast or faster: with two threads traces took 1.0 to 1.6 times their
// time at n = 300 and 1.0 to 2.2 times at n = 600, for Float64, MP(106) and MP(424).
