package programs

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// judgeZip judges unzip and zipinfo, which find archives by patterns of their own,
// and without their suffix.
func judgeZip(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for i, e := range f.Effects {
		f.Effects[i].Glob = e.Glob || strings.ContainsAny(e.Name, "*?[")
	}
	f.suffixed(lazyregexp.New(`^$`), ".zip", ".ZIP")
	return f
}

// gzipName is a name that gzip puts no suffix behind.
var gzipName = lazyregexp.New(`(?i)([.-]g?z|_z|\.t[ag]z)$`)

// judgeGzip judges gzip and zcat, which find files without their suffix.
func judgeGzip(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	f.suffixed(gzipName, ".gz", ".z", "-z", ".Z")
	return f
}

// suffixed adds the files that are read where there is none of the name that is
// given, but for names that are whole.
func (f *Finding) suffixed(whole *lazyregexp.Regexp, suffixes ...string) {
	for _, e := range f.Effects {
		if whole.MatchString(e.Name) {
			continue
		}
		for _, suffix := range suffixes {
			longer := e
			longer.Name += suffix
			f.Effects = append(f.Effects, longer)
		}
	}
}

// archiveName is a name that archives of object files usually have.
var archiveName = lazyregexp.New(`(?i)\.(a|lib|rlib)$`)

// judgeArchives judges programs that read the members of archives: those of a thin one are
// files that it names.
func judgeArchives(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for _, e := range f.Effects {
		end := e.Name
		if e.Glob {
			end = end[strings.LastIndexAny(end, "*?])")+1:]
		}
		if archiveName.MatchString(end) || e.Glob && !strings.Contains(end, ".") {
			f.Unknown, f.Complete = f.Unknown|permissions.UnknownRead, false
		}
	}
	return f
}
