package host_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// searchOracle says what ToolSearch finds. It is written from the specification
// (section 8), with other means than the tool.
type searchOracle []abi.Tool // in the order in which they are offered

// mark reports whether words end at a character.
func mark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

var (
	capital  = regexp.MustCompile(`([^A-Z])([A-Z])`)
	capitals = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// nameParts takes a name apart at marks and capitals.
func nameParts(name string) []string {
	for _, pattern := range []*regexp.Regexp{capital, capitals, capital, capitals} { // again, as matches overlap
		name = pattern.ReplaceAllString(name, "$1 $2")
	}
	return strings.FieldsFunc(strings.ToLower(name), mark)
}

// textHas reports whether a text has a word, with marks or nothing around it.
func textHas(text, word string) bool {
	edge := `([^\p{L}\p{N}]|^|$)`
	return regexp.MustCompile(edge + regexp.QuoteMeta(word) + edge).MatchString(strings.ToLower(text))
}

// points are what a word gives a tool, and whether it is in the name.
func (searchOracle) points(t *abi.Tool, word string) (points int, named bool) {
	part, within := 10, 5
	name, server := strings.CutPrefix(t.Name, "mcp__")
	if server {
		part, within, word = 12, 6, strings.TrimPrefix(word, "mcp__")
	}
	parts := nameParts(name)
	named = strings.Contains(strings.Join(parts, ""), strings.Join(strings.FieldsFunc(word, mark), ""))
	switch {
	case slices.Contains(parts, word):
		points = part
	case named:
		points = within
	}
	if textHas(t.SearchHint, word) {
		points += 4
	}
	if textHas(t.Description, word) {
		points += 2
	}
	return points, named
}

// search is what words find, the best first, and among equals who is offered first.
func (o searchOracle) search(query string, limit int) (names []string) {
	var required, wanted []string
	for word := range strings.FieldsSeq(query) {
		list := &wanted
		if strings.HasPrefix(word, "+") {
			list = &required
		}
		*list = append(*list, strings.ToLower(strings.TrimFunc(word, mark)))
	}
	if len(wanted) == 0 {
		wanted = required
	}
	type found struct {
		name   string
		points int
	}
	var all []found
	for i := range o {
		named := func(word string) bool { _, named := o.points(&o[i], word); return named }
		if slices.ContainsFunc(required, func(word string) bool { return !named(word) }) {
			continue
		}
		sum := 0
		for _, word := range wanted {
			points, _ := o.points(&o[i], word)
			sum += points
		}
		if sum > 0 || len(required) > 0 {
			all = append(all, found{o[i].Name, sum})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.points, a.points) })
	for _, f := range all[:min(limit, len(all))] {
		names = append(names, f.name)
	}
	return names
}

// selected is what select: finds: each name once, in the order of the query.
func (o searchOracle) selected(wanted []string) (names []string) {
	for _, want := range wanted {
		at := slices.IndexFunc(o, func(t abi.Tool) bool { return t.Name == want })
		if at < 0 {
			at = slices.IndexFunc(o, func(t abi.Tool) bool { return strings.EqualFold(t.Name, want) })
		}
		if at >= 0 && !slices.Contains(names, o[at].Name) {
			names = append(names, o[at].Name)
		}
	}
	return names
}

// dice make tools and queries of a few words, so that much is alike.
type dice struct{ *rand.Rand }

var oracleWords = strings.Fields("file alter note book notebook slack send message web page fetch alarm run job lsp a")

func (d dice) pick(list []string) string { return list[d.IntN(len(list))] }

