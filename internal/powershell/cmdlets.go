package powershell

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// cmdlet is what is known of a cmdlet that only reads.
type cmdlet struct {
	// params are its parameters that are allowed, with what they take: ! nothing, * paths,
	// % patterns of names, 0 any text.
	params map[string]byte
	// words is how many words without a parameter it takes: paths, where a parameter
	// takes paths.
	words int
	paths bool
	// piped says that it works on what a pipeline gives it, without reading what is
	// named there.
	piped bool
}

// readOnlyList is the positive list, one cmdlet a line: its name, how many words it
// takes, and its parameters that are allowed (see [cmdlet]). Parameters are as their
// page in the reference of modules has them; what is left out (Wait, Stream,
// ComputerName, Credential, FollowSymlink, OutVariable ...) waits, leaves the file,
// reaches out or leaves something behind. A | before a name says that it works on what
// it is piped.
//
// Left out as cmdlets, though their names begin with Get: Get-Command, Get-Help and
// Get-Module load modules, which runs their code; Get-Variable and Get-History tell
// what is no file; Get-Credential and Read-Host wait.
const readOnlyList = `
Get-ChildItem 1 path* literalpath* filter% include% exclude% recurse! depth force! name! directory! file! hidden!
Get-Content 1 path* literalpath* totalcount first head tail last encoding raw!
Get-Item 1 path* literalpath* force!
Test-Path 1 path* literalpath* pathtype
Resolve-Path 1 path* literalpath*
Get-FileHash 1 path* literalpath* algorithm
|Select-String 2 pattern path* literalpath* simplematch! casesensitive! quiet! list! notmatch! allmatches! context raw!
Get-Location 0
Get-Date 0 format uformat
Get-Process 1 name id
Split-Path 1 parent! leaf! leafbase! extension!
Join-Path 2
Write-Output 1
Write-Host 1 nonewline! foregroundcolor
|Select-Object 1 property excludeproperty expandproperty first last skip unique!
|Sort-Object 1 property descending! unique!
|Where-Object 2 property value eq! ne! gt! lt! ge! le! like! notlike! match! notmatch! contains! in!
|Group-Object 1 property noelement!
|Measure-Object 1 property line! word! character! sum! average! minimum! maximum!
|Format-Table 1 property autosize! wrap! hidetableheaders!
|Format-List 1 property
|Out-String 0 width
|Out-Null 0
|ConvertTo-Json 0 depth compress!
|ConvertFrom-Json 0 depth
`

var readOnly = sync.OnceValue(func() map[string]*cmdlet {
	list := make(map[string]*cmdlet)
	for line := range strings.Lines(strings.TrimSpace(readOnlyList)) {
		fields := strings.Fields(strings.ToLower(line))
		c := &cmdlet{params: map[string]byte{"verbose": '!', "erroraction": 'e', "ea": 'e'}, words: int(fields[1][0] - '0')}
		name, piped := strings.CutPrefix(fields[0], "|")
		list[name], c.piped = c, piped
		for _, param := range fields[2:] {
			text := strings.TrimRight(param, "!*%")
			c.params[text] = (param + "\x00")[len(text)]
			c.paths = c.paths || strings.HasSuffix(param, "*")
		}
	}
	return list
})

// actions are the values of -ErrorAction that neither ask nor stop in a debugger.
var actions = strings.Fields("silentlycontinue continue stop ignore")

// aliasList are names that PowerShell has for cmdlets that matter here (about_Aliases, and
// Get-Alias without a profile), those with a + on Windows alone. Elsewhere these are
// programs, that rules which hold back may know by either name.
const aliasList = `gc get-content type get-content gci get-childitem dir get-childitem gi get-item gp get-itemproperty
rvpa resolve-path cvpa convert-path fhx format-hex ipcsv import-csv sls select-string gl get-location pwd get-location
gps get-process gal get-alias echo write-output select select-object where where-object ? where-object group group-object
measure measure-object gu get-unique gm get-member ft format-table fl format-list fw format-wide cd set-location
chdir set-location sl set-location pushd push-location popd pop-location ri remove-item del remove-item erase remove-item
rd remove-item rp remove-itemproperty ci copy-item copy copy-item cpi copy-item mi move-item move move-item
rni rename-item ren rename-item ni new-item md new-item sp set-itemproperty si set-item clc clear-content cli clear-item
epcsv export-csv ii invoke-item iex invoke-expression icm invoke-command iwr invoke-webrequest irm invoke-restmethod
saps start-process sajb start-job spps stop-process kill stop-process % foreach-object foreach foreach-object
sal set-alias nal new-alias sv set-variable nv new-variable ipmo import-module gcm get-command gv get-variable
+ls get-childitem +cat get-content +ps get-process +sort sort-object +rm remove-item +rmdir remove-item +cp copy-item
+mv move-item +tee tee-object +ac add-content +write write-output +start start-process +curl invoke-webrequest
+wget invoke-webrequest +sc set-content +sleep start-sleep`

var aliases = sync.OnceValue(func() map[string]string {
	to := make(map[string]string)
	for pair := range slices.Chunk(strings.Fields(aliasList), 2) {
		to[pair[0]] = pair[1]
	}
	return to
})

// cmdletOf is the cmdlet that a command's name means, in lower case, where it may be
// read-only. A name that is not of ASCII is none of them: Go has letters such as the
// dotted İ for capitals of i and k, which PowerShell has not.
func cmdletOf(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return name
	}
	name = strings.ToLower(name)
	return cmp.Or(aliases()[name], name)
}

// meanings are the further names by which rules that hold back may know a command:
// the cmdlets that an alias means on any system, the name without its module, folder or
// .exe, and with the Get- that PowerShell puts before a name it does not know.
func meanings(name string) (out []string) {
	name = strings.ToLower(name)
	base := strings.TrimSuffix(name[strings.LastIndexAny(name, `\/`)+1:], ".exe")
	if base != name {
		out = append(out, base)
	}
	switch to := cmp.Or(aliases()[base], aliases()["+"+base]); {
	case to != "":
		out = append(out, to)
	case strings.Trim(base, "abcdefghijklmnopqrstuvwxyz") == "":
		out = append(out, "get-"+base)
	}
	return out
}
