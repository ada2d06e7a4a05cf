//go:build linux

package escapes

import (
	"slices"

	"github.com/toolquay/toolquay/internal/testenv"
)

// Case is one thing that a command tries.
type Case struct {
	Name string
	// Shell is for bash, with the variables of [World.Env].
	Shell string
	// Loose says that without a sandbox the case succeeds and changes nothing but its
	// world: tests run it so as well, to see that the world notices.
	Loose bool
}

// Cases are all of them.
func Cases() []Case {
	var all []Case
	for _, list := range [][]Case{writes, reads, names, deep, processes, namespaces, network, kernel} {
		all = append(all, list...)
	}
	return all
}

// Guarded are those among them that change what is protected.
func Guarded() []Case { return slices.Concat(names, deep) }

// Ended is what every batch prints in the end.
const Ended = "all were tried"

// Batches are all of them, several in one where tests are not to be thorough: each in a
// shell of its own, but all in one sandbox. Neighbours of the list, which try the same
// names, get into different ones.
func Batches() []Case {
	all := Cases()
	list := make([]Case, 6)
	if testenv.Thorough() {
		list = make([]Case, len(all))
	}
	for i, c := range all {
		b := &list[i%len(list)]
		b.Name = c.Name // of several, the last one's
		b.Shell += "(\n" + c.Shell + "\n) < /dev/null\n"
	}
	for i := range list {
		list[i].Shell += "echo " + Ended
	}
	return list
}

// writes change files outside.
var writes = []Case{
	{"a new file", `echo x > "$OUTSIDE/new"`, true},
	{"a file that is there", `echo x >> "$OUTSIDE/kept"`, true},
	{"a file of the home", `echo x > "$HOME/.profile"; echo x >> "$HOME/notes"`, true},
	{"by way of the parent", `cd "$WORK" && echo x > ../outside/new`, true},
	{"through a link to a folder", `ln -s "$OUTSIDE" "$WORK/l"; echo x > "$WORK/l/new"`, true},
	{"through a link to a file", `ln -s "$OUTSIDE/kept" "$WORK/k"; echo x >> "$WORK/k"`, true},
	{"through a hard link", `ln "$OUTSIDE/kept" "$WORK/h" && echo x >> "$WORK/h"`, true},
	{"moving a file in", `mv "$OUTSIDE/kept" "$WORK/"`, true},
	{"moving a file out", `echo x > "$WORK/m"; mv "$WORK/m" "$OUTSIDE/"`, true},
	{"removing", `rm -rf "$OUTSIDE/kept"`, true},
	{"mode and times", `chmod 777 "$OUTSIDE/kept"; touch -d yesterday "$OUTSIDE/kept"`, true},
	{"opened for reading, written through /proc", `exec 9<"$OUTSIDE/kept"; echo x >> /proc/self/fd/9`, true},
	{"a folder's descriptor", `exec 9<"$OUTSIDE"; echo x > /proc/self/fd/9/new`, true},
	{"/proc/1/root", `echo x > "/proc/1/root$OUTSIDE/new"`, false},
	{"/proc/self/root", `echo x > "/proc/self/root$OUTSIDE/new"`, true},
	{"/proc/self/cwd", `cd "$WORK"; echo x > /proc/self/cwd/../outside/new`, true},
	{"every descriptor of every process", `for f in /proc/[0-9]*/fd/*; do [ -d "$f" ] && echo x > "$f/../outside/new"; done`, false},
	{"descriptors of the host", `for n in 3 4 5 6 7 8 9 10 11 12; do [ -e /proc/self/fd/$n ] && case $(readlink /proc/self/fd/$n) in /proc/*|/dev/null) ;; *) echo "ESCAPED: $n is $(readlink /proc/self/fd/$n)";; esac; done`, false},
	{"a link at the temporary folder", `ln -s "$OUTSIDE" /tmp/l; echo x > /tmp/l/new`, false},
	{"a copy with a set-user-ID bit", `cp /bin/true "$WORK/t"; chmod u+s "$WORK/t"; mount | grep -q " $WORK .*nosuid" || echo "ESCAPED: set-user-ID programs work"`, false},
}

