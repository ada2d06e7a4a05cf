package approvals

import (
	"reflect"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestDigest has every field of an access in its digest, a new one too.
func TestDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]string{digestOf(permissions.Access{}): "nothing"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[permissions.Access]()) {
		var a permissions.Access
		switch v := reflect.ValueOf(&a).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		default:
			t.Fatalf("the field %s is of a kind that this test does not know", field.Name)
		}
		digest := digestOf(a)
		if other, ok := seen[digest]; ok {
			t.Errorf("an access with %s has the digest of one with %s", field.Name, other)
		}
		seen[digest] = field.Name
	}
	const stored = "ce13e6737248d9dfd4949f8a4f63bbf020d9e1ba8e173f2d5875b6a473599f86"
	read := permissions.Access{Kind: permissions.AccessRead, Target: "/home/ada/outside.txt", Real: "/home/ada/outside.txt"}
	if got := digestOf(read); got != stored {
		t.Errorf("the digest is %s; stored answers have %s", got, stored)
	}
}
