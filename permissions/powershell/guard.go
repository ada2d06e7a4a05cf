package powershell

import "github.com/toolquay/toolquay/permissions/shell"

// disguised reports whether PowerShell takes a character for an ASCII quote or dash:
// about_Quoting_Rules speaks of smart quotes, its tokenizer of three further dashes.
func disguised(r rune) bool {
	switch r {
	case 0x2013, 0x2014, 0x2015, 0x2018, 0x2019, 0x201a, 0x201b, 0x201c, 0x201d, 0x201e:
		return true
	}
	return false
}

// plainer is the ASCII quote or dash that a disguised character stands for.
func plainer(r rune) rune {
	switch {
	case !disguised(r):
		return r
	case r < 0x2018:
		return '-'
	case r < 0x201c:
		return '\''
	}
	return '"'
}

// place is where an offset of the text is, as a remark.
func place(text string, offset int) string { return " (" + shell.Position(text, offset) + ")" }
