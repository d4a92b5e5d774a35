package linsolve

// may fuse throughout: estimates of memory, none of them a result.
