package shell

import (
	"slices"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestScratch: in a sandbox the session's directory for temporary files is what $TMPDIR names,
// and /tmp, but for what is mounted there at its own path.
func TestScratch(t *testing.T) {
	t.Parallel()
	const temp = "/tmp/toolquay-1/tmp"
	within := func(mounted ...string) Place {
		return Place{Cwd: "/ws/proj", Home: "/home/u", Scratch: func() Scratch { return Scratch{Dir: temp, Mounted: mounted} }}
	}
	confined, crowded, open := within("/ws/proj", "/home/u"), within("/tmp/ws", "/home/u"), within()
	for _, c := range []struct {
		at      Place
		command string
		want    []string
	}{
		{confined, "cat > /tmp/x", []string{"fs.write " + temp + "/x"}},
		{confined, "cat > /var/tmp/a/x", []string{"fs.write " + temp + "/a/x"}},
		{confined, "cat > $TMPDIR/x", []string{"fs.write " + temp + "/x"}},
		{confined, `cat > "${TMPDIR%/}/x"`, []string{"fs.write " + temp + "/x"}},
		{confined, "d=$TMPDIR/d; mkdir $d", []string{"fs.write " + temp + "/d"}},
		{confined, "mktemp -d", []string{"fs.write " + temp + "/tmp.XXXXXXXXXX"}},
		{confined, "cd /tmp && cat x", []string{"fs.read " + temp + "/x"}},
		{confined, "ls /tmp", []string{"fs.read " + temp}},
		{confined, "ls /tmp/../etc", []string{"fs.read /etc"}},
		{confined, "cat /tmp/toolquay-1/lock", []string{"fs.read /tmp/toolquay-1/lock"}},
		{confined, "cat /tmpx /var/tmpx", []string{"fs.read /tmpx", "fs.read /var/tmpx"}},
		{crowded, "cat /tmp/ws/x /tmp/x", []string{"fs.read /tmp/ws/x", "fs.read " + temp + "/x"}},
		{crowded, "rm -r /tmp", []string{"fs.write /tmp"}},
		{crowded, "rm -r /tmp/*", []string{"fs.write /tmp"}},
		{crowded, "rm -r /var/tmp/*", []string{"fs.write " + temp}},
		{open, "cat /tmp/x $TMPDIR/x", []string{"fs.read /tmp/x", "fs.read " + temp + "/x"}},
		{Place{Cwd: "/ws/proj"}, "cat /tmp/x", []string{"fs.read /tmp/x"}},
	} {
		var got []string
		for _, p := range Analyse(c.command, c.at).Parts {
			for _, a := range p.Accesses {
				got = append(got, string(a.Kind)+" "+a.Target)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}

// TestScratchIsReset: what may have given TMPDIR another value leaves it unknown.
func TestScratchIsReset(t *testing.T) {
	t.Parallel()
	at := Place{Cwd: "/ws/proj", Scratch: func() Scratch { return Scratch{Dir: "/tmp/t", Mounted: []string{}} }}
	for _, command := range []string{
		"TMPDIR=/etc; cat > $TMPDIR/x", "export TMPDIR=/etc; cat > $TMPDIR/x", "read TMPDIR; cat > $TMPDIR/x", "unset TMPDIR; cat > $TMPDIR/x",
		"for TMPDIR in /etc; do cat > $TMPDIR/x; done", "f() { TMPDIR=/etc; }; f; cat > $TMPDIR/x", ". ./env; cat > $TMPDIR/x",
		"printf -v TMPDIR /etc; cat > $TMPDIR/x", "while read TMPDIR; do cat > $TMPDIR/x; done", "cat > ${TMPDIR:=/etc}/x", "eval TMPDIR=/etc; cat > $TMPDIR/x",
		"((TMPDIR=1)); cat > $TMPDIR/x", "mapfile TMPDIR < a; cat > $TMPDIR/x", "TMPDIR=/etc mktemp", "export TMPDIR=/etc; mktemp",
	} {
		bounded := true
		for _, p := range Analyse(command, at).Parts {
			for _, a := range p.Accesses {
				if a.Kind == permissions.AccessWrite && !p.Inner && p.Bounded() && len(p.Env) == 0 && a.Target != "/etc/x" {
					t.Errorf("%s: writes %s, as is known", command, a.Target)
				}
			}
			bounded = bounded && (p.Inner || p.Bounded()) && p.Unknown == 0
		}
		if bounded && command != "for TMPDIR in /etc; do cat > $TMPDIR/x; done" {
			t.Errorf("%s: all of it is known", command)
		}
	}
}
