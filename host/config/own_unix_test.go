//go:build unix

package config_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions/settings"
)

// The environment of this binary where it is started as another process that sets a setting.
const childFile, childSetting, childTimes = "TOOLQUAY_TEST_OWN_FILE", "TOOLQUAY_TEST_OWN_SETTING", "TOOLQUAY_TEST_OWN_TIMES"

// setsAsChild sets a setting to 1, 2, ... and says so after each.
func setsAsChild() {
	path, name := os.Getenv(childFile), os.Getenv(childSetting)
	times, err := strconv.Atoi(os.Getenv(childTimes))
	if times < 0 { // the disk is full
		signal.Ignore(syscall.SIGXFSZ)
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 8, Max: 8})
		times = 1
	}
	sources := settings.Options{UserFile: path}
	for i := 1; err == nil && i <= times; i++ {
		var loaded *settings.Loaded
		if loaded, err = settings.Load(sources); err != nil {
			break
		}
		_, _, err = config.NewOwn(sources, loaded).Set(context.Background(), name, json.RawMessage(strconv.Itoa(i)))
		if err == nil {
			fmt.Println(i)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func child(t *testing.T, path, setting string, times int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childFile+"="+path, childSetting+"="+setting, childTimes+"="+strconv.Itoa(times), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

const commented = "# mine, äöü\n[tools] # what is offered\nalso = [\"Config\"] # opt-in\n"

// TestTwoProcessesSetAtOnce loses nothing of what either sets.
func TestTwoProcessesSetAtOnce(t *testing.T) {
	t.Parallel()
	const times = 30
	_, path := ownOf(t, commented)
	names := []string{"scheduler.max_calls", "scheduler.max_per_plugin", "results.max_chars"}
	all := make([]*exec.Cmd, len(names))
	for i, name := range names {
		all[i] = child(t, path, name, times)
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
	own := loadOwn(t, path)
	for _, name := range names {
		if got, err := own.Get(name); err != nil || string(got.Value) != strconv.Itoa(times) {
			t.Errorf("%s is %s, %v", name, got.Value, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), commented) {
		t.Errorf("the file is %q, %v", text, err)
	}
}

// TestKilledWhileItSets leaves the file whole, with what was said to be set, and the next
// process sets on.
func TestKilledWhileItSets(t *testing.T) {
	t.Parallel()
	_, path := ownOf(t, commented)
	for range 8 {
		cmd := child(t, path, "scheduler.max_calls", 1000)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, said := bufio.NewScanner(out), 0
		for range 1 + rand.IntN(10) {
			if lines.Scan() {
				said, _ = strconv.Atoi(lines.Text())
			}
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				said = n
			}
		}
		_ = cmd.Wait()
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), commented) {
			t.Fatalf("the file is %q, %v", text, err)
		}
		got, err := loadOwn(t, path).Get("scheduler.max_calls")
		if n, _ := strconv.Atoi(string(got.Value)); err != nil || said == 0 || n != said && n != said+1 {
			t.Fatalf("it is %s, %v; the process had set %d", got.Value, err, said)
		}
	}
	set(t, loadOwn(t, path), "scheduler.max_calls", "2000")
}

// TestFullDisk leaves the file as it was, and nothing beside it but the lock.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	_, path := ownOf(t, commented)
	out, err := child(t, path, "scheduler.max_calls", -1).Output()
	if err == nil || !strings.Contains(string(out), "scheduler.max_calls was not set: writing "+path) {
		t.Errorf("got %q, %v", out, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != commented {
		t.Errorf("the file is %q, %v", text, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) > 2 {
		t.Errorf("there are %q, %v", left, err)
	}
}
