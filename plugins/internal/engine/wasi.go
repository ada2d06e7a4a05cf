package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// WASI is the module name of WASI preview 1.
const WASI = "wasi_snapshot_preview1"

// WASI preview 1 for guests that have no files, sockets, arguments or
// environment: three standard streams, time, random numbers, and honest errors
// for the rest. It is our own because of what it must do besides: stop with the
// call however long its arguments are, keep no state from one call to the next,
// and note whether a start took anything from outside.

// wasiFunction is one function: its parameters, a letter each ("i" and "I" for
// i32 and i64), and what it does. It answers an errno.
type wasiFunction struct {
	params string
	do     func(c *wasiCall) errno
}

// onStream is what a function answers that does no more than look at the
// descriptor that is its parameter number at.
func onStream(at int, answer errno) func(*wasiCall) errno {
	return func(c *wasiCall) errno {
		if !c.open(c.u32(at)) {
			return badf
		}
		return answer
	}
}

func always(answer errno) func(*wasiCall) errno {
	return func(*wasiCall) errno { return answer }
}

var wasiFunctions = map[string]wasiFunction{
	"args_get":                {"ii", always(success)},
	"args_sizes_get":          {"ii", noStrings},
	"environ_get":             {"ii", always(success)},
	"environ_sizes_get":       {"ii", noStrings},
	"clock_res_get":           {"ii", clockRes},
	"clock_time_get":          {"iIi", clockTime},
	"fd_advise":               {"iIIi", onStream(0, seekPipe)},
	"fd_allocate":             {"iII", onStream(0, seekPipe)},
	"fd_close":                {"i", fdClose},
	"fd_datasync":             {"i", onStream(0, inval)},
	"fd_fdstat_get":           {"ii", fdStat},
	"fd_fdstat_set_flags":     {"ii", onStream(0, success)},
	"fd_fdstat_set_rights":    {"iII", onStream(0, nosys)},
	"fd_filestat_get":         {"ii", fdFileStat},
	"fd_filestat_set_size":    {"iI", onStream(0, inval)},
	"fd_filestat_set_times":   {"iIIi", onStream(0, inval)},
	"fd_pread":                {"iiiIi", onStream(0, seekPipe)},
	"fd_prestat_get":          {"ii", always(badf)},
	"fd_prestat_dir_name":     {"iii", always(badf)},
	"fd_pwrite":               {"iiiIi", onStream(0, seekPipe)},
	"fd_read":                 {"iiii", fdRead},
	"fd_readdir":              {"iiiIi", onStream(0, notdir)},
	"fd_renumber":             {"ii", onStream(0, notsup)},
	"fd_seek":                 {"iIii", onStream(0, seekPipe)},
	"fd_sync":                 {"i", onStream(0, inval)},
	"fd_tell":                 {"ii", onStream(0, seekPipe)},
	"fd_write":                {"iiii", fdWrite},
	"path_create_directory":   {"iii", onStream(0, notdir)},
	"path_filestat_get":       {"iiiii", onStream(0, notdir)},
	"path_filestat_set_times": {"iiiiIIi", onStream(0, notdir)},
	"path_link":               {"iiiiiii", onStream(0, notdir)},
	"path_open":               {"iiiiiIIii", onStream(0, notdir)},
	"path_readlink":           {"iiiiii", onStream(0, notdir)},
	"path_remove_directory":   {"iii", onStream(0, notdir)},
	"path_rename":             {"iiiiii", onStream(0, notdir)},
	"path_symlink":            {"iiiii", onStream(2, notdir)},
	"path_unlink_file":        {"iii", onStream(0, notdir)},
	"poll_oneoff":             {"iiii", pollOneoff},
	"proc_raise":              {"i", always(nosys)},
	"random_get":              {"ii", randomGet},
	"sched_yield":             {"", schedYield},
	"sock_accept":             {"iii", onStream(0, notsock)},
	"sock_recv":               {"iiiiii", onStream(0, notsock)},
	"sock_send":               {"iiiii", onStream(0, notsock)},
	"sock_shutdown":           {"ii", onStream(0, notsock)},
}

// procExitName is the function of WASI that does not return.
const procExitName = "proc_exit"

