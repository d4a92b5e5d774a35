package linsolve

// Splittings live where A does, as doublings do (residentfactors.go). The functions here are what
// is different at a place: products there need not be rounded correctly, and norms come from it.
