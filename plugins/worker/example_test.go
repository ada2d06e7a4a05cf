package worker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/worker"
)

// A program that is its own worker: Main comes first, and returns in the process
// that was not started as one.
func Example() {
	worker.Main()
	command, err := worker.Self()
	if err != nil {
		log.Fatal(err)
	}
	o := worker.Options{Command: command}
	compiler := worker.NewCompiler(o)
	defer compiler.Close()
	isolated := worker.New(abi.ABIDirect, o)
	defer isolated.Close(context.Background())
	// For package host these are Options.Plugins.Compiler and Options.Plugins.Isolated.
	fmt.Println(isolated.ABI())
	// Output: toolquay:host/1
}
