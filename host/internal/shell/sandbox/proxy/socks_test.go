package proxy_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// socks asks for a host by SOCKS5 and returns the proxy's answer; 255 for none.
func socks(t *testing.T, conn net.Conn, host string, port uint16) byte {
	t.Helper()
	request := []byte{5, 2, 2, 0, 5, 1, 0}
	switch a, err := netip.ParseAddr(host); {
	case err == nil && a.Is4():
		request = append(append(request, 1), a.AsSlice()...)
	case err == nil && a.Zone() == "":
		request = append(append(request, 4), a.AsSlice()...)
	default:
		request = append(append(request, 3, byte(len(host))), host...)
	}
	_, _ = conn.Write(binary.BigEndian.AppendUint16(request, port))
	var answer [12]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return 255
	}
	if answer[0] != 5 || answer[1] != 0 || answer[2] != 5 {
		t.Fatalf("%q is not a SOCKS5 answer", answer)
	}
	return answer[3]
}

func readAnswer(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestSOCKSCarries(t *testing.T) {
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: echo(t)}
	socket, _ := serve(t, w.options("site.test"))
	conn := connect(t, socket)
	if got := socks(t, conn, "site.test", 7); got != 0 {
		t.Fatalf("answer %d", got)
	}
	_, _ = conn.Write([]byte("there and back"))
	_ = conn.CloseWrite()
	if text, err := io.ReadAll(conn); string(text) != "there and back" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestSOCKSRefuses(t *testing.T) {
	socket, _ := serve(t, (&world{}).options("*"))
	for name, c := range map[string]struct{ request, answer string }{
		"authentication only": {"\x05\x01\x02", "\x05\xff"},
		"no methods":          {"\x05\x00", "\x05\xff"},
		"BIND":                {"\x05\x01\x00\x05\x02\x00\x01\x08\x08\x08\x08\x00\x50", "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00"},
		"UDP":                 {"\x05\x01\x00\x05\x03\x00\x01\x08\x08\x08\x08\x00\x50", "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00"},
		"address type":        {"\x05\x01\x00\x05\x01\x00\x02", "\x05\x00\x05\x08\x00\x01\x00\x00\x00\x00\x00\x00"},
		"version":             {"\x05\x01\x00\x04\x01\x00\x01", "\x05\x00"},
		"cut short":           {"\x05\x01\x00\x05\x01\x00\x03\x20abc", "\x05\x00"},
	} {
		conn := connect(t, socket)
		_, _ = conn.Write([]byte(c.request))
		_ = conn.CloseWrite()
		if text, err := io.ReadAll(conn); string(text) != c.answer || err != nil {
			t.Errorf("%s: answered %q, %v; want %q", name, text, err, c.answer)
		}
	}
}