// reads print what is hidden.
var reads = []Case{
	{"a key", `cat "$HOME/.ssh/id_ed25519"`, true},
	{"cloud credentials, by another program", `$PY -c 'import os; print(open(os.environ["HOME"] + "/.aws/credentials").read())'`, true},
	{"a credentials file", `cat "$HOME/.netrc"`, true},
	{"a project's secrets", `cat "$WORK/.env"`, true},
	{"the whole home", `tar -C "$HOME" -cf - .`, true},
	{"a search", `grep -r . "$HOME" "$WORK"`, true},
	{"through a link", `ln -s "$HOME/.ssh" "$WORK/l"; cat "$WORK/l/id_ed25519"`, true},
	{"by way of the root of a process", `cat "/proc/self/root$HOME/.netrc"`, true},
	{"through a hard link to it", `ln "$WORK/.env" "$WORK/e" && cat "$WORK/e"`, true},
	{"after moving it", `mv "$WORK/.env" "$WORK/e"; cat "$WORK/e"`, true},
	{"after moving its folder", `mv "$WORK/secrets" "$WORK/s"; cat "$WORK/s/deep/key"; mv "$WORK/s" "$WORK/secrets"`, true},
	{"after moving the folder between", `mv "$WORK/secrets/deep" "$WORK/d"; cat "$WORK/d/key"`, true},
	{"after permission is given", `chmod 755 "$HOME/.ssh"; cat "$HOME/.ssh/id_ed25519"`, true},
	{"after removing the mask", `rm -rf "$WORK/.env"; umount "$WORK/.env" "$HOME/.ssh"; cat "$WORK/.env" "$HOME/.ssh/id_ed25519"`, true},
	{"after unmounting lazily", `$CALL umount2 "s:$HOME/.ssh" 2; cat "$HOME/.ssh/id_ed25519"`, false},
	{"the sandbox's own files", `ls "$STATE" | sed 's/^/ESCAPED: /'`, false},
	{"passwords", `cat /etc/shadow | sed 's/^/ESCAPED: /'`, false},
	{"the homes of others", `find /home -mindepth 1 -maxdepth 1 | sed 's/^/ESCAPED: /'`, false},
	{"another's environment", `cat "/proc/$VICTIM/environ" | tr '\0' '\n'`, true},
	{"everybody's environment", `cat /proc/[0-9]*/environ | tr '\0' '\n'`, false},
}

// names are protected, whether they are there or not.
var names = []Case{
	{"a new hook", `echo x > "$WORK/.git/hooks/pre-commit"`, true},
	{"a hook that is there", `echo x > "$WORK/.git/hooks/pre-push"`, true},
	{"other hooks in their place", `mv "$WORK/.git/hooks" "$WORK/.git/h"; mkdir "$WORK/.git/hooks"; echo x > "$WORK/.git/hooks/pre-commit"`, true},
	{"another repository in its place", `mv "$WORK/.git" "$WORK/.g"; cp -r "$WORK/.g" "$WORK/.git"; echo x > "$WORK/.git/hooks/pre-commit"`, true},
	{"removing the repository", `rm -rf "$WORK/.git"; mkdir -p "$WORK/.git/hooks"; echo x > "$WORK/.git/hooks/pre-commit"`, true},
	{"configuration written", `echo x >> "$WORK/.git/config"`, true},
	{"configuration renamed onto", `echo x > "$WORK/.git/c"; mv -f "$WORK/.git/c" "$WORK/.git/config"`, true},
	{"a start-up file that is not there", `echo x > "$WORK/.bashrc"`, true},
	{"the same, removed before", `rm -rf "$WORK/.bashrc"; echo x > "$WORK/.bashrc"`, true},
	{"the same, renamed onto", `echo x > "$WORK/b"; mv -f "$WORK/b" "$WORK/.bashrc"; mv -T "$WORK/b" "$WORK/.bashrc"`, true},
	{"the same, as a link", `echo x > "$WORK/b"; ln -sf "$WORK/b" "$WORK/.bashrc"; ln -f "$WORK/b" "$WORK/.bashrc"`, true},
	{"the same, moved away", `mv "$WORK/.bashrc" "$WORK/b"; echo x > "$WORK/.bashrc"`, true},
	{"the same, as a folder", `mkdir "$WORK/.npmrc"`, true},
	{"an editor's tasks", `mkdir -p "$WORK/.vscode"; echo x > "$WORK/.vscode/tasks.json"`, true},
	{"the same, moved in", `mkdir "$WORK/v"; echo x > "$WORK/v/tasks.json"; rmdir "$WORK/.vscode"; mv -T "$WORK/v" "$WORK/.vscode"`, true},
	{"programs to start", `echo '{}' > "$WORK/.mcp.json"`, true},
	{"exchanged in one step", `echo x > "$WORK/x"; mv --exchange "$WORK/x" "$WORK/.mcp.json" 2>/dev/null || $PY -c 'import ctypes, os
w = os.environ["WORK"].encode(); print(ctypes.CDLL(None).renameat2(-100, w + b"/x", -100, w + b"/.git/config", 2))'`, true},
	{"the whole working directory replaced", `mv "$WORK" "$WORK.old"; mkdir -p "$WORK/.git/hooks"; echo x > "$WORK/.git/hooks/pre-commit"`, false},
}

