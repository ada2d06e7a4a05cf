package sandbox

// refusedHere are calls that other machines do without.
var refusedHere []uintptr
