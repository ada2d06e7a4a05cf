//go:build wasip1

// Command world is a guest that reaches for what a process has: time, random
// numbers, files, environment, exit.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/extism/go-pdk"
)

func main() {}

//go:wasmexport now
func now() int32 {
	start := time.Now()
	time.Sleep(20 * time.Millisecond)
	pdk.OutputString(fmt.Sprintf("%d %t", start.UnixMilli(), time.Since(start) >= 20*time.Millisecond))
	return 0
}

//go:wasmexport random
func random() int32 {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.OutputString(hex.EncodeToString(b[:]))
	return 0
}

//go:wasmexport exit_zero
func exitZero() int32 {
	pdk.OutputString("half an")
	fmt.Fprintln(os.Stderr, "leaving early")
	os.Exit(0)
	return 0
}

//go:wasmexport look_around
func lookAround() int32 {
	_, root := os.ReadDir("/")
	_, passwd := os.ReadFile("/etc/passwd")
	_, here := os.ReadFile("main.go")
	pdk.OutputString(fmt.Sprintf("%t %t %t %d %d", root != nil, passwd != nil, here != nil, len(os.Environ()), len(os.Args)))
	return 0
}

//go:wasmexport talk
func talk() int32 {
	fmt.Println("to standard output")
	fmt.Fprint(os.Stderr, "to standard error\nunfinished")
	pdk.Log(pdk.LogInfo, "to the log")
	return 0
}

//go:wasmexport crash
func crash() int32 { panic("a bug in the plugin") }
