package lang

import (
	"strings"
	"sync"
)

// jqFunctions are the functions of any version of jq that only compute, read the
// input, or write to the standard streams.
var jqFunctions = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for key := range strings.FieldsSeq(jqFunctionList) {
		set[key] = true
	}
	return set
})

const jqFunctionList = `
	not/0 empty/0 error/0 error/1 halt/0 halt_error/0 halt_error/1 select/1 map/1 map_values/1 add/0 add/1
	any/0 any/1 any/2 all/0 all/1 all/2 length/0 utf8bytelength/0 type/0 infinite/0 nan/0 isinfinite/0 isnan/0
	isnormal/0 isfinite/0 isvalid/1 isempty/1 keys/0 keys_unsorted/0 values/0 nulls/0 booleans/0 numbers/0
	strings/0 arrays/0 objects/0 iterables/0 scalars/0 normals/0 finites/0 has/1 in/1 inside/1 contains/1
	path/1 paths/0 paths/1 leaf_paths/0 getpath/1 setpath/2 delpaths/1 del/1 pick/1
	to_entries/0 from_entries/0 with_entries/1 recurse/0 recurse_down/0 walk/1 transpose/0 flatten/0 flatten/1
	combinations/0 sort/0 sort_by/1 group_by/1 unique/0 unique_by/1 min/0 max/0 min_by/1 max_by/1 reverse/0
	first/0 first/1 last/0 last/1 nth/1 nth/2 limit/2 skip/2 join/1 toarray/0 IN/1 IN/2 INDEX/1 INDEX/2 JOIN/2 JOIN/3
	JOIN/4 tostream/0 fromstream/1 truncate_stream/1 input/0 inputs/0 debug/0 debug/1 stderr/0 input_filename/0
	input_line_number/0 tostring/0 tonumber/0 toboolean/0 tojson/0 fromjson/0 ascii_downcase/0 ascii_upcase/0
	explode/0 split/1 split/2 splits/1 splits/2 test/1 test/2 match/1 match/2 capture/1 capture/2
	scan/1 scan/2 sub/2 startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 trim/0 ltrim/0 rtrim/0 format/1
	floor/0 ceil/0 round/0 trunc/0 rint/0 sqrt/0 cbrt/0 pow/2 exp/0 exp2/0 exp10/0 pow10/0 log/0 log2/0 log10/0
	fabs/0 abs/0 sin/0 cos/0 tan/0 asin/0 acos/0 atan/0 atan2/2 sinh/0 cosh/0 tanh/0 fmin/2 fmax/2 fmod/2
	significand/0 logb/0 frexp/0 modf/0 ldexp/2 scalb/2
	range/1 range/2 range/3 recurse/1 recurse/2 repeat/1 while/2 until/2 bsearch/1 combinations/1 gsub/2 gsub/3 sub/3
	index/1 rindex/1 indices/1 now/0 mktime/0 gmtime/0 localtime/0 strftime/1 strflocaltime/1 strptime/1 todate/0 fromdate/0 date/0
	todateiso8601/0 fromdateiso8601/0 dateadd/2 datesub/2 builtins/0 have_literal_numbers/0
	have_decnum/0 ascii/0
`

// jqRefused are jq's own functions that are on no list: they look at the environment or
// at other files, or end in a crash that leaves a file (implode).
var jqRefused = map[string]bool{
	"env": true, "getenv": true, "implode": true,
	"modulemeta": true, "get_search_list": true, "get_jq_origin": true, "get_prog_origin": true,
}
