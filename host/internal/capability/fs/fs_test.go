package fs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

func all(permissions.Access) bool { return true }

func plan(tb testing.TB, cwd, name string, args any) (capability.Plan, error) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	return New(Options{}).Plan(tb.Context(), capability.Scope{Cwd: cwd}, abi.Request{Name: name, Args: raw})
}

// call plans and does; the body is read to its end.
func call(tb testing.TB, cwd, name string, args any, judge capability.Judge) (ok any, body string, err error) {
	tb.Helper()
	p, err := plan(tb, cwd, name, args)
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	a, err := p.Do(tb.Context(), judge)
	if err != nil {
		return nil, "", err
	}
	defer a.Close()
	if a.Body != nil {
		text, err := io.ReadAll(a.Body)
		if err != nil {
			return nil, "", err
		}
		if int64(len(text)) != a.Size {
			tb.Errorf("the body has %d bytes, %d were said", len(text), a.Size)
		}
		body = string(text)
	}
	return a.OK, body, nil
}

func write(tb testing.TB, dir, name, text string) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestReadBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", "0123456789\x00\xff")
	for name, c := range map[string]struct {
		args abi.ReadArgs
		want string
	}{
		"all":        {abi.ReadArgs{}, "0123456789\x00\xff"},
		"range":      {abi.ReadArgs{Offset: 2, Length: 3}, "234"},
		"to the end": {abi.ReadArgs{Offset: 10}, "\x00\xff"},
		"past it":    {abi.ReadArgs{Offset: 10, Length: 100}, "\x00\xff"},
		"behind it":  {abi.ReadArgs{Offset: 100}, ""},
		"overflow":   {abi.ReadArgs{Offset: 1<<63 - 1, Length: 1<<63 - 1}, ""},
	} {
		c.args.Path = "f"
		ok, body, err := call(t, dir, abi.CapFSRead, c.args, all)
		if err != nil || body != c.want {
			t.Errorf("%s: %q, %v; want %q", name, body, err, c.want)
		}
		if got, _ := ok.(abi.ReadOK); got.Lines != nil || got.Size != 12 || got.ModTime == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", "text")
	write(t, dir, "bin", "a\x00b")
	write(t, dir, "late", strings.Repeat("a", sniffSize)+"\x00")
	lines := &abi.LineArgs{}
	for name, c := range map[string]struct {
		args abi.ReadArgs
		code abi.Code
	}{
		"missing":         {abi.ReadArgs{Path: "x"}, abi.CodeNotFound},
		"directory":       {abi.ReadArgs{Path: "."}, abi.CodeIsDirectory},
		"slash":           {abi.ReadArgs{Path: "f/"}, abi.CodeNotDirectory},
		"empty":           {abi.ReadArgs{}, abi.CodeInvalidInput},
		"binary":          {abi.ReadArgs{Path: "bin", Lines: lines}, abi.CodeNotText},
		"negative":        {abi.ReadArgs{Path: "f", Offset: -1}, abi.CodeInvalidInput},
		"negative lines":  {abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{Limit: -1}}, abi.CodeInvalidInput},
		"lines and bytes": {abi.ReadArgs{Path: "f", Offset: 1, Lines: lines}, abi.CodeInvalidInput},
		"device":          {abi.ReadArgs{Path: "/dev/zero"}, abi.CodeNotRegular},
		"environ":         {abi.ReadArgs{Path: "/proc/self/environ"}, abi.CodeNotRegular},
	} {
		if _, _, err := call(t, dir, abi.CapFSRead, c.args, all); abi.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "late", Lines: lines}, all); err != nil || len(body) != sniffSize+1 {
		t.Errorf("a NUL behind the start: %d bytes, %v", len(body), err)
	}
	if _, err := New(Options{}).Plan(t.Context(), capability.Scope{Cwd: dir}, abi.Request{Name: abi.CapFSRead, Args: json.RawMessage(`{"path":1}`)}); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Error(err)
	}
	if _, err := plan(t, dir, "fs.unknown", struct{}{}); abi.CodeOf(err) != abi.CodeUnsupported {
		t.Error(err)
	}
}

