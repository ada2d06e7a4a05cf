//go:build amd64 || arm64

package seccomp_test

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// run is what the kernel does with a program, for a call with its arguments.
func run(tb testing.TB, p seccomp.Program, arch, number uint32, arguments ...uint32) uint32 {
	tb.Helper()
	data := map[uint32]uint32{0: number, 4: arch}
	for i, a := range arguments {
		data[uint32(16+8*i)] = a
	}
	accumulator := uint32(0)
	for i := 0; i < len(p); i++ {
		yes := false
		switch in := p[i]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			accumulator = data[in.K]
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			accumulator &= in.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JA:
			i += int(in.K)
			continue
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			yes = accumulator == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			yes = accumulator >= in.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			yes = accumulator&in.K != 0
		default:
			tb.Fatalf("instruction %d has the code %#x", i, in.Code)
		}
		if yes {
			i += int(p[i].Jt)
		} else {
			i += int(p[i].Jf)
		}
	}
	tb.Fatal("the program has no end")
	return 0
}

func TestRules(t *testing.T) {
	t.Parallel()
	const own, first, second, third = 99, 1, 2, 3
	calls := func(list ...uintptr) []uintptr { return list }
	p := seccomp.New(own,
		seccomp.Rule{Action: first, Calls: calls(10, 11)},
		seccomp.Rule{Action: second, Calls: calls(12, 13), When: []seccomp.Test{{Argument: 1, Is: []uint32{5, 6, 7}}, {Argument: 2, Mask: 0xf, Is: []uint32{1}}}},
		seccomp.Rule{Action: first, Calls: calls(12), When: []seccomp.Test{{Argument: 0, Has: 0x30}}},
		seccomp.Rule{Action: third, Calls: calls(12)},
		seccomp.Rule{Action: first, Calls: calls(12, 14)},
	)
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	for _, c := range []struct {
		want uint32
		call []uint32
	}{
		{own, []uint32{9}},
		{first, []uint32{10}},
		{first, []uint32{11}},
		{second, []uint32{12, 0, 5, 1}},
		{second, []uint32{12, 0, 6, 0xf1}},
		{second, []uint32{13, 0, 7, 1}},
		{own, []uint32{13, 0, 7, 2}},
		{own, []uint32{13, 0, 8, 1}},
		{third, []uint32{12, 0, 4, 1}},
		{first, []uint32{12, 0x10, 5, 2}},
		{first, []uint32{12, 0x21, 4, 1}},
		{first, []uint32{14}},
		{own, []uint32{15}},
		{unix.SECCOMP_RET_KILL_PROCESS, []uint32{1 << 30}},
	} {
		if got := run(t, p, arch, c.call[0], c.call[1:]...); got != c.want {
			t.Errorf("%v: got %#x, want %#x", c.call, got, c.want)
		}
	}
	if got := run(t, p, arch+1, 10); got != unix.SECCOMP_RET_KILL_PROCESS {
		t.Errorf("another machine: got %#x", got)
	}
}
