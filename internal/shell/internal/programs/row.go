package programs

import "github.com/toolquay/toolquay/permissions"

// row is what is known of one program, or of one of its sub-commands.
type row struct {
	// name is the program and its sub-command: "git stash list".
	name string
	// why says what makes it read-only, or why it is not.
	why string
	// takes are the operands in order; the last may repeat.
	takes []operand
	// flags are those that are known, by name with dashes.
	flags map[string]flag
	// needs are flags of which one must be there for it to be read-only.
	needs []string
	traits
	// judge is for command lines that are a language of their own.
	judge judge
	// hub says that the table has sub-commands of it.
	hub bool
}

// judge says what the words after a row's name do.
type judge func(r *row, args []Arg) Finding

// traits are the words of a row's "is" line.
type traits struct {
	plain       bool // every flag the program has only reads, listed or not (rule 10)
	changes     bool // it changes what it names, and nothing else
	never       bool // it is not read-only, and does more than its effects
	cwd         bool // it reads the directory where no file is named
	deep        bool // what it reads it reads with all that is below
	apart       bool // the value of a flag of one letter is the next word: behind the letter there are more flags
	atfiles     bool // a word that begins with "@" names a file of more words
	onedash     bool // its flags are words behind one dash or two, never letters in a bunch
	strict      bool // flags end at the first operand
	anywhere    bool // flags count behind operands, in every version (else both readings must be harmless)
	free        bool // it has no flags: each word is an operand
	transparent bool // rules look through it at the command it starts
	opaque      bool // it starts a command, which deny rules reach
	text        bool // the command it starts is text for a shell: its words joined
	somewhere   bool // the command it starts may begin at any word
	net         bool // it reaches hosts: every word names one unless it is the value of a flag that says otherwise
	partly      bool // not all of its flags are listed: others mean no host but what is behind them
	byName      bool // it is not read-only when called by a path, nor without [Environment]
	confined    bool // where it can write nothing and reach no host, it only reads
	env         bool // it is not read-only without [Environment], which keeps it from what the repository names
}

// named finds the trait that a word of an "is" line sets, or nil.
func (t *traits) named(word string) *bool {
	return map[string]*bool{
		"plain": &t.plain, "changes": &t.changes, "never": &t.never, "cwd": &t.cwd,
		"deep": &t.deep, "apart": &t.apart, "atfiles": &t.atfiles, "onedash": &t.onedash, "strict": &t.strict, "anywhere": &t.anywhere,
		"free": &t.free, "transparent": &t.transparent, "opaque": &t.opaque, "text": &t.text, "by-name": &t.byName, "env": &t.env, "confined": &t.confined,
		"somewhere": &t.somewhere, "net": &t.net, "partly": &t.partly,
	}[word]
}

// kind says what a word is to a program.
type kind string

const (
	kindText    kind = "text"    // nothing outside the program
	kindRead    kind = "read"    // a path that is read
	kindTree    kind = "tree"    // a path that is read with all below it
	kindWrite   kind = "write"   // a path that is written
	kindRemove  kind = "remove"  // a path that is taken away
	kindHost    kind = "host"    // a host, or user@host
	kindURL     kind = "url"     // a URL, or a host with what may stand around it in one
	kindCommand kind = "command" // the first word of a command; all that follow are its
	kindPlus    kind = "plus"    // text that begins with "+"
	kindShell   kind = "shell"   // text for a shell
	kindDial    kind = "dial"    // text that may name hosts, which only deny and ask rules are asked about
	kindName    kind = "name"    // the name of a shell variable that means nothing to any program
)

// known reports whether there is such a kind.
func (k kind) known() bool {
	switch k {
	case kindText, kindHost, kindURL, kindCommand, kindPlus, kindShell, kindDial, kindName:
		return true
	}
	return k.path()
}

// path reports whether the kind is a path.
func (k kind) path() bool {
	return k == kindRead || k == kindTree || k == kindWrite || k == kindRemove
}

// unknown says what a word of the kind touches where the word itself is not known; deep,
// that it is touched with all below it. A command is judged as one, and not here; hosts are
// told by [line.anyHost].
func (k kind) unknown(deep bool) permissions.Unknown {
	switch k {
	case kindRead, kindTree:
		return permissions.UnknownRead
	case kindWrite:
		if deep {
			return permissions.UnknownWrite | permissions.UnknownMustAsk
		}
		return permissions.UnknownWrite
	case kindRemove:
		return permissions.UnknownWrite
	case kindShell:
		return permissions.UnknownRead | permissions.UnknownWrite
	}
	return 0
}

// counts reports whether deny and ask rules speak of such a value.
func (k kind) counts() bool { return k.path() || k == kindShell || k == kindDial }

// operand is one place of a command line.
type operand struct {
	kind   kind
	repeat bool
}

// flag is what is known of one flag.
type flag struct {
	value value
	kind  kind // of its value
	lead  int  // words between it and its value
	deep  bool // the operands are read with all below them
	links bool // links below them are followed, wherever they lead
	first bool // it stands in for the first operand (grep -e)
	risky bool // it is known, but not read-only
	lists bool // what is read names more files that are read
}

// value says whether a flag takes a value, and from where.
type value int

const (
	valueNone     value = iota
	valueRequired       // attached, or the next word
	valueAttached       // attached, or none
)