// deep are names below sub-directories, which are protected where they are there.
var deep = []Case{
	{"a nested repository's configuration", `echo x >> "$WORK/n/.git/config"`, true},
	{"the same, renamed onto", `echo x > "$WORK/n/.git/c"; mv -f "$WORK/n/.git/c" "$WORK/n/.git/config"`, true},
	{"the same, removed before", `rm -f "$WORK/n/.git/config"; echo x > "$WORK/n/.git/config"`, true},
	{"a nested repository's hooks", `echo x > "$WORK/n/.git/hooks/pre-commit"; echo x > "$WORK/n/.git/hooks/pre-push"`, true},
	{"other hooks in their place, nested", `mv "$WORK/n/.git/hooks" "$WORK/n/.git/h"; mkdir "$WORK/n/.git/hooks"; echo x > "$WORK/n/.git/hooks/pre-commit"`, true},
	{"another nested repository in its place", `mv "$WORK/n/.git" "$WORK/n/g"; cp -r "$WORK/n/g" "$WORK/n/.git"; echo x > "$WORK/n/.git/hooks/pre-commit"`, true},
	{"the directory around it moved", `mv "$WORK/n" "$WORK/m"; cp -r "$WORK/m" "$WORK/n"; echo x > "$WORK/n/.git/hooks/pre-commit"`, true},
	{"the directory around it removed", `rm -rf "$WORK/n"; mkdir -p "$WORK/n/.git/hooks"; echo x > "$WORK/n/.git/hooks/pre-commit"`, true},
	{"a nested submodule's configuration", `echo x >> "$WORK/n/.git/modules/lib/m/config"`, true},
	{"programs that a nested repository names", `echo x > "$WORK/n/.programs/pre-commit"; echo x > "$WORK/n/.programs/post-commit"`, true},
	{"a file that a nested configuration includes", `echo x > "$WORK/n/more"`, true},
	{"a .git file", `echo "gitdir: $WORK/n" > "$WORK/d/tree/.git"`, true},
	{"the same, by a rename", `echo "gitdir: $WORK/n" > "$WORK/d/tree/g"; mv -f "$WORK/d/tree/g" "$WORK/d/tree/.git"`, true},
	{"the way from a worktree to its repository", `echo "$WORK/n" > "$WORK/d/data/.own/worktrees/tree/commondir"`, true},
	{"the repository of a worktree", `echo x >> "$WORK/d/data/.own/config"; echo x > "$WORK/d/data/.own/hooks/pre-commit"`, true},
	{"a bare repository", `echo x >> "$WORK/d/bare/config"; echo x > "$WORK/d/bare/hooks/post-receive"`, true},
	{"another bare repository in its place", `mv "$WORK/d/bare" "$WORK/d/b"; cp -r "$WORK/d/b" "$WORK/d/bare"; echo x >> "$WORK/d/bare/config"`, true},
	{"a nested editor's tasks", `echo x > "$WORK/d/p/.vscode/tasks.json"; echo x > "$WORK/d/p/.vscode/settings.json"`, true},
	{"the same, from further up", `mv "$WORK/d" "$WORK/e"; mkdir -p "$WORK/d/p/.vscode"; echo x > "$WORK/d/p/.vscode/tasks.json"`, true},
	{"the same, through a link that is there", `echo x > "$WORK/d/linked/.vscode/tasks.json"`, true},
	{"a nested package manager's settings", `echo x >> "$WORK/d/p/.npmrc"; sed -i s/a/b/ "$WORK/d/p/.npmrc"`, true},
	{"a nested project's settings", `echo x > "$WORK/d/p/.toolquay/settings.toml"; echo x > "$WORK/d/p/.toolquay/settings.local.toml"`, true},
	{"through a hard link, nested", `ln "$WORK/d/p/.npmrc" "$WORK/h" && echo x >> "$WORK/h"`, true},
}