// What is denied must not tell whether it exists: a plan succeeds either way.
func TestPlanOfMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{abi.CapFSRead, abi.CapFSStat, abi.CapFSList} {
		p, err := plan(t, dir, name, map[string]string{"path": "no/such"})
		if err != nil {
			t.Fatal(err)
		}
		if a := p.Accesses(); len(a) != 1 || a[0].Target != filepath.Join(dir, "no/such") || a[0].Kind != permissions.AccessRead {
			t.Errorf("%s: %+v", name, a)
		}
		if _, err := p.Do(t.Context(), all); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
		_ = p.Close()
	}
}

func TestShrunkFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "f", strings.Repeat("a", 1<<20))
	p, err := plan(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(a.Body); abi.CodeOf(err) != abi.CodeChanged {
		t.Error(err)
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, dir, "d/f", "12345")
	when := time.UnixMilli(1_600_000_000_123)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d/f", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	ok, _, err := call(t, dir, abi.CapFSStat, abi.StatArgs{Path: "l"}, all)
	want := abi.StatOK{Path: path, Kind: abi.KindFile, Size: 5, ModTime: when.UnixMilli()}
	if err != nil || ok != want {
		t.Errorf("%+v, %v; want %+v", ok, err, want)
	}
	ok, _, err = call(t, dir, abi.CapFSStat, abi.StatArgs{Path: "d"}, all)
	if got, _ := ok.(abi.StatOK); err != nil || got.Kind != abi.KindDirectory || got.Size != 0 {
		t.Errorf("%+v, %v", ok, err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, n := range []string{"b", "a", ".hidden", "sub/x", "secret"} {
		write(t, dir, n, "123")
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	names := func(args abi.ListArgs, judge capability.Judge) (string, abi.ListOK) {
		ok, body, err := call(t, dir, abi.CapFSList, args, judge)
		if err != nil {
			t.Fatal(err)
		}
		var entries []abi.Entry
		if err := json.Unmarshal([]byte(body), &entries); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name+":"+e.Kind)
		}
		got, _ := ok.(abi.ListOK)
		return strings.Join(out, " "), got
	}
	got, ok := names(abi.ListArgs{Path: "."}, all)
	if want := ".hidden:file a:file b:file link:symlink secret:file sub:directory"; got != want || ok.Count != 6 || ok.Truncated {
		t.Errorf("%q %+v", got, ok)
	}
	if got, ok = names(abi.ListArgs{Path: ".", Limit: 2}, all); got != ".hidden:file a:file" || !ok.Truncated {
		t.Errorf("%q %+v", got, ok)
	}
	got, _ = names(abi.ListArgs{Path: "."}, func(a permissions.Access) bool {
		return filepath.Base(a.Real) != "secret" && a.Target == filepath.Join(dir, filepath.Base(a.Target))
	})
	if strings.Contains(got, "secret") {
		t.Errorf("a denied name is shown: %q", got)
	}
	if _, _, err := call(t, dir, abi.CapFSList, abi.ListArgs{Path: "a"}, all); abi.CodeOf(err) != abi.CodeNotDirectory {
		t.Error(err)
	}
	if _, body, err := call(t, dir, abi.CapFSList, abi.ListArgs{Path: t.TempDir()}, all); err != nil || body != "[]" {
		t.Errorf("an empty directory: %q, %v", body, err)
	}
}

// The list of a large directory is cut where all of it, sorted, would be.
func TestListOfManyIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := testenv.Sample(3000)
	for i := range files {
		write(t, dir, fmt.Sprintf("f%04d", (i*7919)%files), "")
	}
	ok, body, err := call(t, dir, abi.CapFSList, abi.ListArgs{Path: ".", Limit: 10}, all)
	var entries []abi.Entry
	if err != nil || json.Unmarshal([]byte(body), &entries) != nil {
		t.Fatal(err, body)
	}
	for i, e := range entries {
		if want := fmt.Sprintf("f%04d", i); e.Name != want {
			t.Errorf("entry %d is %s", i, e.Name)
		}
	}
	if got, _ := ok.(abi.ListOK); got.Count != 10 || !got.Truncated {
		t.Errorf("%+v", got)
	}
}
