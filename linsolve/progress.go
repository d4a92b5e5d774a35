package linsolve

// may fuse throughout: estimates of time, none of them a result.
