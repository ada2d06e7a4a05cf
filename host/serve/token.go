package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// Token is what the server knows of a token: all but the token itself. In a file of tokens,
// which is TOML, each is a table:
//
//	[[token]]
//	name = "ci"                  # for logs
//	token = "..."                # or token_sha256, its SHA-256 in hexadecimal
//	root = "/srv/projects/shop"  # the rest may be left out
//	max_mode = "acceptEdits"
//	sessions = 4
//	calls = 8
//
// A file of one line with nothing but a token is a single token of the name "default".
type Token struct {
	// Name is unique in the file: at most 64 letters, digits, dots, - and _.
	Name string
	// Root is the directory that the token's clients work in or below; empty is the server's.
	Root string
	// MaxMode is the loosest mode that its clients can choose; empty is the server's.
	MaxMode permissions.Mode
	// Sessions is how many sessions its clients may have at once, and Calls how many calls;
	// 0 is the default of what is mounted, which holds to both.
	Sessions, Calls int

	sum [sha256.Size]byte
}

const (
	// minToken is the length of 128 random bits in base64.
	minToken, maxToken = 22, 512
	maxName            = 64
	maxQuota           = 100_000
)

// loadTokens reads a file of tokens, which must be the user's own and closed to others. Links
// that lead to it are followed.
func loadTokens(path string, check func(*Token) error) ([]*Token, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no token file %s; to make one: (umask 077; openssl rand -hex 32 > %s)", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	f, _, err := privatedir.OpenOwn(target, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("token file: %w; others must not be able to read it: chmod 600 %s", err, target)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, stricttoml.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	tokens, err := parseTokens(src, check)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return tokens, nil
}

// parseTokens reads the content of a file of tokens.
func parseTokens(src []byte, check func(*Token) error) ([]*Token, error) {
	if line := strings.TrimSpace(string(src)); line != "" && !strings.ContainsFunc(line, notInToken) {
		if err := checkToken(line); err != nil {
			return nil, err
		}
		return checked(&Token{Name: "default", sum: sha256.Sum256([]byte(line))}, check)
	}
	var in tokenFile
	doc, faults := stricttoml.Decode(src, &in)
	var tokens []*Token
	if len(faults) == 0 {
		tokens, faults = in.tokens(doc, check)
	}
	if len(faults) > 0 {
		lines := make([]error, len(faults))
		for i, f := range faults {
			lines[i] = errors.New(f.String())
		}
		return nil, errors.Join(lines...)
	}
	if len(tokens) == 0 {
		return nil, errors.New("it holds no token: write one line with a token, or tables [[token]]")
	}
	return tokens, nil
}

func checked(t *Token, check func(*Token) error) ([]*Token, error) {
	if check != nil {
		if err := check(t); err != nil {
			return nil, err
		}
	}
	return []*Token{t}, nil
}

// tokenFile is a file of tokens as it is written.
type tokenFile struct {
	Tokens []tokenTable `toml:"token"`
}

type tokenTable struct {
	Name     string `toml:"name"`
	Token    string `toml:"token"`
	SHA256   string `toml:"token_sha256"`
	Root     string `toml:"root"`
	MaxMode  string `toml:"max_mode"`
	Sessions int    `toml:"sessions"`
	Calls    int    `toml:"calls"`
}

// tokens are those of the file, or what is wrong with them.
func (f *tokenFile) tokens(doc *stricttoml.Document, check func(*Token) error) (list []*Token, faults []stricttoml.Fault) {
	names, sums := make(map[string]bool), make(map[[sha256.Size]byte]bool)
	for i := range f.Tokens {
		at := fmt.Sprintf("token[%d]", i)
		fault := func(key string, err error) {
			faults = append(faults, doc.Fault(at+key, "%v", err))
		}
		t, key, err := f.Tokens[i].token()
		if err == nil && names[t.Name] {
			key, err = ".name", fmt.Errorf("there is another token %q; give each a name of its own", t.Name)
		}
		if err == nil && sums[t.sum] {
			key, err = "", fmt.Errorf("%q is the same token as one before; give each client its own", t.Name)
		}
		if err == nil && check != nil {
			key, err = "", check(t)
		}
		if err != nil {
			fault(key, err)
			continue
		}
		names[t.Name], sums[t.sum] = true, true
		list = append(list, t)
	}
	return list, faults
}

// token is the token of a table, or what is wrong and at which key.
func (t *tokenTable) token() (token *Token, key string, err error) {
	out := &Token{Name: t.Name, Root: t.Root, MaxMode: permissions.Mode(t.MaxMode), Sessions: t.Sessions, Calls: t.Calls}
	if t.Name == "" || len(t.Name) > maxName || strings.ContainsFunc(t.Name, notInName) {
		return nil, ".name", fmt.Errorf("a name has 1 to %d letters, digits, dots, - and _", maxName)
	}
	if out.sum, key, err = t.sum(); err != nil {
		return nil, key, err
	}
	if t.Root != "" && !filepath.IsAbs(t.Root) {
		return nil, ".root", errors.New("write the whole path, from the root of the file system")
	}
	if t.MaxMode != "" {
		if _, err := permissions.ParseMode(t.MaxMode); err != nil {
			return nil, ".max_mode", err
		}
	}
	for key, n := range map[string]int{".sessions": t.Sessions, ".calls": t.Calls} {
		if n < 0 || n > maxQuota {
			return nil, key, fmt.Errorf("%d: write a number from 1 to %d, or leave it out", n, maxQuota)
		}
	}
	return out, "", nil
}

func (t *tokenTable) sum() (sum [sha256.Size]byte, key string, err error) {
	switch {
	case (t.Token == "") == (t.SHA256 == ""):
		return sum, "", errors.New("write either token or token_sha256")
	case t.Token != "":
		return sha256.Sum256([]byte(t.Token)), ".token", checkToken(t.Token)
	}
	raw, err := hex.DecodeString(t.SHA256)
	if err != nil || len(raw) != len(sum) {
		return sum, ".token_sha256", fmt.Errorf("write %d hexadecimal digits: printf %%s TOKEN | sha256sum", 2*len(sum))
	}
	return [sha256.Size]byte(raw), "", nil
}

// checkToken refuses what clients cannot send, and what could be guessed. The error does not
// repeat the token.
func checkToken(token string) error {
	if len(token) < minToken || len(token) > maxToken || strings.ContainsFunc(token, notInToken) {
		return fmt.Errorf("a token has %d to %d letters, digits and -._~+/=; to make one: openssl rand -hex 32", minToken, maxToken)
	}
	return nil
}

func notInName(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-_.", r) }

// notInToken reports what RFC 6750 does not allow in a token.
func notInToken(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-._~+/=", r) }

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
