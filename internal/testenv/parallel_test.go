package testenv

import (
	"flag"
	"testing"
)

func TestWaiting(t *testing.T) {
	parallel := flag.Lookup("test.parallel").Value
	former := parallel.String()
	t.Cleanup(func() {
		if err := flag.Set("test.parallel", former); err != nil {
			t.Error(err)
		}
	})
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })

	Waiting()
	if want := map[bool]string{true: former, false: waiting}[given]; parallel.String() != want {
		t.Errorf("%v tests at once, not %v", parallel, want)
	}
	if err := flag.Set("test.parallel", "3"); err != nil { // as a command line that names it
		t.Fatal(err)
	}
	Waiting()
	if parallel.String() != "3" {
		t.Errorf("%v tests at once where 3 were asked for", parallel)
	}
}
