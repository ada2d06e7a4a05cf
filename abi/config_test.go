package abi_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func TestConfigTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		of         abi.ConfigType
		text, want string // of want "" is a fault
	}{
		{"", "10", `"10"`}, {"", "", `""`}, {"int", "ten", `"ten"`},
		{abi.ConfigString, " a\"b ", `" a\"b "`},
		{abi.ConfigInteger, " 10 ", "10"}, {abi.ConfigInteger, "-3", "-3"}, {abi.ConfigInteger, "1.5", ""}, {abi.ConfigInteger, "1e3", ""},
		{abi.ConfigInteger, "99999999999999999999", ""}, {abi.ConfigInteger, "", ""}, {abi.ConfigInteger, "true", ""}, {abi.ConfigInteger, `"1"`, ""},
		{abi.ConfigNumber, "2.5", "2.5"}, {abi.ConfigNumber, "1e3", "1e3"}, {abi.ConfigNumber, "NaN", ""}, {abi.ConfigNumber, "null", ""}, {abi.ConfigNumber, "[1]", ""},
		{abi.ConfigBoolean, "true", "true"}, {abi.ConfigBoolean, "false", "false"}, {abi.ConfigBoolean, "yes", ""}, {abi.ConfigBoolean, "1", ""},
	}
	for _, tt := range tests {
		got, err := tt.of.Parse(tt.text)
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q of type %q: got %s, %v; want %s", tt.text, tt.of, got, err, tt.want)
		}
		if err == nil && tt.of.Check(got) != nil {
			t.Errorf("%s is not %q: %v", got, tt.of, tt.of.Check(got))
		}
	}
}