// processes are others'.
var processes = []Case{
	{"seeing one outside", `[ "$(tr '\0' ' ' < /proc/$VICTIM/cmdline)" = "sleep 3600 " ] && echo "ESCAPED: $VICTIM is to be seen"`, true},
	{"signalling one outside", `kill -9 "$VICTIM"; for i in {1..2000}; do kill -0 "$VICTIM" || break; sleep 0.01; done`, true},
	{"being traced", `$CALL ptrace 0 0 0 0`, false},
	{"tracing", `sleep 5 & $CALL ptrace 16 $! 0 0; $CALL ptrace 0x4206 $! 0 0; kill %1`, false},
	{"reading another's memory", `sleep 5 & $CALL process_vm_readv $! 0 0 0 0 0; kill %1`, false},
	{"another's descriptors", `$CALL pidfd_getfd 0 0 0`, false},
	{"typing into a terminal", `$PY -c 'import fcntl, os
m, s = os.openpty()
fcntl.ioctl(s, 0x5412, b"x")
print("ESCAPED: TIOCSTI")'`, false},
	{"typing with more bits", `$PY -c 'import ctypes, os
m, s = os.openpty()
if ctypes.CDLL(None).syscall(16 if os.uname().machine == "x86_64" else 29, s, ctypes.c_ulong(0x100005412), b"x") == 0: print("ESCAPED: TIOCSTI")'`, false},
	{"pasting into a console", `$PY -c 'import fcntl, os
m, s = os.openpty()
try: fcntl.ioctl(s, 0x541C, b"\x03")
except PermissionError: raise
except OSError as e: print("ESCAPED: TIOCLINUX got as far as", e)'`, false},
	{"the host's terminal", `echo x > /dev/tty && echo "ESCAPED: there is a terminal"`, false},
}

// namespaces are left or made, and with them mounts.
var namespaces = []Case{
	{"mounting writable", `mount -o remount,rw,bind "$OUTSIDE"; mount --bind -o rw "$OUTSIDE" "$WORK/.git"; echo x > "$OUTSIDE/new"`, false},
	{"mounting by number", `$CALL mount s:none s:/ s: 0x1020 0; echo x > "$OUTSIDE/new"`, false},
	{"a user namespace", `unshare -Ur true && echo "ESCAPED: a user namespace"`, false},
	{"namespaces and a mount", `unshare -Urm bash -c 'mount -o remount,rw,bind /; echo x > "$OUTSIDE/new"; umount -l "$HOME/.ssh"; cat "$HOME/.ssh/id_ed25519"'`, false},
	{"unshare by number", `$CALL unshare 0x10000000; $CALL unshare 0x00020000; $CALL unshare 0x80; $CALL unshare 0x40000000`, false},
	{"clone", `$CALL clone 0x10000011 0 0 0 0; $CALL clone 0x00020011 0 0 0 0`, false},
	{"clone3", `$CALL clone3 0 0 | grep -v ENOSYS | sed 's/^/ESCAPED: it is there: /'`, false},
	{"entering others", `nsenter -t 1 -a true && echo "ESCAPED: nsenter"; nsenter -t "$VICTIM" -m true && echo "ESCAPED: nsenter"`, false},
	{"setns", `exec 9</proc/1/ns/mnt; $CALL setns 9 0`, false},
	{"another root", `$CALL chroot "s:$WORK"; $CALL pivot_root "s:$WORK" "s:$WORK"`, false},
	{"new calls for mounts", `$CALL open_tree -100 s:/ 1; $CALL fsopen s:tmpfs 0; $CALL move_mount -100 s:/ -100 s:/ 0; $CALL mount_setattr -100 s:/ 0 0 0`, false},
	{"files by handle", `$CALL open_by_handle_at -100 0 0 | grep -v EPERM | sed 's/^/ESCAPED: /'`, false},
	{"capabilities", `grep -E '^Cap(Prm|Eff|Inh|Amb):' /proc/self/status | grep -v '\b0000000000000000$' | sed 's/^/ESCAPED: /'`, false},
	{"new privileges", `grep -q '^NoNewPrivs:.*1' /proc/self/status || echo "ESCAPED: programs can give privileges"`, false},
}

