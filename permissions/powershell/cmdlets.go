package powershell

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// paramKind is what a parameter of a cmdlet takes.
type paramKind uint8

const (
	flagParam paramKind = iota
	// textParam takes any literal text, or a list.
	textParam
	// pathParam takes paths with wildcards, literalParam without.
	pathParam
	literalParam
	// nameParam takes patterns of names. One that holds a separator may name what is
	// elsewhere: .NET joins a filter to the directory before it parts the two again.
	nameParam
	// actionParam is -ErrorAction.
	actionParam
)

// cmdlet is what is known of a cmdlet that only reads.
type cmdlet struct {
	params map[string]paramKind
	// positions are the parameters that words without a name go to, in order.
	positions []string
	// piped says that it works on what a pipeline gives it, without reading what is
	// named there.
	piped bool
	// here says that it looks at the current directory where it is given no path, and
	// deep which parameters make it go below.
	here bool
	deep []string
}

// readOnlyList is the positive list, one cmdlet a line: its name, its positions in
// parentheses, and its parameters that are allowed: name! is a flag, name* a path with
// wildcards, name= a literal path, name% patterns of names, any other takes a text. Parameters are as their
// page in the reference of modules has them, aliases included; what is left out (Wait,
// Stream, ComputerName, Credential, FollowSymlink, OutVariable ...) waits, leaves the
// file, reaches out or leaves something behind. A | before a name says that it works
// on what it is piped.
//
// Left out as cmdlets, though their names begin with Get: Get-Command, Get-Help and
// Get-Module load modules, which runs their code; Get-Variable and Get-History tell
// what is no file; Get-Credential and Read-Host wait.
const readOnlyList = `
Get-ChildItem (path filter) path* literalpath= pspath= lp= filter% include% exclude% recurse! s! depth force! name! attributes directory! ad! d! file! af! hidden! ah! h! readonly! ar! system! as!
Get-Content (path) path* literalpath= pspath= lp= totalcount first head tail last readcount delimiter encoding filter% include% exclude% raw! force! asbytestream!
Get-Item (path) path* literalpath= pspath= lp= filter% include% exclude% force!
Get-ItemProperty (path name) path* literalpath= pspath= lp= name psproperty filter% include% exclude%
Test-Path (path) path* literalpath= pspath= lp= pathtype type filter% include% exclude% isvalid! olderthan newerthan
Resolve-Path (path) path* literalpath= pspath= lp= relative! force!
Convert-Path (path) path* literalpath= pspath= lp=
Get-FileHash (path algorithm) path* literalpath= pspath= lp= algorithm
Format-Hex (path) path* literalpath= pspath= lp= encoding count offset
Import-Csv (path delimiter) path* literalpath= pspath= lp= delimiter header encoding useculture!
|Select-String (pattern path) pattern path* literalpath= pspath= lp= simplematch! casesensitive! quiet! list! include% exclude% notmatch! allmatches! encoding context noemphasis! raw! culture
Get-Location () stack!
Get-Date (date) date format uformat displayhint year month day hour minute second millisecond asutc!
Get-Process (name) name processname id pid
Get-Culture ()
Get-UICulture ()
Get-TimeZone (name) name id listavailable!
Get-Uptime () since!
Get-Alias (name) name definition exclude% scope
Split-Path (path) path literalpath parent! leaf! leafbase! extension! qualifier! noqualifier! isabsolute!
Join-Path (path childpath additionalchildpath) path childpath additionalchildpath
Write-Output (inputobject) inputobject noenumerate!
Write-Host (object) object nonewline! separator foregroundcolor backgroundcolor
|Select-Object (property) property excludeproperty expandproperty first last skip skiplast skipindex index unique! caseinsensitive!
|Sort-Object (property) property descending! unique! top bottom stable! casesensitive! culture
|Where-Object (property value) property value eq! ceq! ne! cne! gt! cgt! lt! clt! ge! cge! le! cle! like! clike! notlike! cnotlike! match! cmatch! notmatch! cnotmatch! contains! ccontains! notcontains! cnotcontains! in! cin! notin! cnotin! not!
|Group-Object (property) property noelement! casesensitive! ashashtable! asstring! culture
|Measure-Object (property) property line! word! character! ignorewhitespace! sum! average! minimum! maximum! standarddeviation! allstats!
|Get-Unique () asstring! ontype! caseinsensitive!
|Get-Member (name) name membertype type static! force! view
|Format-Table (property) property autosize! wrap! hidetableheaders! groupby view displayerror! force! expand
|Format-List (property) property groupby view force! expand
|Format-Wide (property) property autosize! column groupby view force! expand
|Out-String () width stream! nonewline!
|Out-Null ()
|ConvertTo-Json () depth compress! enumsasstrings! asarray! escapehandling
|ConvertFrom-Json () depth ashashtable! noenumerate! datekind
|ConvertTo-Csv (delimiter) delimiter notypeinformation! includetypeinformation! useculture! quotefields usequotes noheader!
|ConvertFrom-Csv (delimiter) delimiter header useculture!
`

