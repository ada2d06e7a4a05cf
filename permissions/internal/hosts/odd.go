package hosts

import (
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// isNumber reports whether a label makes the whole name an address, as browsers
// and the C library read it.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// oddAddresses are all addresses that an address in an odd form may stand for: some programs
// read its numbers as octal, others as decimal.
func oddAddresses(text string) []netip.Addr {
	var out []netip.Addr
	for _, octal := range []bool{true, false} {
		if a, ok := oddAddress(strings.Split(text, "."), octal); ok && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// oddAddress reads one to four numbers, the last of which fills the remaining bytes.
func oddAddress(parts []string, octal bool) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		base := 10
		if hex, ok := strings.CutPrefix(part, "0x"); ok {
			part, base = hex, 16
			if part == "" {
				part = "0"
			}
		} else if octal && len(part) > 1 && part[0] == '0' {
			base = 8
		}
		n, err := strconv.ParseUint(part, base, 32)
		limit := uint64(math.MaxUint8)
		if i == len(parts)-1 {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > limit {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		sum += n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}
