package linsolve

// Factors by products live where A does, on the host or at the run's place, as Newton's method
// does (resident.go). The functions here are what they do beside products.
