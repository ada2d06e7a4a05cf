package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
	"time"
)

// maxLine is the longest line a writer can make: at most 6 bytes for each byte
// of 13 + 3 + 2*16 texts. A longer one is no line.
const maxLine = 512 << 10

type digest = [sha256.Size]byte

// The fixed parts of a line.
const (
	beforePrev = `{"prev":"`
	beforeSeq  = `","seq":`
	beforeKind = `,"kind":"`
	beforeHash = `,"hash":"`
	hexDigest  = 2 * sha256.Size
	// tail is the length of ,"hash":"..."} at the end of a line.
	tail = len(beforeHash) + hexDigest + len(`"}`)
)

// position is a place in the chain: the line before the next one.
type position struct {
	seq  uint64
	hash digest
}

// appendLine adds the line that comes after p, newline and all, and moves p on.
// The body is a JSON object.
func (p *position) appendLine(dst []byte, kind Kind, now time.Time, body any) ([]byte, error) {
	fields, err := json.Marshal(body)
	if err != nil {
		return dst, err
	}
	p.seq++
	start := len(dst)
	dst = append(dst, beforePrev...)
	dst = hex.AppendEncode(dst, p.hash[:])
	dst = append(dst, beforeSeq...)
	dst = strconv.AppendUint(dst, p.seq, 10)
	dst = append(dst, beforeKind...)
	dst = append(dst, kind...)
	dst = append(dst, `","time":"`...)
	dst = now.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	if len(fields) > len("{}") {
		dst = append(dst, ',')
		dst = append(dst, fields[1:len(fields)-1]...)
	}
	p.hash = sha256.Sum256(dst[start:])
	dst = append(dst, beforeHash...)
	dst = hex.AppendEncode(dst, p.hash[:])
	return append(dst, "\"}\n"...), nil
}

// link is a line as far as the chain goes.
type link struct {
	position
	prev digest
	kind Kind
}

// parseLink reads a line without its newline. It reports false for what is no
// line, or not as it was written: its hash is wrong.
func parseLink(line []byte) (link, bool) {
	var l link
	if len(line) <= tail {
		return l, false
	}
	said := line[:len(line)-tail]
	end, ok := bytes.CutPrefix(line[len(said):], []byte(beforeHash))
	if !ok || !unhex(&l.hash, end[:hexDigest]) || string(end[hexDigest:]) != `"}` || sha256.Sum256(said) != l.hash {
		return l, false
	}
	rest, ok := bytes.CutPrefix(said, []byte(beforePrev))
	if !ok || len(rest) < hexDigest || !unhex(&l.prev, rest[:hexDigest]) {
		return l, false
	}
	rest, ok = bytes.CutPrefix(rest[hexDigest:], []byte(beforeSeq))
	seq, rest, found := bytes.Cut(rest, []byte(beforeKind))
	kind, _, closed := bytes.Cut(rest, []byte{'"'})
	n, err := strconv.ParseUint(string(seq), 10, 64)
	if !ok || !found || !closed || err != nil {
		return l, false
	}
	l.seq, l.kind = n, Kind(kind)
	return l, true
}

// unhex reads a digest in lower-case hexadecimal, the one way it is written.
func unhex(d *digest, text []byte) bool {
	if bytes.ContainsAny(text, "ABCDEF") {
		return false
	}
	n, err := hex.Decode(d[:], text)
	return err == nil && n == len(d)
}

// follows reports whether a line comes right after a position.
func (l *link) follows(p position) bool { return l.prev == p.hash && l.seq == p.seq+1 }

// torn sums up bytes that are no lines, up to the newline that ends them.
type torn struct {
	bytes   int64
	hash    hash.Hash
	newline bool // one is held back: it may be the last
}

func (t *torn) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if t.hash == nil {
		t.hash = sha256.New()
	}
	if t.newline {
		t.write([]byte{'\n'})
	}
	p, t.newline = bytes.CutSuffix(p, []byte{'\n'})
	t.write(p)
}

func (t *torn) write(p []byte) {
	n, _ := t.hash.Write(p) // a hash takes everything
	t.bytes += int64(n)
}

// any reports whether there is anything torn, be it an empty line.
func (t *torn) any() bool { return t.hash != nil }

func (t *torn) sum() string { return hex.EncodeToString(t.hash.Sum(nil)) }
