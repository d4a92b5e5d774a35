package gpu

// Machine is machine for the tests of what is built on this package.
var Machine = machine
