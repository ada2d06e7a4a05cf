package main

import (
	"bytes"
	"fmt"
)

// encoder writes the method that appends a type's JSON.
func encoder(b *bytes.Buffer, name string, fields []field) {
	fmt.Fprintf(b, "// AppendJSON appends v as a JSON object.\n")
	fmt.Fprintf(b, "func (v *%s) AppendJSON(dst []byte) []byte {\no := beginObject(dst)\n", name)
	for _, f := range fields {
		if f.omitEmpty {
			fmt.Fprintf(b, "if %s {\n%s\n}\n", present(f), encode(f))
		} else {
			fmt.Fprintf(b, "%s\n", encode(f))
		}
	}
	b.WriteString("return o.end()\n}\n\n")
}

func present(f field) string {
	v := "v." + f.name
	switch f.typ.kind {
	case kindString:
		return v + ` != ""`
	case kindInt, kindFloat:
		return v + " != 0"
	case kindBool:
		return v
	case kindPointer, kindScalar:
		return v + " != nil"
	}
	return "len(" + v + ") > 0"
}

func encode(f field) string {
	v := "v." + f.name
	switch f.typ.kind {
	case kindString:
		return fmt.Sprintf("o.string(%q, %s)", f.key, convert("string", f.typ.name, v))
	case kindInt:
		return fmt.Sprintf("o.int(%q, %s)", f.key, convert("int64", f.typ.name, v))
	case kindFloat:
		return fmt.Sprintf("o.float(%q, %s)", f.key, v)
	case kindBool:
		return fmt.Sprintf("o.bool(%q, %s)", f.key, v)
	case kindRaw:
		return fmt.Sprintf("o.raw(%q, %s)", f.key, v)
	case kindStruct, kindPointer:
		return fmt.Sprintf("o.value(%q, %s.AppendJSON)", f.key, v)
	case kindScalar:
		if f.typ.name == "bool" {
			return fmt.Sprintf("o.bool(%q, *%s)", f.key, v)
		}
		if f.typ.name == "string" {
			return fmt.Sprintf("o.string(%q, *%s)", f.key, v)
		}
		return fmt.Sprintf("o.int(%q, %s)", f.key, convert("int64", f.typ.name, "*"+v))
	case kindList:
		return fmt.Sprintf("o.list(%q, len(%s), func(i int, dst []byte) []byte { return %s[i].AppendJSON(dst) })", f.key, v, v)
	case kindStrings:
		return fmt.Sprintf("o.strings(%q, %s)", f.key, v)
	}
	return fmt.Sprintf("o.rawMap(%q, %s)", f.key, v)
}

func convert(to, from, expr string) string {
	if from == to {
		return expr
	}
	return to + "(" + expr + ")"
}

// decoder writes the method that reads a type's JSON.
func decoder(b *bytes.Buffer, name string, fields []field) {
	fmt.Fprintf(b, "// DecodeJSON reads v from a JSON object; keys it does not know are skipped.\n")
	fmt.Fprintf(b, "func (v *%s) DecodeJSON(d *Decoder) {\nd.Object(func(key string) {\nswitch key {\n", name)
	for _, f := range fields {
		fmt.Fprintf(b, "case %q:\n%s\n", f.key, decode(f))
	}
	b.WriteString("default:\nd.Skip()\n}\n})\n}\n\n")
}

func decode(f field) string {
	v := "v." + f.name
	switch f.typ.kind {
	case kindString:
		return v + " = " + convert(f.typ.name, "string", "d.String()")
	case kindInt:
		return v + " = " + integer(f.typ.name)
	case kindFloat:
		return v + " = d.Float()"
	case kindBool:
		return v + " = d.Bool()"
	case kindRaw:
		return v + " = d.Raw()"
	case kindStruct:
		return v + ".DecodeJSON(d)"
	case kindPointer:
		return fmt.Sprintf("if !d.Null() {\n%s = new(%s)\n%s.DecodeJSON(d)\n}", v, f.typ.name, v)
	case kindScalar:
		read := integer(f.typ.name)
		switch f.typ.name {
		case "bool":
			read = "d.Bool()"
		case "string":
			read = "d.String()"
		}
		return fmt.Sprintf("if !d.Null() {\nx := %s\n%s = &x\n}", read, v)
	case kindList:
		return fmt.Sprintf("d.Array(func() {\nvar x %s\nx.DecodeJSON(d)\n%s = append(%s, x)\n})", f.typ.name, v, v)
	case kindStrings:
		return fmt.Sprintf("d.Array(func() { %s = append(%s, d.String()) })", v, v)
	}
	return fmt.Sprintf("d.Object(func(key string) {\nif %s == nil {\n%s = make(map[string]Raw)\n}\n%s[key] = d.Raw()\n})", v, v, v)
}

func integer(name string) string {
	switch name {
	case "int":
		return "int(d.Int(math.MinInt, math.MaxInt))"
	case "uint32":
		return "uint32(d.Int(0, math.MaxUint32))"
	}
	return "d.Int(math.MinInt64, math.MaxInt64)"
}