// commonParams are those that every cmdlet takes (about_CommonParameters) and that
// neither ask nor leave anything behind.
var commonParams = map[string]paramKind{"erroraction": actionParam, "ea": actionParam, "verbose": flagParam, "vb": flagParam}

// actions are the values of -ErrorAction that neither ask nor stop in a debugger.
var actions = setOf("silentlycontinue continue stop ignore")

var readOnly = sync.OnceValue(func() map[string]*cmdlet {
	list := make(map[string]*cmdlet)
	for line := range strings.Lines(strings.TrimSpace(readOnlyList)) {
		head, params, _ := strings.Cut(line, ")")
		name, positions, _ := strings.Cut(head, "(")
		name = strings.ToLower(strings.TrimSpace(name))
		c := &cmdlet{params: make(map[string]paramKind), positions: strings.Fields(positions)}
		name, c.piped = strings.CutPrefix(name, "|")
		for p := range strings.FieldsSeq(params) {
			c.add(p)
		}
		list[name] = c
	}
	list["get-childitem"].here = true
	list["get-childitem"].deep = []string{"recurse", "s", "depth"}
	return list
})

func (c *cmdlet) add(param string) {
	kinds := map[byte]paramKind{'!': flagParam, '*': pathParam, '=': literalParam, '%': nameParam}
	last := len(param) - 1
	if k, ok := kinds[param[last]]; ok {
		c.params[param[:last]] = k
	} else {
		c.params[param] = textParam
	}
}

// aliases are names that PowerShell has everywhere for cmdlets that matter here
// (about_Aliases, and Get-Alias without a profile).
var aliases = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"gc": "get-content", "type": "get-content", "gci": "get-childitem", "dir": "get-childitem", "gi": "get-item",
		"gp": "get-itemproperty", "rvpa": "resolve-path", "cvpa": "convert-path", "fhx": "format-hex", "ipcsv": "import-csv",
		"sls": "select-string", "gl": "get-location", "pwd": "get-location", "gps": "get-process", "gal": "get-alias", "echo": "write-output",
		"select": "select-object", "where": "where-object", "?": "where-object", "group": "group-object", "measure": "measure-object",
		"gu": "get-unique", "gm": "get-member", "ft": "format-table", "fl": "format-list", "fw": "format-wide",
		"cd": "set-location", "chdir": "set-location", "sl": "set-location", "pushd": "push-location", "popd": "pop-location",
		"ri": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "rp": "remove-itemproperty",
		"ci": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mi": "move-item", "move": "move-item", "rni": "rename-item",
		"ren": "rename-item", "ni": "new-item", "md": "new-item", "sp": "set-itemproperty", "si": "set-item", "clc": "clear-content",
		"cli": "clear-item", "epcsv": "export-csv", "ii": "invoke-item", "iex": "invoke-expression", "icm": "invoke-command",
		"iwr": "invoke-webrequest", "irm": "invoke-restmethod", "saps": "start-process", "sajb": "start-job", "spps": "stop-process",
		"kill": "stop-process", "%": "foreach-object", "foreach": "foreach-object", "sal": "set-alias", "nal": "new-alias",
		"sv": "set-variable", "nv": "new-variable", "ipmo": "import-module", "gcm": "get-command", "gv": "get-variable",
	}
})

// windowsAliases are those that PowerShell has on Windows alone, as elsewhere a
// program is called so.
var windowsAliases = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"ls": "get-childitem", "cat": "get-content", "ps": "get-process", "sort": "sort-object", "rm": "remove-item",
		"rmdir": "remove-item", "cp": "copy-item", "mv": "move-item", "tee": "tee-object", "ac": "add-content", "write": "write-output",
		"start": "start-process", "curl": "invoke-webrequest", "wget": "invoke-webrequest", "sc": "set-content", "sleep": "start-sleep",
	}
})

// cmdletOf is the cmdlet that a command's name means, in lower case, where it may be
// read-only. A name that is not of ASCII is none of them: Go has letters such as the
// dotted İ for capitals of i and k, which PowerShell has not.
func cmdletOf(name string, windows bool) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return name
	}
	name = strings.ToLower(name)
	if to, ok := aliases()[name]; ok {
		return to
	}
	if to, ok := windowsAliases()[name]; ok && windows {
		return to
	}
	return name
}

// meanings are the further names by which rules that hold back may know a command:
// the cmdlets that an alias means on any system, the name without its module, folder or
// .exe, and with the Get- that PowerShell puts before a name it does not know.
func meanings(name string) []string {
	base := strings.ToLower(name)
	if i := strings.LastIndexAny(base, `\/`); i >= 0 {
		base = base[i+1:]
	}
	base = strings.TrimSuffix(base, ".exe")
	out := []string{base}
	for _, table := range []map[string]string{aliases(), windowsAliases()} {
		if to, ok := table[base]; ok {
			out = append(out, to)
		}
	}
	if len(out) == 1 && strings.Trim(base, "abcdefghijklmnopqrstuvwxyz") == "" {
		out = append(out, "get-"+base)
	}
	if base == strings.ToLower(name) {
		out = out[1:]
	}
	return out
}
