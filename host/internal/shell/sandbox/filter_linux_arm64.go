package sandbox

// refusedHere are calls that other machines do without.
var refusedHere []uintptr

// changingHere are older calls of the kind of [changing].
var changingHere []uintptr
