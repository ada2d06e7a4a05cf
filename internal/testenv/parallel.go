package testenv

import "flag"

// waiting is how many parallel tests [Waiting] has run at once.
const waiting = "6"

// Waiting has more parallel tests run at once than the machine has processors, unless
// the command line says how many. It is for a TestMain, and for packages whose tests
// wait more than they work, as for other processes; where tests work, it gains nothing.
func Waiting() {
	if !flag.Parsed() {
		flag.Parse()
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", waiting); err != nil {
		panic(err) // the flag is there in each test binary
	}
}
