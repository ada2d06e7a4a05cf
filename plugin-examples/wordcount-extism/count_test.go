package main

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Counts
	}{
		"empty":     {"", Counts{}},
		"one line":  {"one two\n", Counts{1, 2, 8, 8}},
		"no ending": {"a\nb", Counts{1, 2, 3, 3}},
		"wide":      {"naïve 日本 🦀", Counts{0, 3, 10, 18}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := count([]byte(tt.text)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestReadRequest(t *testing.T) {
	message, err := readRequest(`a "b".txt`)
	if err != nil {
		t.Fatal(err)
	}
	head := `{"args":{"path":"a \"b\".txt"},"capability":"fs.read"}`
	if string(message[8:]) != head || int(binary.LittleEndian.Uint32(message[4:])) != len(head) || message[0] != 1 {
		t.Errorf("got %q", message)
	}
}

// message builds what the host answers.
func message(head string, body string) []byte {
	m := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(head)))
	m = append(m, head...)
	if body != "" {
		m = binary.LittleEndian.AppendUint32(append(m, 1, 0, 0, 0), uint32(len(body)))
		m = append(m, body...)
	}
	return m
}

func TestReadAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		in   []byte
		want string
		fail string
	}{
		"body":        {message(`{"ok":{"size":3}}`, "abc"), "abc", ""},
		"no body":     {message(`{"ok":{}}`, ""), "", ""},
		"error":       {message(`{"error":{"code":"denied","message":"a rule says no"}}`, ""), "", "a rule says no (denied)"},
		"nothing":     {nil, "", "broken"},
		"version":     {[]byte{2, 0, 0, 0, 0, 0, 0, 0}, "", "broken"},
		"head cut":    {message(`{"ok":{}}`, "")[:12], "", "broken"},
		"body cut":    {message(`{"ok":{}}`, "abc")[:20], "", "broken"},
		"head broken": {message(`{`, ""), "", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAnswer(tt.in)
			if tt.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fail) {
					t.Fatalf("got %q, %v; want an error with %q", got, err, tt.fail)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
