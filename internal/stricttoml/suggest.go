package stricttoml

import "fmt"

// maxSuggest is the longest key that a near name is looked for.
const maxSuggest = 64

// DidYouMean returns a hint at the nearest of the known keys, such as
// `; did you mean "name"?`, or nothing where none is near.
func DidYouMean(key string, known []string) string {
	if len(key) > maxSuggest {
		return ""
	}
	best, nearest := "", max(1, len(key)/3)+1
	for _, k := range known {
		if n := distance(key, k); n < nearest {
			best, nearest = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a.
func distance(a, b string) int {
	row := make([][]int, len(a)+1)
	for i := range row {
		row[i] = make([]int, len(b)+1)
		row[i][0] = i
	}
	for j := range row[0] {
		row[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[i][j] = min(row[i-1][j]+1, row[i][j-1]+1, row[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[i][j] = min(row[i][j], row[i-2][j-2]+1)
			}
		}
	}
	return row[len(a)][len(b)]
}
