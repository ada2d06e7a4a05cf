package proxy

import (
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// relay carries the connections of a listener to a Unix socket, until the listener
// is closed. The proxy behind the socket has the limits; a connection that waits
// there waits here too.
func relay(ln net.Listener, socket string) {
	const pause = 50 * time.Millisecond
	for {
		down, err := ln.Accept()
		switch {
		case err == nil:
			go carry(down, socket)
		case passes(err):
			time.Sleep(pause)
		default:
			return
		}
	}
}

// carry joins one connection with the socket until both sides are done.
func carry(down net.Conn, socket string) {
	defer down.Close()
	up, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer up.Close()
	var both sync.WaitGroup
	for _, way := range [2][2]net.Conn{{up, down}, {down, up}} {
		both.Go(func() {
			to, from := way[0], way[1]
			_, err := io.Copy(to, from)
			if err == nil {
				err = closeWrite(to)
			}
			if err != nil {
				_ = to.Close()
				_ = from.Close()
			}
		})
	}
	both.Wait()
}

// proxyNames are the variables that programs find their proxy by. Some read only
// one case of them.
var proxyNames = []string{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy"}

// proxied is an environment in which the proxy at addr is the way out. What goes without
// the proxy, in no_proxy, is the caller's to say.
func proxied(env []string, addr string) []string {
	_, port, _ := strings.Cut(addr, ":") // of IPv4
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		lower := strings.ToLower(name)
		odd := lower == "no_proxy" && name != lower && name != "NO_PROXY" // some programs read it
		return odd || slices.Contains(proxyNames, lower)
	})
	for i, entry := range env {
		if strings.HasPrefix(entry, JavaOptions+"=") {
			env[i] = strings.ReplaceAll(entry, PortMark, port)
		}
	}
	web, socks := "http://"+addr, "socks5h://"+addr
	for _, name := range proxyNames {
		value := web
		if name == "all_proxy" {
			value = socks
		}
		env = append(env, name+"="+value, strings.ToUpper(name)+"="+value)
	}
	return append(env, "NODE_USE_ENV_PROXY=1") // for fetch
}

// environment is what Bridge starts from.
func environment(addr string) []string { return proxied(os.Environ(), addr) }