// network leads to others.
var network = []Case{
	{"a service of the loopback", `cat < "/dev/tcp/127.0.0.1/$TCP"`, true},
	{"a datagram", `exec 3<> "/dev/udp/127.0.0.1/$UDP"; echo x >&3; read -t 3 <&3`, true},
	{"every address of the machine", `for a in $(hostname -I) ::1 0.0.0.0; do (exec 9<>"/dev/tcp/$a/$TCP") && echo "ESCAPED: $a"; done; true`, false},
	{"a name server by hand", `$PY -c 'import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01", ("127.0.0.1", int(os.environ["UDP"])))'; sleep 0.1`, true},
	{"looking up a name", `getent ahostsv4 www.example.com | sed 's/^/ESCAPED: /'`, false},
	{"a way out", `grep -vE '^Iface|^lo' /proc/net/route | sed 's/^/ESCAPED: /'; ls /sys/class/net | grep -c . >/dev/null; grep -vE 'lo:|Inter|face' /proc/net/dev | sed 's/^/ESCAPED: /'`, false},
	{"a container daemon's socket", `$PY -c 'import os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["OUTSIDE"] + "/docker.sock"); print(s.recv(100).decode())'`, true},
	{"a log's socket", `$PY -c 'import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", os.environ["OUTSIDE"] + "/log.sock")'; sleep 0.1`, true},
	{"a pair of sockets, connected elsewhere", `$PY -c 'import os, socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"x", os.environ["OUTSIDE"] + "/log.sock")'; sleep 0.1`, true},
	{"an abstract socket", `$PY -c 'import os, socket
s = socket.socket(socket.AF_UNIX); s.connect("\0" + os.environ["ABSTRACT"]); print(s.recv(100).decode())'`, true},
	{"sockets of daemons", `find /run /var/run/ -type s 2>/dev/null | sed 's/^/ESCAPED: /'`, false},
	{"rare families", `for f in 4 9 17 29 30 31 38 40 44; do $CALL socket $f 3 0; $CALL socket $f 2 0; $CALL socket $f 5 0; done`, false},
	{"the kernel's own sockets", `for p in 4 9 12 15 16; do $CALL socket 16 3 $p; done`, false},
	{"raw packets", `$CALL socket 2 3 1; $CALL socket 2 3 255`, false},
}

// kernel is the machine's.
var kernel = []Case{
	{"settings", `for f in kernel/core_pattern kernel/modprobe vm/drop_caches kernel/sysrq; do (exec 9>>/proc/sys/$f) && echo "ESCAPED: $f can be written"; done`, false},
	{"the magic key", `(exec 9>/proc/sysrq-trigger) && echo "ESCAPED: it can be pressed"`, false},
	{"devices' files", `for f in /sys/power/state /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/cgroup.procs; do [ -e "$f" ] && (exec 9>>"$f") && echo "ESCAPED: $f can be written"; done; true`, false},
	{"making a device", `mknod "$WORK/d" b 254 0; mknod "$WORK/c" c 1 1; head -c 1 "$WORK/d" "$WORK/c" && echo "ESCAPED: a device"`, false},
	{"devices", `for f in /dev/mem /dev/kmsg /dev/vda /dev/sda /dev/nvme0n1 /dev/kvm /dev/fuse /dev/loop-control /dev/mapper/control /dev/net/tun /dev/tty1 /dev/console /proc/kcore /proc/kmsg; do [ -r "$f" ] && head -c 1 "$f" >/dev/null 2>&1 && echo "ESCAPED: $f"; done; true`, false},
	{"keys", `$CALL keyctl 0 -3 0; $CALL add_key s:user s:x s:y 1 -3; cat /proc/keys | sed 's/^/ESCAPED: /'`, false},
	{"programs in the kernel", `$CALL bpf 0 0 0 | grep -v EPERM | sed 's/^/ESCAPED: /'; $CALL perf_event_open 0 0 0 0 0 | grep -v EPERM | sed 's/^/ESCAPED: /'`, false},
	{"page faults", `$CALL userfaultfd 1`, false},
	{"queued calls", `$CALL io_uring_setup 1 0 | grep -v EPERM | sed 's/^/ESCAPED: /'`, false},
	{"another kernel", `$CALL kexec_load 0 0 0 0; $CALL init_module 0 0 s:; $CALL fanotify_init 0 0; $CALL syslog 3 0 0`, false},
	{"calls of another machine", `[ "$(uname -m)" = x86_64 ] && $CALL getpid+0x40000000; true`, false},
}
