package egress_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/doyensec/safeurl"

	"github.com/toolquay/toolquay/host/internal/egress"
)

// row is a line of a table: what is asked for, and what it means.
type row struct {
	line                 int
	kind, spelling, note string
	addrs                []netip.Addr
	text                 string // of the third column
}

func table(t *testing.T, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []row
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		cells := append(strings.Split(lines.Text(), "\t"), "")
		if len(cells) < 4 {
			t.Fatalf("%s:%d: %d columns", path, n, len(cells)-1)
		}
		spelling, err := strconv.Unquote(`"` + cells[1] + `"`)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		r := row{line: n, kind: cells[0], spelling: spelling, text: cells[2], note: cells[3]}
		for text := range strings.SplitSeq(cells[2], ",") {
			if a, err := netip.ParseAddr(text); err == nil {
				r.addrs = append(r.addrs, a)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// network stands for the network: it resolves every name to some addresses and accepts no
// connection.
type network struct {
	resolves []netip.Addr

	mu      sync.Mutex
	lookups []string
	dialled []string
}

var errUnplugged = errors.New("the network is unplugged")

func (n *network) options() egress.Options {
	return egress.Options{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.lookups = append(n.lookups, host)
			return slices.Clone(n.resolves), nil
		},
		Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.dialled = append(n.dialled, to.Addr().String())
			return nil, errUnplugged
		},
	}
}

// ask asks for what a row spells.
func (n *network) ask(t *testing.T, r *row) error {
	t.Helper()
	d := egress.New(n.options())
	if r.kind != "url" {
		conn, _, err := d.Dial(t.Context(), r.spelling, 443)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	answer, err := get(t.Context(), d.Client(), r.spelling)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

func get(ctx context.Context, c *http.Client, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return c.Do(r)
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	rows := table(t, "testdata/forbidden.txt")
	if len(rows) < 200 {
		t.Errorf("only %d spellings", len(rows))
	}
	oracle := newOracle()
	for i := range rows {
		r := &rows[i]
		n := &network{resolves: r.addrs}
		if r.kind == "url" || r.kind == "host" {
			n.resolves = []netip.Addr{netip.MustParseAddr("93.184.215.14")}
		}
		r.check(t, n, n.ask(t, r))
		refused := slices.ContainsFunc(r.addrs, oracle.refuses)
		if refused != (r.note == "oracle") || !refused && !strings.HasPrefix(r.note, "stricter: ") {
			t.Errorf("line %d: the oracle refuses %q: %t", r.line, r.text, refused)
		}
	}
}

// check wants a refusal before any look-up, or after one before anything is dialled.
func (r *row) check(t *testing.T, n *network, err error) {
	t.Helper()
	var no *egress.Refusal
	_, unparsed := url.Parse(r.spelling)
	switch {
	case r.kind == "some":
		for _, to := range n.dialled {
			if newOracle().refuses(netip.MustParseAddr(to)) {
				t.Errorf("line %d: dialled %s", r.line, to)
			}
		}
		if !errors.Is(err, errUnplugged) || len(n.dialled) == 0 {
			t.Errorf("line %d: dialled %q: %v", r.line, n.dialled, err)
		}
	case len(n.dialled) > 0 || r.kind != "name" && len(n.lookups) > 0:
		t.Errorf("line %d: %q: looked up %q, dialled %q", r.line, r.spelling, n.lookups, n.dialled)
	case !errors.As(err, &no) && (r.kind != "url" || unparsed == nil && !strings.Contains(err.Error(), "no Host in request URL")):
		t.Errorf("line %d: %q: %v", r.line, r.spelling, err)
	case no != nil && (no.Why == "" || strings.ContainsFunc(no.Error(), func(c rune) bool { return c > '~' })):
		t.Errorf("line %d: %q", r.line, no)
	}
}

func TestPublic(t *testing.T) {
	t.Parallel()
	oracle := newOracle()
	rows := table(t, "testdata/public.txt")
	for i := range rows {
		r := &rows[i]
		want := strings.Split(r.text, ",")
		n := &network{resolves: []netip.Addr{netip.MustParseAddr("93.184.215.14")}}
		if r.kind == "name" {
			n.resolves = nil
			for text := range strings.SplitSeq(r.spelling, ",") {
				n.resolves = append(n.resolves, netip.MustParseAddr(text))
			}
			r.spelling = "site.example"
		}
		err := n.ask(t, r)
		reached := n.dialled
		if r.kind != "name" && len(n.lookups) > 0 {
			reached = n.lookups
		}
		if !errors.Is(err, errUnplugged) || !slices.Equal(reached, want) {
			t.Errorf("line %d: %q reached %q: %v", r.line, r.spelling, reached, err)
		}
		for _, a := range r.addrs {
			// Networks without IPv4 reach public hosts that way. See untranslated.
			if oracle.refuses(a) && !strings.HasPrefix(a.String(), "64:ff9b::") {
				t.Errorf("line %d: the oracle refuses %s", r.line, a)
			}
		}
	}
}

// oracle is another's judgement of addresses.
type oracle struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func newOracle() oracle {
	client := safeurl.Client(safeurl.GetConfigBuilder().EnableIPv6(true).SetAllowedPorts(443).Build())
	return oracle{client.Client.Transport.(*http.Transport).DialContext}
}

// refuses asks the oracle by a socket of UDP, for which connecting sends nothing. It
// panics on zones.
func (o oracle) refuses(a netip.Addr) bool {
	conn, err := o.dial(context.Background(), "udp", netip.AddrPortFrom(a.WithZone(""), 443).String())
	if err == nil {
		_ = conn.Close()
	}
	var no *safeurl.AllowedIPError
	return errors.As(err, &no)
}
