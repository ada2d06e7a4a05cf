package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
)

// stream reads from one buffer, and forgets what is written.
type stream struct{ io.Reader }

func (stream) Write(p []byte) (int, error) { return len(p), nil }

func FuzzSOCKS(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x01\x08\x08\x08\x08\x00\x50rest"))
	f.Add([]byte("\x05\x02\x00\x02\x05\x01\x00\x03\x09site.test\x01\xbb"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01\x00\x50"))
	f.Fuzz(func(t *testing.T, data []byte) {
		from := bytes.NewReader(data)
		host, port, answer, err := socksRequest(stream{from})
		if err != nil {
			return
		}
		if answer != socksGranted || port < 0 || port > 65535 || len(host) > 255 {
			t.Errorf("%q was read as %q, %d, %d", data, host, port, answer)
		}
		// Exactly the request was taken: what is behind it does not change it.
		taken := data[:len(data)-from.Len()]
		again, portAgain, _, err := socksRequest(stream{bytes.NewReader(taken)})
		if again != host || portAgain != port || err != nil {
			t.Errorf("%q was read as %q, %d, %v without what is behind it", taken, again, portAgain, err)
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add(hello(f, "site.test"), "rest")
	f.Add(hello(f, ""), "")
	f.Add([]byte("GET / HTTP/1.1\r\n"), "")
	f.Fuzz(func(t *testing.T, data []byte, rest string) {
		from := bytes.NewReader(append(bytes.Clone(data), rest...))
		asked, begin, err := peekHello(from)
		if err != nil {
			return
		}
		left, _ := io.ReadAll(from)
		if whole := string(begin) + string(left); whole != string(data)+rest {
			t.Errorf("%q became %q", string(data)+rest, whole)
		}
		if len(data) > 0 && data[0] != tlsHandshake && asked != "" {
			t.Errorf("%q is not TLS and asks for %q", data, asked)
		}
	})
}

func TestHelloIsBounded(t *testing.T) {
	endless := io.MultiReader(bytes.NewReader([]byte{tlsHandshake}), &repeat{record: []byte("\x03\x01\x00\x04\x01\xff\xff\xff\x16")})
	if asked, begin, err := peekHello(endless); err == nil || asked != "" || len(begin) > 0 {
		t.Errorf("an endless ClientHello asks for %q, %v", asked, err)
	}
	whole := hello(t, "site.test")
	if asked, begin, err := peekHello(bytes.NewReader(whole)); asked != "site.test" || err != nil || !bytes.Equal(begin, whole) {
		t.Errorf("%q, %v", asked, err)
	}
}

// repeat reads the same bytes for ever.
type repeat struct {
	record []byte
	at     int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.record[r.at]
		r.at = (r.at + 1) % len(r.record)
	}
	return len(p), nil
}

// hello is a ClientHello that asks for a host.
func hello(tb testing.TB, host string) []byte {
	tb.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() { _ = tls.Client(theirs, &tls.Config{ServerName: host, InsecureSkipVerify: true}).Handshake() }()
	buffer := make([]byte, maxHello)
	n, err := ours.Read(buffer)
	if err != nil {
		tb.Fatal(err)
	}
	return buffer[:n]
}
