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
// one case of them. no_proxy names hosts to go to without it, of which there are
// none.
var proxyNames = []string{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"}

// proxied is an environment in which the proxy at addr is the way out.
func proxied(env []string, addr string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(proxyNames, strings.ToLower(name))
	})
	web, socks := "http://"+addr, "socks5h://"+addr
	for _, name := range proxyNames {
		value := web
		switch name {
		case "all_proxy":
			value = socks
		case "no_proxy":
			value = ""
		}
		env = append(env, name+"="+value, strings.ToUpper(name)+"="+value)
	}
	return env
}

// environment is what Bridge starts from.
func environment(addr string) []string { return proxied(os.Environ(), addr) }