// name is one in some style of writing.
func (d dice) name() string {
	style, mark := d.IntN(4), d.pick([]string{"", "_", "-"})
	var parts []string
	for range 1 + d.IntN(3) {
		word := d.pick(oracleWords)
		switch {
		case style == 0 || mark == "" && style != 1:
			word = strings.ToUpper(word[:1]) + word[1:]
		case style == 1:
			word = strings.ToUpper(word)
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, mark)
}

func (d dice) text() string {
	words := append([]string{"größe", "大小", "e-mail", "Notes,", "RUN."}, oracleWords...)
	var text []string
	for range d.IntN(6) {
		text = append(text, d.pick(words))
	}
	return strings.Join(text, d.pick([]string{" ", "; ", "/"}))
}

// tools are so many, of MCP servers among them, as they are offered.
func (d dice) tools(n int) (natives, servers searchOracle) {
	taken := make(map[string]bool)
	for len(taken) < n {
		t := abi.Tool{Name: d.name(), SearchHint: d.text(), Description: d.text()}
		if d.IntN(3) == 0 {
			t.Name = "mcp__" + strings.ToLower(d.name()) + "__" + d.name()
		}
		if len(taken) > 300 {
			t.Name += fmt.Sprintf("_%d", len(taken))
		}
		if len(t.Name) > 64 || taken[t.Name] {
			continue
		}
		taken[t.Name] = true
		if strings.HasPrefix(t.Name, "mcp__") {
			servers = append(servers, t)
		} else {
			natives = append(natives, t)
		}
	}
	byName := func(a, b abi.Tool) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(natives, byName)
	slices.SortFunc(servers, byName)
	return natives, servers
}

// query is one, with what the oracle says of it.
func (d dice) query(o searchOracle, limit int) (query string, want []string) {
	if d.IntN(4) == 0 {
		var names []string
		for range 1 + d.IntN(4) {
			names = append(names, d.pick([]string{"Nothing", o[d.IntN(len(o))].Name, strings.ToUpper(o[d.IntN(len(o))].Name)}))
		}
		return d.pick([]string{"select:", "Select: "}) + strings.Join(names, d.pick([]string{",", " , "})), o.selected(names)
	}
	var words []string
	for range 1 + d.IntN(4) {
		word := d.pick([]string{d.pick(oracleWords), d.pick(oracleWords), d.pick(oracleWords)[:1], d.name(), o[d.IntN(len(o))].Name, "GRÖSSE", "größe", "大小", "e-mail", "nothing"})
		words = append(words, d.pick([]string{"", "", "", "+", "\"", "("})+word)
	}
	query = strings.Join(words, " ")
	return query, o.search(query, limit)
}

// ToolSearch agrees with an oracle over random tools and queries.
func TestToolSearchAgainstAnOracle(t *testing.T) {
	t.Parallel()
	for seed, size := range []int{1, 12, 40, 120, 1000} {
		t.Run(fmt.Sprintf("%d tools", size), func(t *testing.T) {
			t.Parallel()
			d := dice{rand.New(rand.NewPCG(8, uint64(seed)))}
			natives, servers := d.tools(size)
			o := host.Options{
				Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}},
				Permissions: host.PermissionOptions{Rules: withoutDeferred()},
			}
			for _, tool := range natives {
				o.Tools = append(o.Tools, hinted(tool.Name, tool.SearchHint, cmp.Or(tool.Description, "-")))
			}
			h := open(t, o)
			for _, tool := range servers {
				host.OfferMCP(h, hinted(tool.Name, tool.SearchHint, cmp.Or(tool.Description, "-")).Contract)
			}
			s := session(t, h, host.SessionOptions{})
			oracle := slices.Concat(natives, servers)
			for range testenv.Sample(min(50, 4_000/size)) {
				limit := d.IntN(51)
				input := map[string]any{"max_results": limit}
				if limit == 0 {
					limit, input = 5, map[string]any{}
				}
				query, want := d.query(oracle, limit)
				input["query"] = query
				checkSearch(t, s, input, want)
			}
		})
	}
}

func checkSearch(t *testing.T, s *host.Session, input map[string]any, want []string) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := one(t, s, "ToolSearch", string(text))
	var got []string
	for _, b := range r.Content {
		if b.Type == abi.BlockToolReference {
			got = append(got, b.ToolName)
		}
	}
	if r.IsError || !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %v (%s)\nwant %v", text, got, r.Text(), want)
	}
}