// LinkWASI defines WASI preview 1 once, without files, sockets, arguments or
// environment; time and random numbers are real.
func (e *Engine) LinkWASI(ctx context.Context) error {
	return e.Link(ctx, WASI, func(b wazero.HostModuleBuilder) {
		for name, f := range wasiFunctions {
			b.NewFunctionBuilder().WithGoModuleFunction(f, f.types(), []api.ValueType{api.ValueTypeI32}).Export(name)
		}
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(procExit), []api.ValueType{api.ValueTypeI32}, nil).Export(procExitName)
	})
}

func (f wasiFunction) types() []api.ValueType {
	types := make([]api.ValueType, len(f.params))
	for i, p := range f.params {
		types[i] = api.ValueTypeI32
		if p == 'I' {
			types[i] = api.ValueTypeI64
		}
	}
	return types
}

// Call implements [api.GoModuleFunction].
func (f wasiFunction) Call(ctx context.Context, mod api.Module, stack []uint64) {
	run := RunOf(ctx)
	run.Tick(0)
	answer := nosys
	if mem := mod.Memory(); mem != nil {
		answer = f.do(&wasiCall{run: run, mem: mem, args: stack})
	}
	stack[0] = uint64(answer)
}

func noStrings(c *wasiCall) errno {
	if e := c.putU32(c.u32(0), 0); e != success {
		return e
	}
	return c.putU32(c.u32(1), 0)
}

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

func clockRes(c *wasiCall) errno {
	switch c.u32(0) {
	case clockRealtime:
		return c.putU64(c.u32(1), uint64(time.Microsecond))
	case clockMonotonic:
		return c.putU64(c.u32(1), uint64(time.Nanosecond))
	}
	return inval
}

// started is what the monotonic clock counts from, less one so that it never
// shows the 0 that some guests take for a failure.
var started = time.Now().Add(-1)

func clockTime(c *wasiCall) errno {
	c.run.TakeOutside()
	switch c.u32(0) {
	case clockRealtime:
		return c.putU64(c.u32(2), uint64(time.Now().UnixNano()))
	case clockMonotonic:
		return c.putU64(c.u32(2), uint64(time.Since(started)))
	}
	return inval
}

// piece is how much is done between two checks whether the call is over, in
// bytes.
const piece = 64 << 10

func randomGet(c *wasiCall) errno {
	c.run.TakeOutside()
	room, ok := c.mem.Read(c.u32(0), c.u32(1))
	if !ok {
		return fault
	}
	for len(room) > 0 {
		n := min(len(room), piece)
		_, _ = rand.Read(room[:n]) // never fails
		if room = room[n:]; len(room) > 0 {
			c.run.Check()
		}
	}
	return success
}

func schedYield(*wasiCall) errno {
	runtime.Gosched()
	return success
}

// procExit ends the call; the instance is thrown away.
func procExit(_ context.Context, stack []uint64) { panic(sys.NewExitError(uint32(stack[0]))) }

// fdClose closes a stream for the rest of the call.
func fdClose(c *wasiCall) errno {
	fd := c.u32(0)
	if !c.open(fd) {
		return badf
	}
	c.run.closed |= 1 << fd
	return success
}

const characterDevice = 2

const (
	rightRead         = 1 << 1
	rightSetFlags     = 1 << 3
	rightWrite        = 1 << 6
	rightFileStat     = 1 << 21
	rightPoll         = 1 << 27
	rightsOfAllStream = rightSetFlags | rightFileStat | rightPoll
)

func fdStat(c *wasiCall) errno {
	fd := c.u32(0)
	if !c.open(fd) {
		return badf
	}
	var stat [24]byte
	stat[0] = characterDevice
	rights := uint64(rightsOfAllStream | rightWrite)
	if fd == 0 {
		rights = rightsOfAllStream | rightRead
	}
	binary.LittleEndian.PutUint64(stat[8:], rights)
	if !c.mem.Write(c.u32(1), stat[:]) {
		return fault
	}
	return success
}

func fdFileStat(c *wasiCall) errno {
	if !c.open(c.u32(0)) {
		return badf
	}
	var stat [64]byte
	stat[16] = characterDevice
	stat[24] = 1 // links
	if !c.mem.Write(c.u32(1), stat[:]) {
		return fault
	}
	return success
}

// fdRead answers the end of the file: standard input is empty.
func fdRead(c *wasiCall) errno {
	if c.u32(0) != 0 || !c.open(0) {
		return badf
	}
	return c.putU32(c.u32(3), 0)
}
